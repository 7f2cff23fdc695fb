import { isMemoryError } from "../../errors.ts";
import type { Tracer, TraceSpan, TraceSpanStart } from "../../ports/telemetry.ts";

const HEADER_GETTER: HeaderCarrierGetter = {
  get: (headers, name) => headers(name),
  keys: () => ["traceparent", "tracestate"],
};

/**
 * Spans through `@opentelemetry/api`, for the SDK of the program; undefined if the package is not installed. Spans contain no texts
 * and no names of users; errors are reported by their code only.
 */
export async function otelTracer(): Promise<Tracer | undefined> {
  const api = await loadOtelApi();
  return api && createTracer(api);
}

function createTracer(api: OtelApi): Tracer {
  const tracer = api.trace.getTracer("keepsake");
  const fail = (span: OtelSpan, type: string): void => {
    span.setAttributes({ "error.type": type });
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  };
  return {
    within(start, work) {
      return tracer.startActiveSpan(
        start.name,
        toSpanOptions(api, start),
        getSpanContext(api, start),
        async (span) => {
          try {
            return await work(createSpanHandle(span, fail));
          } catch (error) {
            fail(span, getErrorType(error));
            throw error;
          } finally {
            span.end();
          }
        },
      );
    },
    over({ ms, error, ...start }) {
      const end = performance.timeOrigin + performance.now();
      const options = { ...toSpanOptions(api, start), startTime: end - ms };
      const span = tracer.startSpan(start.name, options, getSpanContext(api, start));
      if (error !== undefined) fail(span, error);
      span.end(end);
    },
  };
}

function createSpanHandle(span: OtelSpan, fail: (span: OtelSpan, type: string) => void): TraceSpan {
  return {
    set(attributes) {
      span.setAttributes(attributes);
    },
    rename(name) {
      span.updateName(name);
    },
    failed: (type) => fail(span, type),
  };
}

function toSpanOptions({ SpanKind }: OtelApi, { kind = "internal", attributes = {} }: TraceSpanStart) {
  const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };
  return { kind: kinds[kind], attributes };
}

/** The current context, or the one in the headers of a request. */
function getSpanContext({ context, propagation }: OtelApi, { headers }: TraceSpanStart): unknown {
  const now = context.active();
  if (!headers) return now;
  const carrier: HeaderCarrier = headers;
  return propagation.extract(now, carrier, HEADER_GETTER);
}

function getErrorType(error: unknown): string {
  if (isMemoryError(error)) return error.code;
  return error instanceof Error ? error.name : "error";
}

/** The part of `@opentelemetry/api` (1.9) that is used. */
interface OtelApi {
  readonly trace: { getTracer(name: string, version?: string): OtelTracer };
  readonly context: { active(): unknown };
  readonly propagation: {
    extract(context: unknown, carrier: HeaderCarrier, getter: HeaderCarrierGetter): unknown;
  };
  readonly SpanKind: { readonly INTERNAL: number; readonly SERVER: number; readonly CLIENT: number };
  readonly SpanStatusCode: { readonly ERROR: number };
}

type HeaderCarrier = (name: string) => string | undefined;

interface HeaderCarrierGetter {
  get(carrier: HeaderCarrier, key: string): string | undefined;
  keys(carrier: HeaderCarrier): string[];
}

interface OtelSpanOptions {
  readonly kind?: number;
  readonly attributes?: { readonly [name: string]: string | number | boolean };
  readonly startTime?: number;
}

interface OtelSpan {
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

/** Loads the package if it is installed, which it is where tracing is on. */
async function loadOtelApi(): Promise<OtelApi | undefined> {
  try {
    return (await import(PACKAGE)) as OtelApi;
  } catch {
    // Without the package, no SDK can receive spans.
    return undefined;
  }
}
