import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A model's server that answers each chat with the same few words, streamed where it is asked for. */
export async function startUpstream(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      const isStreamed = (JSON.parse(body || "{}") as { stream?: boolean }).stream === true;
      if (isStreamed) void stream(response);
      else response.setHeader("content-type", "application/json").end(JSON.stringify(whole()));
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

const WORDS = ["That", " is", " good", " to", " know", "."];
const HEAD = { id: "chatcmpl-soak", created: 1_767_225_600, model: "gpt-4o-mini" };

function whole(): object {
  const message = { role: "assistant", content: WORDS.join("") };
  const usage = { prompt_tokens: 20, completion_tokens: 6, total_tokens: 26 };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { ...HEAD, object: "chat.completion", choices, usage };
}

async function stream(response: import("node:http").ServerResponse): Promise<void> {
  response.setHeader("content-type", "text/event-stream");
  for (const content of WORDS) {
    if (response.destroyed) return;
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    response.write(`data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices })}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  const choices = [{ index: 0, delta: {}, finish_reason: "stop" }];
  response.end(
    `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices })}\n\ndata: [DONE]\n\n`,
  );
}
