import { LOG_LEVELS, type LogLevel, type LogSettings } from "../config/settings.ts";
import { isMemoryError } from "../errors.ts";
import type { Tracer, TraceSpan } from "../ports/telemetry.ts";

type LogFields = { readonly [name: string]: string | number | boolean | undefined };

/** Writes events of at least one level, as one line each. Fields never contain user text. */
export interface Log {
  isOn(level: LogLevel): boolean;
  write(level: LogLevel, event: string, fields: LogFields): void;
}

interface LogTarget {
  readonly clock: () => Date;
  /** Gets each line, with its line feed. */
  readonly write: (line: string) => void;
}

/** Creates the log of a server or a worker. Without settings it writes faults only, as lines for people. */
export function createLog(
  { form = "text", level: least = "warning" }: Partial<LogSettings>,
  { clock, write }: LogTarget,
): Log {
  const isOn = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(least);
  return {
    isOn,
    write(level, event, fields) {
      if (!isOn(level)) return;
      const at = clock().toISOString();
      write(
        `${form === "json" ? JSON.stringify({ at, level, event, ...fields }) : formatLine(at, level, event, fields)}\n`,
      );
    },
  };
}

/** Creates the log on stderr, with the real time. */
export function createServerLog({ log = {} }: { readonly log?: Partial<LogSettings> }): Log {
  return createLog(log, { clock: () => new Date(), write: (line) => process.stderr.write(line) });
}

function formatLine(at: string, level: LogLevel, event: string, fields: LogFields): string {
  const words = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${toLogWord(value)}`],
  );
  return [at, level.toUpperCase(), event, ...words].join(" ");
}

function toLogWord(value: string | number | boolean): string {
  return typeof value === "string" && !/^[^\s"=]+$/.test(value) ? JSON.stringify(value) : String(value);
}

/** Gives a tracer that also writes each finished span to the log, at the level `debug`; or the same one if that is off. */
export function withSpanLog(tracer: Tracer | undefined, log: Log): Tracer | undefined {
  if (!log.isOn("debug")) return tracer;
  return {
    within(start, work) {
      const run = async (span?: TraceSpan) => {
        const begun = performance.now();
        const facts: SpanFacts = { name: start.name, ...start.attributes };
        try {
          return await work(createLoggedSpan(facts, span));
        } catch (error) {
          facts.error = isMemoryError(error) ? error.code : "error";
          throw error;
        } finally {
          log.write("debug", "span", { ...facts, ms: toMilliseconds(performance.now() - begun) });
        }
      };
      return tracer ? tracer.within(start, run) : run();
    },
    over(span) {
      tracer?.over(span);
      const { name, attributes, ms, error } = span;
      log.write("debug", "span", { name, ...attributes, error, ms: toMilliseconds(ms) });
    },
  };
}

interface SpanFacts {
  name: string;
  error?: string;
  [attribute: string]: string | number | boolean | undefined;
}

function createLoggedSpan(facts: SpanFacts, span: TraceSpan | undefined): TraceSpan {
  return {
    set(attributes) {
      Object.assign(facts, attributes);
      span?.set(attributes);
    },
    rename(name) {
      facts.name = name;
      span?.rename(name);
    },
    failed(type) {
      facts.error = type;
      span?.failed(type);
    },
  };
}

function toMilliseconds(ms: number): number {
  return Math.round(ms * 10) / 10;
}
