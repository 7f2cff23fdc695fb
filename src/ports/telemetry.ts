/**
 * Receives counts and durations; `domain/operations/metrics.ts` lists the names. It is fast, keeps no reference to its
 * arguments and never throws. Labels come from small fixed sets: never an id, a name or user text.
 */
export interface Meter {
  /** Adds to a counter (default 1). */
  count(name: string, labels?: MetricLabels, by?: number): void;
  /** `value` is in the unit that the name ends with. */
  observe(name: string, value: number, labels?: MetricLabels): void;
  /** Sets a value that goes up and down. */
  set(name: string, value: number, labels?: MetricLabels): void;
}

export type MetricLabels = { readonly [name: string]: string };

/** A meter that discards everything. */
export const NO_METER: Meter = { count() {}, observe() {}, set() {} };

/** Records work and its duration as spans of a trace. It never throws and does not affect the work. */
export interface Tracer {
  /**
   * Runs work within a span, which is the parent of spans started inside. An error ends the span and is
   * rethrown.
   */
  within<Result>(span: TraceSpanStart, work: (span: TraceSpan) => Promise<Result>): Promise<Result>;
  /** Records a finished span that started `ms` milliseconds ago. */
  over(span: TraceSpanStart & { readonly ms: number; readonly error?: string }): void;
}

export interface TraceSpanStart {
  /**
   * Follows the semantic conventions: "search_memory", "chat gpt-4o-mini", "GET /api/v1/memories/{user_id}".
   * Contains no user name or user text.
   */
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  readonly attributes?: TraceSpanAttributes;
  /** Headers of the request, to continue the caller's trace (W3C `traceparent`). */
  readonly headers?: (name: string) => string | undefined;
}

type TraceSpanAttributes = { readonly [name: string]: string | number | boolean };

export interface TraceSpan {
  set(attributes: TraceSpanAttributes): void;
  rename(name: string): void;
  /** Marks a failure that is not a thrown error: a code or a status. */
  failed(type: string): void;
}

const SILENT_SPAN: TraceSpan = { set() {}, rename() {}, failed() {} };

/** A tracer that records nothing. */
export const NO_TRACER: Tracer = { within: (_span, work) => work(SILENT_SPAN), over() {} };
