import { type ApiKeys, apiKeys, httpApp, passingKeys } from "../../src/http/index.ts";
import type { ApiDocument } from "../../src/http/openapi/document.ts";
import { createMemory } from "../../src/memory.ts";
import { type Conformance, conformance } from "./conforms.ts";

/** The HTTP surface over an empty memory, with a key that may do everything, for tests that send it anything. */
export interface HttpSurface {
  readonly app: ReturnType<typeof httpApp>;
  readonly keys: ApiKeys;
  readonly key: string;
  readonly document: ApiDocument;
  readonly rules: Conformance;
  /** Sends bytes as they are. */
  send(request: Sending): Promise<{ status: number; text: string; headers: Headers }>;
  close(): Promise<void>;
}

export interface Sending {
  readonly method?: string;
  readonly path: string;
  readonly body?: string | Uint8Array | ReadableStream;
  readonly headers?: { readonly [name: string]: string };
}

export async function surface(): Promise<HttpSurface> {
  const clock = () => new Date("2026-03-01T12:00:00Z");
  const keepsake = await createMemory({ path: ":memory:", clock });
  const keys = apiKeys({ store: passingKeys(), clock });
  const key = keys.first ?? "";
  const app = httpApp({ keepsake, keys });
  const document = (await (await app.request("/openapi.json")).json()) as ApiDocument;
  return {
    app,
    keys,
    key,
    document,
    rules: conformance(document, false),
    async send({ method = "POST", path, body, headers = {} }) {
      const response = await app.request(path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: body as RequestInit["body"], duplex: "half" }),
      } as RequestInit);
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
    close: () => keepsake.close(),
  };
}
