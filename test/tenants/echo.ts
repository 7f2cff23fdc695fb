import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface Echo {
  /** The base URL of a server of OpenAI's protocol, and of Anthropic's. */
  readonly url: string;
  close(): Promise<void>;
}

/** A model that answers with everything it was told, so that whatever was put into a request is seen in its answer. */
export async function echo(): Promise<Echo> {
  const server = createServer(async (request, response) => {
    const told = await bodyOf(request);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer(request.url ?? "", told)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function answer(path: string, told: string): object {
  if (path.includes("/responses")) {
    const content = [{ type: "output_text", text: told, annotations: [] }];
    return {
      id: "resp_echo",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "echo",
      output: [{ id: "msg_echo", type: "message", status: "completed", role: "assistant", content }],
    };
  }
  if (path.includes("/count_tokens")) return { input_tokens: told.length };
  if (path.includes("/messages")) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const content = [{ type: "text", text: told }];
    return {
      id: "msg_echo",
      type: "message",
      role: "assistant",
      model: "echo",
      content,
      stop_reason: "end_turn",
      stop_sequence: null,
      usage,
    };
  }
  if (path.includes("/chat/")) {
    const message = { role: "assistant", content: told };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return { id: "chatcmpl-echo", object: "chat.completion", created: 1, model: "echo", choices };
  }
  const model = { id: "echo", object: "model", created: 1, owned_by: "echo" };
  if (path.includes("/models/")) return model;
  return { object: "list", data: path.includes("/models") ? [model] : [], model: "echo", told };
}
