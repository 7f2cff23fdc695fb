import { afterEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import { httpApp } from "./app.ts";
import { type ApiKeys, apiKeys, passingKeys } from "./keys/api-keys.ts";

let keepsake: Keepsake;
let keys: ApiKeys;
let app: ReturnType<typeof httpApp>;

async function open(agents?: "walled" | "shared"): Promise<void> {
  const clock = () => new Date();
  keepsake = await createMemory({ path: ":memory:", ...(agents ? { agents } : {}) });
  keys = apiKeys({ store: passingKeys(), clock });
  app = httpApp({ keepsake, keys });
}
afterEach(() => keepsake.close());

async function call(path: string, agent: string | undefined, body?: object, more: object = {}) {
  const response = await app.request(path, {
    method: body ? "POST" : "GET",
    headers: {
      authorization: `Bearer ${keys.first}`,
      "content-type": "application/json",
      ...(agent === undefined ? {} : { "x-keepsake-agent": agent }),
      ...more,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, text: await response.text() };
}

const say = (message: string, agent: string) =>
  call("/api/v1/conversation", agent, { user_id: "ana", message });

/** What each way of reading gives an agent, as text. */
async function readBy(agent: string | undefined): Promise<string> {
  const reads = await Promise.all([
    call("/api/v1/memories/ana", agent),
    call("/api/v1/memories/ana/search", agent, { query: "What is my favourite food?" }),
    call("/api/v1/context", agent, { user_id: "ana", request: "What is my favourite food?" }),
    call("/api/v1/memories/ana/clusters", agent),
    call("/api/v1/memories/ana/reflections?min_memories=1", agent),
    call("/api/v1/conversation", agent, { user_id: "ana", message: "What is my favourite food?" }),
    call("/v1/chat/completions", agent, {
      model: "keepsake",
      user: "ana",
      messages: [{ role: "user", content: "What is my favourite food?" }],
    }),
  ]);
  expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
  return reads.map(({ text }) => text).join("\n");
}

describe("an agent that a header names", () => {
  it("reads over HTTP and through the proxy only what was said to it", async () => {
    await open();
    await say("My favourite food is risotto.", "cook");
    await say("I cycle on Sundays.", "coach");
    expect(await readBy("cook")).toContain("risotto");
    expect(await readBy("coach")).not.toContain("risotto");
    expect(await readBy(undefined)).toContain("risotto");
    const labels = (await keepsake.scope({ user: "ana" }).list()).items.map(({ agent }) => agent);
    expect(new Set(labels)).toEqual(new Set(["cook", "coach"]));
  });

  it("reads everything of the user if agents share", async () => {
    await open("shared");
    await say("My favourite food is risotto.", "cook");
    expect(await readBy("coach")).toContain("risotto");
  });

  it("is refused if its name is empty, too long, or not ASCII, and nothing is stored", async () => {
    await open();
    for (const agent of ["", "a".repeat(129), "caf\u00e9"]) {
      const { status, text } = await say("I use Figma.", agent);
      expect([agent, status]).toEqual([agent, 400]);
      expect(text).toContain("x-keepsake-agent");
    }
    expect((await keepsake.scope({ user: "ana" }).list()).total).toBe(0);
  });

  it("learns what is in its conversation, also if another agent was told the same words just before", async () => {
    await open();
    const content = "I am allergic to nuts.";
    const messages = [{ role: "user", content }];
    await call("/v1/chat/completions", "coach", { model: "keepsake", user: "ana", messages });
    const items = [{ type: "message", role: "user", content }];
    const user = { "x-keepsake-user": "ana" };
    expect((await call("/v1/conversations", "cook", { items }, user)).status).toBe(200);
    const asked = { user_id: "ana", message: "What am I allergic to?" };
    expect((await call("/api/v1/conversation", "cook", asked)).text).toContain("nuts");
  });

  it("gets no stored answer of another agent by its Idempotency-Key", async () => {
    await open();
    await say("My favourite food is risotto.", "cook");
    const ask = (agent: string) =>
      call(
        "/api/v1/conversation",
        agent,
        { user_id: "ana", message: "What is my favourite food?" },
        { "idempotency-key": "k1" },
      );
    expect((await ask("cook")).text).toContain("risotto");
    const other = await ask("coach");
    expect([other.status, other.text.includes("risotto")]).toEqual([409, false]);
    expect((await ask("cook")).text).toContain("risotto");
  });
});
