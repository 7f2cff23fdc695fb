import { METRICS } from "../../domain/metrics.ts";
import type { Labels, Meter } from "../../ports/meter.ts";
import { processMetrics } from "./process.ts";
import { type Series, series } from "./series.ts";

/** A meter whose values can be read. */
export interface PrometheusMeter extends Meter {
  /** All values in Prometheus's text format, version 0.0.4. */
  text(): string;
}

/** The media type of `text`. */
export const PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Counts in this process, in the form that Prometheus reads (prometheus.io/docs/instrumenting/exposition_formats). Only the
 * metrics of `domain/metrics.ts` are counted, and a label has no value but those that it may have: anything else is "other".
 */
export function prometheusMeter(): PrometheusMeter {
  const all = new Map<string, Series>(
    Object.entries(METRICS).map(([name, metric]) => [name, series(name, metric)]),
  );
  const measured = processMetrics();
  const meter: Meter = {
    count(name, labels?: Labels, by = 1) {
      if (by > 0) all.get(name)?.add(labels, by);
    },
    observe(name, value, labels) {
      if (Number.isFinite(value)) all.get(name)?.observe(labels, value);
    },
    set(name, value, labels) {
      all.get(name)?.set(labels, value);
    },
  };
  return {
    ...meter,
    text() {
      measured(meter);
      const blocks = [...all].map(([name, one]) => {
        const { help = "", type } = METRICS[name] ?? { type: "gauge" };
        return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...one.lines()].join("\n");
      });
      return `${blocks.join("\n")}\n`;
    },
  };
}
