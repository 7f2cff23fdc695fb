/**
 * Is told how often something happened and how long it took; `domain/metrics.ts` has the names. It is quick, keeps no
 * reference to what it is given, and never throws. Labels come from small fixed sets: never an id, a name or a text of a user.
 */
export interface Meter {
  count(name: string, labels?: MetricLabels, by?: number): void;
  /** In the unit that the name ends with. */
  observe(name: string, value: number, labels?: MetricLabels): void;
  /** Sets a value that goes up and down. */
  set(name: string, value: number, labels?: MetricLabels): void;
}

export type MetricLabels = { readonly [name: string]: string };

/** For a library whose user wants no metrics. */
export const NO_METER: Meter = { count() {}, observe() {}, set() {} };

/** Tells what was done and how long it took, as spans of a trace. It never throws, and changes nothing of the work. */
export interface Tracer {
  /** Runs work within a span, which is the parent of those that begin in it. What it throws ends the span, and is thrown on. */
  within<Result>(span: TraceSpanStart, work: (span: TraceSpan) => Promise<Result>): Promise<Result>;
  /** A span that is over: it began so long ago, in ms. */
  over(span: TraceSpanStart & { readonly ms: number; readonly error?: string }): void;
}

export interface TraceSpanStart {
  /** By the semantic conventions: "search_memory", "chat gpt-4o-mini", "GET /api/v1/memories/{user_id}". No name or text of a user. */
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  readonly attributes?: TraceSpanAttributes;
  /** Headers of a request, from which the caller's trace is taken up (W3C `traceparent`). */
  readonly headers?: (name: string) => string | undefined;
}

type TraceSpanAttributes = { readonly [name: string]: string | number | boolean };

export interface TraceSpan {
  set(attributes: TraceSpanAttributes): void;
  rename(name: string): void;
  /** It failed, in a way that is no error thrown: by a code or a status. */
  failed(type: string): void;
}

const SILENT_SPAN: TraceSpan = { set() {}, rename() {}, failed() {} };

/** For whoever has no tracing on. */
export const NO_TRACER: Tracer = { within: (_span, work) => work(SILENT_SPAN), over() {} };
