import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** The token that the server takes. */
export const VAULT_TOKEN = "hvs.test";

interface VaultRequest {
  readonly plaintext?: string;
  readonly ciphertext?: string;
  readonly associated_data?: string;
}

interface VaultReply {
  readonly status: number;
  readonly body: unknown;
}

/** A running server of the transit engine's API. */
interface VaultServer {
  readonly url: string;
  /** What it was asked. */
  readonly requests: {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: VaultRequest;
  }[];
  /** Gives this answer to everything, or none of it (undefined). */
  fail(reply: VaultReply | undefined): void;
  stop(): void;
}

/**
 * Starts a server of the documented API of Vault's transit engine, with AES-256-GCM and the keys "one" and "two" of the engine at
 * `transit`. It is not Vault itself.
 */
export async function startVaultServer(): Promise<VaultServer> {
  const keys = new Map(["one", "two"].map((name) => [name, randomBytes(32)] as const));
  const requests: VaultServer["requests"] = [];
  let trouble: VaultReply | undefined;
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as VaultRequest;
    const { url: path = "", headers } = request;
    requests.push({ path, headers, body });
    const isKnown = headers["x-vault-token"] === VAULT_TOKEN;
    const reply = trouble ?? (isKnown ? answer(keys, path, body) : refuse(403, "permission denied"));
    response.writeHead(reply.status, { "content-type": "application/json" }).end(JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail(reply) {
      trouble = reply;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(keys: ReadonlyMap<string, Buffer>, path: string, body: VaultRequest): VaultReply {
  const [, operation = "", name = ""] = /^\/v1\/transit\/(encrypt|decrypt)\/(\w+)$/.exec(path) ?? [];
  const key = keys.get(name);
  if (!key) return refuse(400, "encryption key not found");
  const context = Buffer.from(body.associated_data ?? "", "base64");
  return operation === "encrypt"
    ? encrypt(key, body.plaintext ?? "", context)
    : decrypt(key, body.ciphertext ?? "", context);
}

function encrypt(key: Buffer, plaintext: string, context: Buffer): VaultReply {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
  const bytes = [nonce, cipher.update(plaintext, "base64"), cipher.final(), cipher.getAuthTag()];
  return {
    status: 200,
    body: { data: { ciphertext: `vault:v1:${Buffer.concat(bytes).toString("base64")}` } },
  };
}

function decrypt(key: Buffer, ciphertext: string, context: Buffer): VaultReply {
  const [, text = ""] = /^vault:v\d+:([A-Za-z0-9+/=]+)$/.exec(ciphertext) ?? [];
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < 28) return refuse(400, "invalid ciphertext: could not decode");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12))
    .setAAD(context)
    .setAuthTag(bytes.subarray(-16));
  try {
    const plain = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
    return { status: 200, body: { data: { plaintext: plain.toString("base64") } } };
  } catch {
    return refuse(400, "cipher: message authentication failed");
  }
}

function refuse(status: number, error: string): VaultReply {
  return { status, body: { errors: [error] } };
}
