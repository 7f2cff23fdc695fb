import { connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import { createMemory } from "../../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../../testing/openai/openai-server.ts";
import { type Served, serve } from "../../server.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
const KEY = "a-key-for-this-test-only-1";

let keepsake: Keepsake;
let upstream: OpenaiServer;
let served: Served;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  upstream = await openaiServer({ apiKey: "sk-upstream" });
  const proxy = { upstream: { baseUrl: upstream.url, apiKey: "sk-upstream" }, clock };
  served = await serve({ keepsake, clock, port: 0, apiKey: KEY, proxy });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
  await upstream.close();
});

/** Streams a chat over this version of HTTP. Gives the bytes of the answer until the server ends the connection. */
function stream(version: "1.0" | "1.1"): Promise<string> {
  const body = JSON.stringify({
    model: "gpt-4o-mini",
    stream: true,
    messages: [{ role: "user", content: "Hello." }],
  });
  const { hostname, port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname);
    socket.on("data", (bytes) => {
      answer += bytes.toString("utf8");
    });
    socket.once("end", () => resolve(answer));
    socket.once("error", reject);
    socket.write(
      `POST /v1/chat/completions HTTP/${version}\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n` +
        `authorization: Bearer ${KEY}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}

it("a stream for a client of HTTP/1.0 has no chunks and ends with the connection", async () => {
  const [head = "", ...rest] = (await stream("1.0")).split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 200/);
  expect(head).not.toMatch(/transfer-encoding/i);
  expect(rest.join("\r\n\r\n")).toBe(upstream.received.at(-1)?.sent);
});

it("a stream for a client of HTTP/1.1 is sent in chunks", async () => {
  expect(await stream("1.1")).toMatch(/transfer-encoding: chunked/i);
});
