import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import { type OpenaiServer, openaiServer } from "../../testing/openai/openai-server.ts";
import { httpApp } from "../app.ts";
import { createLifecycle, type Lifecycle } from "../graceful-shutdown.ts";
import { type ApiKeys, apiKeys, passingKeys } from "../keys/api-keys.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
type Json = any;

let keepsake: Keepsake;
let keys: ApiKeys;
let upstream: OpenaiServer;
let life: Lifecycle;
let app: ReturnType<typeof httpApp>;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  keys = apiKeys({ store: passingKeys(), clock });
  upstream = await openaiServer({ apiKey: "sk-upstream" });
  life = createLifecycle();
  app = httpApp({
    keepsake,
    lifecycle: life,
    keys,
    // Time enough for the memory on a busy machine: how fast it is, is measured elsewhere.
    proxy: { upstream: { baseUrl: upstream.url, apiKey: "sk-upstream" }, clock, retrievalMs: 5000 },
  });
});
afterEach(async () => {
  await keepsake.close();
  await upstream.close();
});

interface Message {
  readonly role: string;
  readonly content: unknown;
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return app.request(path, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.first}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** One request for a chat completion, and the text of its answer. */
async function chat(messages: readonly Message[], more: object = {}, headers: Record<string, string> = {}) {
  const response = await post(
    "/v1/chat/completions",
    { model: "gpt-4o-mini", user: "ana", messages, ...more },
    headers,
  );
  const text = await response.text();
  return { response, text, json: text.startsWith("{") ? (JSON.parse(text) as Json) : undefined };
}

const user = (content: unknown): Message => ({ role: "user", content });
const assistant = (content: unknown): Message => ({ role: "assistant", content });
/** What the upstream was last sent. */
const sent = (): Json => upstream.received.at(-1)?.body;
const lastText = (): string => String(sent().messages.at(-1).content);

/** The prompt blocks of a request. */
const fenced = (text: string): string => (text.match(/<keepsake-[\s\S]*?<\/keepsake-\w+>/g) ?? []).join("\n");
const stored = async (of = "ana"): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of keepsake.scope({ user: of }).export())
    if (line.type === "message") lines.push((line.message as Json).content);
  return lines;
};
/** Until what goes on behind the answers is done. */
const settled = (): Promise<boolean> => life.waitUntilIdle(5000);

describe("a chat through the proxy", () => {
  for (const stream of [false, true]) {
    it(`remembers over conversations, changes its mind and forgets${stream ? ", streaming" : ""}`, async () => {
      upstream.reply = () => "Noted.";
      const ask = async (): Promise<string> => {
        await chat([user("What are the productivity tools that I use?")], { stream });
        return fenced(lastText());
      };
      await chat([user("I use Shram and Magnet as productivity tools.")], { stream });
      expect(await ask()).toMatch(/Shram.*Magnet/);
      await chat([user("I don't use Magnet anymore.")], { stream });
      const held = await ask();
      expect(held).toMatch(/^\{"at":"2026-03-01","text":"The user uses Shram as a productivity tool."\}$/m);
      // What no longer holds is not shown; what ended it is.
      expect(held).not.toMatch(/Shram and Magnet|uses Magnet/);
      expect(held).toContain("I don't use Magnet anymore.");
      await chat([user("Forget that I ever mentioned Magnet.")], { stream });
      expect(fenced(lastText())).not.toContain("Magnet");
      expect(await ask()).toContain("Shram");
      expect(await ask()).not.toContain("Magnet");
    });
  }

  it("tells the model what came of a request to forget, and carries out the user's yes before the model replies", async () => {
    upstream.reply = () => "Noted.";
    const turns: Message[] = [];
    const say = async (text: string): Promise<string> => {
      turns.push(user(text));
      await chat(turns);
      const put = fenced(lastText());
      turns.push(assistant("Noted."));
      await settled();
      return put;
    };
    expect(await say("My gym locker number is 4471 and I live in Ghent.")).not.toContain("reports on");
    expect(await say("What's the weather like?")).not.toContain("reports on");
    const asked = await say("could you lose the sports stuff I gave you");
    expect(asked).toMatch(/Nothing of this is erased yet\. Ask the user: .*4471/);
    expect((await stored()).join()).toContain("4471");
    const done = await say("yes, forget it");
    expect(done).toMatch(/Erased: .*(?:memory|memories)/);
    expect(done).not.toContain("4471");
    expect((await stored()).join()).not.toContain("4471");
    const none = await say("lose what I said about the airing cupboard, please");
    expect(none).toContain("I have erased nothing");
    expect(await say("Where do I live?")).not.toContain("reports on");
  });

  it("works with the Responses API, by text, by items, and continuing an earlier response", async () => {
    upstream.reply = () => "Noted.";
    // A response that is stored with the model's server takes a key of one's own there.
    const own = { "x-keepsake-upstream-key": "sk-upstream" };
    const respond = async (input: unknown, more: object = {}): Promise<Json> => {
      const response = await post(
        "/v1/responses",
        { model: "gpt-4o-mini", user: "ana", input, ...more },
        own,
      );
      return response.json();
    };
    const first = await respond("I use Shram as a productivity tool.");
    expect(first.output[0].content[0].text).toBe("Noted.");
    await respond("I live in Porto.", { previous_response_id: first.id });
    await respond([
      { role: "user", content: [{ type: "input_text", text: "Which productivity tools do I use?" }] },
    ]);
    const parts = sent().input[0].content;
    expect(parts.map(({ type }: Json) => type)).toEqual(["input_text", "input_text", "input_text"]);
    expect(parts[0].text).toContain("Uses Shram");
    expect(parts[1].text).toBe("Which productivity tools do I use?");
    expect(parts[2].text).toContain("I use Shram as a productivity tool.");
    await settled();
    expect(await stored()).toEqual([
      "I use Shram as a productivity tool.",
      "Noted.",
      "I live in Porto.",
      "Noted.",
      "Which productivity tools do I use?",
      "Noted.",
    ]);
  });

  it("stores each turn once, although each request repeats the history", async () => {
    upstream.reply = ({ turns }) => `Answer ${turns.filter(({ role }) => role === "user").length}.`;
    const history: Message[] = [{ role: "system", content: "Be brief." }];
    for (const words of ["I live in Porto.", "I have a dog.", "His name is Rex."]) {
      history.push(user(words));
      const { json } = await chat(history);
      // A client that heard nothing tries again.
      await chat(history);
      history.push(json.choices[0].message);
    }
    await settled();
    const said = await stored();
    expect(said.filter((text) => !text.startsWith("Answer"))).toEqual([
      "I live in Porto.",
      "I have a dog.",
      "His name is Rex.",
    ]);
  });

  it("stores the same words again in another chat, and once for a retried turn", async () => {
    const moves = ["I live in Porto.", "I live in Faro.", "I live in Porto."];
    for (const words of moves) await chat([user(words)]);
    upstream.troubles.push({ status: 500 });
    await chat([user("I like cork.")]);
    await chat([user("I like cork."), user("And tiles.")]);
    await settled();
    const said = (await stored()).filter((text) => !/^(?:I was told|You said)/.test(text));
    expect(said).toEqual([...moves, "I like cork.", "And tiles."]);
    const recalled = await keepsake.scope({ user: "ana" }).answer("Where do I live?");
    expect(recalled.text).toBe("You live in Porto.");
  });

  it("separates sessions that the client names", async () => {
    await chat([user("Good morning.")], {}, { "x-keepsake-session": "monday" });
    for (const session of ["tuesday", "wednesday"])
      await chat([user("Hello again.")], {}, { "x-keepsake-session": session });
    await settled();
    await keepsake.scope({ user: "ana" }).forget({ session: "monday" });
    expect((await stored()).filter((text) => !text.startsWith("You said"))).toEqual([
      "Hello again.",
      "Hello again.",
    ]);
  });
});

describe("the memory injected into a request", () => {
  it("a prompt begins with the same bytes over 20 turns, with writes in between", async () => {
    const ana = keepsake.scope({ user: "ana" });
    for (const fact of ["I live in Porto.", "I have a dog.", "I use Shram."]) await ana.remember(fact);
    upstream.reply = ({ turns }) => `Reply number ${turns.length}.`;
    const history: Message[] = [{ role: "system", content: "Be brief." }, user("Hello there.")];
    let before = "";
    for (let i = 0; i < 20; i += 1) {
      const { json } = await chat(history);
      const bytes = upstream.received.at(-1)?.raw.toString("utf8") ?? "";
      // Everything except the recalled items at the very end.
      const prefix = bytes.slice(0, bytes.lastIndexOf(`\\n\\n<keepsake-`));
      expect(prefix.startsWith(before)).toBe(true);
      expect(prefix).toContain("Lives in Porto.");
      before = i === 0 ? bytes.slice(0, bytes.indexOf("Hello there.") + 12) : prefix;
      await ana.remember(`My favourite number of day ${i} is ${i + 100}.`);
      if (i === 4) await ana.remember("I moved to Faro.");
      history.push(json.choices[0].message, user(`What do you know about my dog, question ${i}?`));
    }
    // Changes since the profile was frozen follow it.
    const { messages } = sent();
    expect(messages[1].content).toContain("Lives in Porto.");
    await chat([...history, assistant("Ah."), user("Where do I live?")]);
    expect(fenced(lastText())).toMatch(/"until":"[^"]+","text":"The user lives in Porto/);
    expect(fenced(lastText())).toContain("Faro");
  });

  it("is renewed after any erasure", async () => {
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("I use Shram and Magnet.");
    const history = [user("Hello there."), assistant("Hi."), user("What do I use?")];
    await chat([user("Hello there.")]);
    expect(JSON.stringify(sent())).toContain("Magnet");
    await ana.forget("Magnet");
    await chat(history);
    expect(JSON.stringify(sent())).not.toContain("Magnet");
    expect(JSON.stringify(sent())).toContain("Shram");
  });

  it("stays the same while the model works with tools", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const question = [user("What is the weather where I live?")];
    upstream.reply = () => ({ toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Porto" } }] });
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    const { json } = await chat(question, { tools });
    const asked = sent().messages[0].content;
    await keepsake.scope({ user: "ana" }).remember("I moved to Faro.");
    upstream.reply = () => "Sunny.";
    await chat(
      [
        ...question,
        json.choices[0].message,
        { role: "tool", tool_call_id: "call_1", content: "sun" } as Message,
      ],
      { tools },
    );
    expect(sent().messages[0].content).toBe(asked);
    await settled();
    const replies = (await stored()).filter((text) => text !== "I moved to Faro.");
    expect(replies).toEqual(["I live in Porto.", "What is the weather where I live?", "", "Sunny."]);
  });

  it("leaves every other byte unchanged", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const body =
      '{ "model":"gpt-4o-mini", "user":"ana", "seed": 9007199254740993, "temperature":1.0,\n "x_new":{"b":[1.50]},' +
      ' "messages":[{"role":"user","content":[{"type":"text","text":"Where do I live? \\u00e9"},' +
      '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}';
    await post("/v1/chat/completions", body);
    const raw = upstream.received.at(-1)?.raw.toString("utf8") ?? "";
    const without = raw.replace(
      /\{"type":"text","text":"<keepsake-[^}]*?(?:\\"\}[^}]*?)*<\/keepsake-\w+>"\},?/g,
      "",
    );
    expect(raw).not.toBe(body);
    expect(without.replace("}},]", "}}]")).toBe(body);
  });

  it("is empty without a user, with memory off, and for a key that may not read", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const body = { model: "gpt-4o-mini", messages: [user("Where do I live?")] };
    const asked = async (more: object, headers: Record<string, string> = {}) => {
      const { headers: got } = await post("/v1/chat/completions", { ...body, ...more }, headers);
      expect(upstream.received.at(-1)?.raw.toString("utf8")).toBe(JSON.stringify({ ...body, ...more }));
      return [got.get("x-keepsake-memory"), got.get("x-keepsake-memory-why")];
    };
    expect(await asked({})).toEqual(["off", "no user named"]);
    expect(await asked({ user: "ana" }, { "x-keepsake-memory": "off" })).toEqual(["off", "asked for"]);
    const key = keys.create({ project: "default", scopes: ["write", "read"], user: "bo" });
    expect(key).toBeDefined();
    await settled();
    expect(await stored()).toEqual(["I live in Porto."]);
  });

  it("is recalled but nothing is stored in the mode read", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    const { response } = await chat([user("Where do I live?")], {}, { "x-keepsake-memory": "read" });
    expect(response.headers.get("x-keepsake-memory")).toBe("read");
    expect(fenced(lastText())).toContain("Porto");
    await settled();
    expect(await stored()).toEqual(["I live in Porto."]);
  });

  it("is never stored as a new memory, whoever repeats it", async () => {
    await keepsake.scope({ user: "ana" }).remember("I live in Porto.");
    upstream.reply = ({ turns }) => `You said: ${turns.at(-1)?.text}`;
    let words = "Where do I live?";
    for (let i = 0; i < 100; i += 1) {
      await chat([user(words)]);
      words = `${fenced(lastText())}\nAnd where do I live at ${i}?`;
    }
    await settled();
    expect((await stored()).join("\n")).not.toContain("keepsake-");
    expect((await keepsake.scope({ user: "ana" }).list()).total).toBe(1);
  });
});
