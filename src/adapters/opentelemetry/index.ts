import { isMemoryError } from "../../errors.ts";
import type { Tracer, TraceSpan, TraceSpanStart } from "../../ports/tracer.ts";
import {
  type HeaderCarrier,
  type HeaderCarrierGetter,
  loadOtelApi,
  type OtelApi,
  type OtelSpan,
} from "./api.ts";

const HEADER_GETTER: HeaderCarrierGetter = {
  get: (headers, name) => headers(name),
  keys: () => ["traceparent", "tracestate"],
};

/**
 * Spans through `@opentelemetry/api`, as the program's SDK takes them; nothing where the package is not installed. Nothing that
 * somebody said, and no name of a user, is in a span: errors are told by their code alone.
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

/** What is at work now; or what the headers of a request name. */
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
