import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A model's server whose streams never end, and whose other answers never come. */
export interface SlowUpstream extends AsyncDisposable {
  /** With "/v1" at the end. */
  readonly url: string;
}

const BETWEEN_MS = 40;
/** Nothing that a test starts may go on for ever. */
const LONGEST_MS = 60_000;

export async function slowUpstream(): Promise<SlowUpstream> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      if ((JSON.parse(body) as { stream?: boolean }).stream !== true) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("error", () => {});
      const isResponses = request.url?.endsWith("/responses") === true;
      void sendWithoutEnd(response, isResponses ? responseEvent : chatEvent);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function sendWithoutEnd(response: ServerResponse, eventOf: (number: number) => string): Promise<void> {
  const begun = performance.now();
  for (let number = 0; !response.destroyed && performance.now() - begun < LONGEST_MS; number += 1) {
    // Two of three in two parts, as a network cuts them.
    const event = eventOf(number);
    const middle = number % 3 === 0 ? event.length : Math.floor(event.length / 2);
    response.write(event.slice(0, middle));
    await rest(5);
    response.write(event.slice(middle));
    await rest(BETWEEN_MS);
  }
  response.destroy();
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function chatEvent(number: number): string {
  const choices = [{ index: 0, delta: { content: `Word ${number} is said. ` }, finish_reason: null }];
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "slow" };
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}

function responseEvent(number: number): string {
  const event =
    number === 0
      ? { type: "response.created", response: { id: "resp_1", object: "response", status: "in_progress" } }
      : {
          type: "response.output_text.delta",
          item_id: "msg_1",
          output_index: 0,
          delta: `Word ${number} is said. `,
        };
  return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`;
}
