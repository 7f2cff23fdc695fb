import type { Exchange } from "../app-types.ts";
import { type Operation, operation } from "../operation.ts";
import { wrong } from "../proxy/problems.ts";
import { bringsKey, UPSTREAM_KEY_HEADER } from "../proxy/upstream/account.ts";
import { passOn } from "../proxy/upstream/pass-on.ts";
import { uploadOf } from "../proxy/upstream/upload.ts";
import { openAiOperations } from "./openai.ts";

const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const WRITING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** The rest of OpenAI's API under the client's own account: method, path, query, body and answer as they are. */
function passThrough(id: string, scope: "read" | "write"): Operation {
  return operation({
    id,
    method: scope === "read" ? "GET" : "POST",
    path: "/v1/*",
    tag: "OpenAI",
    summary: "The rest of OpenAI's API, with the client's own key of the model's server",
    scope,
    isUnhurried: true,
    isHidden: true,
    answers: {},
    handle(asked) {
      const { exchange, services } = asked;
      if (!services.proxy.hasClientAccounts) throw wrong(UPSTREAM_KEY_HEADER, NO_ACCOUNTS, 404);
      const body = uploadOf(exchange);
      const { method } = exchange.req;
      return passOn(asked, services.proxy, { who: { mode: "off" }, method, ...(body ? { body } : {}) });
    },
  });
}

const READ = passThrough("passThroughRead", "read");
const WRITE = passThrough("passThroughWrite", "write");

const NO_ACCOUNTS =
  "This server passes nothing else on: the settings say that the model's server does not tell its clients' keys apart. " +
  "Whoever runs this server can set KEEPSAKE_PASS_THROUGH=on.";

/** What Keepsake serves itself, as patterns of "METHOD /path". */
const SERVED: readonly RegExp[] = openAiOperations.map(
  ({ method, path }) => new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`),
);

/**
 * The operation by which a request under `/v1` is passed through: it brings the client's own key of the model's server, and
 * Keepsake does not serve it itself. A method that changes something takes a key with the scope `write`.
 */
export function passThroughFor(exchange: Exchange): Operation | undefined {
  const { method, path } = exchange.req;
  const served = `${method === "HEAD" ? "GET" : method} ${path}`;
  if (SERVED.some((pattern) => pattern.test(served))) return undefined;
  // Whether that header holds a key is judged once it is known who asks.
  if (exchange.req.header(UPSTREAM_KEY_HEADER) === undefined && !bringsKey({ exchange })) return undefined;
  if (READING.has(method)) return READ;
  return WRITING.has(method) ? WRITE : undefined;
}
