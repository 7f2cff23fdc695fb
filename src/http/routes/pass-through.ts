import type { RequestContext } from "../app-types.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { refuseField } from "../proxy/problems.ts";
import { hasClientKey, UPSTREAM_KEY_HEADER } from "../proxy/upstream/account.ts";
import { forwardRequest } from "../proxy/upstream/pass-on.ts";
import { readUpload } from "../proxy/upstream/upload.ts";
import { openAiOperations } from "./openai.ts";

const READ_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const WRITE_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** The rest of OpenAI's API under the client's own account: method, path, query, body and answer as they are. */
function createPassThrough(id: string, scope: "read" | "write"): Operation {
  return defineOperation({
    id,
    method: scope === "read" ? "GET" : "POST",
    path: "/v1/*",
    tag: "OpenAI",
    summary: "The rest of OpenAI's API, with the client's own key of the model's server",
    scope,
    hasNoDeadline: true,
    isHidden: true,
    answers: {},
    handle(asked) {
      const { exchange, services } = asked;
      if (!services.proxy.hasClientAccounts) throw refuseField(UPSTREAM_KEY_HEADER, NO_ACCOUNTS_PROBLEM, 404);
      const body = readUpload(exchange);
      const { method } = exchange.req;
      return forwardRequest(asked, services.proxy, {
        access: { mode: "off" },
        method,
        ...(body ? { body } : {}),
      });
    },
  });
}

const PASS_THROUGH_READ = createPassThrough("passThroughRead", "read");
const PASS_THROUGH_WRITE = createPassThrough("passThroughWrite", "write");

const NO_ACCOUNTS_PROBLEM =
  "This server passes nothing else on: the settings say that the model's server does not tell its clients' keys apart. " +
  "Whoever runs this server can set KEEPSAKE_PASS_THROUGH=on.";

/** What Keepsake serves itself, as patterns of "METHOD /path". */
const SERVED_PATTERNS: readonly RegExp[] = openAiOperations.map(
  ({ method, path }) => new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`),
);

/**
 * The operation by which a request under `/v1` is passed through: it brings the client's own key of the model's server, and
 * Keepsake does not serve it itself. A method that changes something takes a key with the scope `write`.
 */
export function findPassThrough(exchange: RequestContext): Operation | undefined {
  const { method, path } = exchange.req;
  const served = `${method === "HEAD" ? "GET" : method} ${path}`;
  if (SERVED_PATTERNS.some((pattern) => pattern.test(served))) return undefined;
  // Whether that header holds a key is judged once it is known who asks.
  if (exchange.req.header(UPSTREAM_KEY_HEADER) === undefined && !hasClientKey({ exchange })) return undefined;
  if (READ_METHODS.has(method)) return PASS_THROUGH_READ;
  return WRITE_METHODS.has(method) ? PASS_THROUGH_WRITE : undefined;
}
