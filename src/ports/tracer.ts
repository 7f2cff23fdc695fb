/** Tells what was done and how long it took, as spans of a trace. It never throws, and changes nothing of the work. */
export interface Tracer {
  /** Runs work within a span, which is the parent of those that begin in it. What it throws ends the span, and is thrown on. */
  within<Result>(span: SpanStart, work: (span: Span) => Promise<Result>): Promise<Result>;
  /** A span that is over: it began so long ago, in ms. */
  over(span: SpanStart & { readonly ms: number; readonly error?: string }): void;
}

export interface SpanStart {
  /** By the semantic conventions: "search_memory", "chat gpt-4o-mini", "GET /api/v1/memories/{user_id}". No name or text of a user. */
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  readonly attributes?: SpanAttributes;
  /** Headers of a request, from which the caller's trace is taken up (W3C `traceparent`). */
  readonly headers?: (name: string) => string | undefined;
}

export type SpanAttributes = { readonly [name: string]: string | number | boolean };

export interface Span {
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** It failed, in a way that is no error thrown: by a code or a status. */
  failed(type: string): void;
}

const SILENT: Span = { set() {}, rename() {}, failed() {} };

/** For whoever has no tracing on. */
export const NO_TRACER: Tracer = { within: (_span, work) => work(SILENT), over() {} };
