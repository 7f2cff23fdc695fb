/** The part of `@opentelemetry/api` (1.9) that is used. */
export interface OtelApi {
  readonly trace: { getTracer(name: string, version?: string): OtelTracer };
  readonly context: { active(): unknown };
  readonly propagation: {
    extract(context: unknown, carrier: HeaderCarrier, getter: HeaderCarrierGetter): unknown;
  };
  readonly SpanKind: { readonly INTERNAL: number; readonly SERVER: number; readonly CLIENT: number };
  readonly SpanStatusCode: { readonly ERROR: number };
}

export type HeaderCarrier = (name: string) => string | undefined;

export interface HeaderCarrierGetter {
  get(carrier: HeaderCarrier, key: string): string | undefined;
  keys(carrier: HeaderCarrier): string[];
}

interface OtelSpanOptions {
  readonly kind?: number;
  readonly attributes?: { readonly [name: string]: string | number | boolean };
  readonly startTime?: number;
}

export interface OtelSpan {
  setAttributes(attributes: { readonly [name: string]: string | number | boolean }): unknown;
  updateName(name: string): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(at?: number): void;
}

interface OtelTracer {
  startSpan(name: string, options?: OtelSpanOptions, context?: unknown): OtelSpan;
  startActiveSpan<Result>(
    name: string,
    options: OtelSpanOptions,
    context: unknown,
    work: (span: OtelSpan) => Result,
  ): Result;
}

const PACKAGE = "@opentelemetry/api";

/** Loads the package where it is installed: whoever has tracing on has it. */
export async function loadOtelApi(): Promise<OtelApi | undefined> {
  try {
    return (await import(PACKAGE)) as OtelApi;
  } catch {
    // Without it there is nobody to tell.
    return undefined;
  }
}
