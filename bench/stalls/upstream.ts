import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A stub of a model's server: reads a request without looking at it, and answers at once. */
export interface StubUpstream {
  /** With `/v1` at its end. */
  readonly url: string;
  close(): void;
}

const ANSWER = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "stub",
  choices: [{ index: 0, message: { role: "assistant", content: "Good." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});

export async function stubUpstream(): Promise<StubUpstream> {
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(ANSWER);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
