import { isMemoryError } from "../../errors.ts";
import type { Span, SpanStart, Tracer } from "../../ports/tracer.ts";
import { type Carrier, type CarrierGetter, loadOtel, type OtelApi, type OtelSpan } from "./api.ts";

const HEADERS: CarrierGetter = {
  get: (headers, name) => headers(name),
  keys: () => ["traceparent", "tracestate"],
};

/**
 * Spans through `@opentelemetry/api`, as the program's SDK takes them; nothing where the package is not installed. Nothing that
 * somebody said, and no name of a user, is in a span: errors are told by their code alone.
 */
export async function otelTracer(): Promise<Tracer | undefined> {
  const api = await loadOtel();
  return api && tracerOf(api);
}

function tracerOf(api: OtelApi): Tracer {
  const tracer = api.trace.getTracer("keepsake");
  const fail = (span: OtelSpan, type: string): void => {
    span.setAttributes({ "error.type": type });
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  };
  return {
    within(start, work) {
      return tracer.startActiveSpan(
        start.name,
        optionsOf(api, start),
        contextOf(api, start),
        async (span) => {
          try {
            return await work(handleOf(span, fail));
          } catch (error) {
            fail(span, typeOf(error));
            throw error;
          } finally {
            span.end();
          }
        },
      );
    },
    over({ ms, error, ...start }) {
      const end = performance.timeOrigin + performance.now();
      const options = { ...optionsOf(api, start), startTime: end - ms };
      const span = tracer.startSpan(start.name, options, contextOf(api, start));
      if (error !== undefined) fail(span, error);
      span.end(end);
    },
  };
}

function handleOf(span: OtelSpan, fail: (span: OtelSpan, type: string) => void): Span {
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

function optionsOf({ SpanKind }: OtelApi, { kind = "internal", attributes = {} }: SpanStart) {
  const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };
  return { kind: kinds[kind], attributes };
}

/** What is at work now; or what the headers of a request name. */
function contextOf({ context, propagation }: OtelApi, { headers }: SpanStart): unknown {
  const now = context.active();
  if (!headers) return now;
  const carrier: Carrier = headers;
  return propagation.extract(now, carrier, HEADERS);
}

function typeOf(error: unknown): string {
  if (isMemoryError(error)) return error.code;
  return error instanceof Error ? error.name : "error";
}
