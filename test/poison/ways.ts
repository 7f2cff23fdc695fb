import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import type { Role } from "../../src/domain/message.ts";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { httpApp } from "../../src/http/app.ts";
import { apiKeys, passingKeys } from "../../src/http/keys/api-keys.ts";
import { serve } from "../../src/http/server.ts";
import { createMemory } from "../../src/memory.ts";
import type { Extractor } from "../../src/ports/language/extractor.ts";
import type { LanguageModel } from "../../src/ports/language/language-model.ts";
import { openaiServer } from "../../src/testing/openai/openai-server.ts";
import type { Order } from "./cases.ts";

/** A way in: what somebody or something says gets to the memory of a user. */
export interface Way {
  readonly memory: Keepsake;
  say(user: string, carrier: Order["carrier"], text: string): Promise<void>;
  close(): Promise<void>;
}

export const ROLES: { readonly [carrier in Order["carrier"]]: Role } = {
  user: "user",
  assistant: "assistant",
  tool: "tool",
  document: "user",
};

const NOW = new Date("2026-03-10T12:00:00Z");

async function opened(extractor?: Extractor): Promise<Keepsake> {
  return createMemory({
    record: createInMemoryStore(),
    clock: () => NOW,
    ...(extractor ? { extractor } : {}),
  });
}

/** `remember` with messages by role. */
export async function library(extractor?: Extractor): Promise<Way> {
  const memory = await opened(extractor);
  return {
    memory,
    async say(user, carrier, content) {
      await memory.scope({ user }).remember({ role: ROLES[carrier], content }, { session: "s" });
    },
    close: () => memory.close(),
  };
}

/** `import` of a conversation that holds it. */
export async function imported(): Promise<Way> {
  const memory = await opened();
  return {
    memory,
    async say(user, carrier, content) {
      const conversation = [{ role: ROLES[carrier], content, session: "old" }];
      for await (const _ of memory.scope({ user }).import(conversation));
    },
    close: () => memory.close(),
  };
}

type Body = (user: string, carrier: Order["carrier"], text: string) => readonly [path: string, body: object];

async function http(body: Body): Promise<Way> {
  const memory = await opened();
  const keys = apiKeys({ store: passingKeys(), clock: () => NOW });
  const app = httpApp({ keepsake: memory, keys });
  return {
    memory,
    async say(user, carrier, text) {
      const [path, given] = body(user, carrier, text);
      const response = await app.request(path, {
        method: "POST",
        headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json" },
        body: JSON.stringify(given),
      });
      if (!response.ok) throw new Error(`${path} gave ${response.status}`);
    },
    close: () => memory.close(),
  };
}

/** `POST /api/v1/messages`. */
export const messages = (): Promise<Way> =>
  http((user, carrier, content) => [
    "/api/v1/messages",
    { user_id: user, messages: [{ role: ROLES[carrier], content }], session_id: "s" },
  ]);

/** `POST /api/v1/conversation`: everything there is the user's message. */
export const conversation = (): Promise<Way> =>
  http((user, _carrier, message) => ["/api/v1/conversation", { user_id: user, message, session_id: "s" }]);

/** A model understands what is said, and this one believes all of it. */
export async function understood(model: LanguageModel): Promise<Way> {
  const memory = await createMemory({
    record: createInMemoryStore(),
    clock: () => NOW,
    model,
    extractor: "model",
  });
  return {
    memory,
    async say(user, carrier, content) {
      const scope = memory.scope({ user });
      await scope.remember({ role: ROLES[carrier], content }, { session: "s" });
      await scope.understand();
    },
    close: () => memory.close(),
  };
}

export interface Proxied extends Way {
  /** What the model is sent for a first question of a new conversation: only memory can have put more into it. */
  sent(user: string, question: string): Promise<string>;
}

/** An OpenAI client's chat: its turns, the model's replies, and what tools gave. */
export async function proxied(): Promise<Proxied> {
  const memory = await opened();
  const upstream = await openaiServer();
  const served = await serve({
    keepsake: memory,
    clock: () => NOW,
    port: 0,
    apiKey: "a-key-for-this-test-only-1",
    proxy: { upstream: { baseUrl: upstream.url, apiKey: "sk-none" }, clock: () => NOW, retrievalMs: 10_000 },
  });
  const chat = async (user: string, messages: readonly object[]): Promise<void> => {
    const response = await fetch(`${served.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer a-key-for-this-test-only-1", "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o-mini", user, messages }),
    });
    await response.text();
    if (!response.ok) throw new Error(`the proxy gave ${response.status}`);
  };
  const sent = async (user: string, question: string): Promise<string> => {
    upstream.reply = () => "Fine.";
    await chat(user, [{ role: "user", content: question }]);
    return (
      upstream.received
        .at(-1)
        ?.turns.map(({ text }) => text)
        .join("\n") ?? ""
    );
  };
  return {
    memory,
    sent,
    async say(user, carrier, text) {
      upstream.reply = () => (carrier === "assistant" ? text : "Fine.");
      await chat(user, turnsOf(carrier, text));
      // A request of the same user waits until all is stored.
      await sent(user, "Good morning!");
    },
    async close() {
      await served.close();
      await memory.close();
      await upstream.close();
    },
  };
}

function turnsOf(carrier: Order["carrier"], content: string): readonly object[] {
  if (carrier === "assistant") return [{ role: "user", content: "Tell me something." }];
  if (carrier !== "tool") return [{ role: "user", content }];
  const call = { id: "c1", type: "function", function: { name: "look_up", arguments: "{}" } };
  return [
    { role: "user", content: "Look it up." },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content },
  ];
}
