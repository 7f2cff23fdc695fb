import Julep from "@julep/sdk";
import { createJulepChat } from "../../src/adapters/julep/index.ts";
import { createMemory } from "../../src/index.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";
import { type JulepServer, julepServer } from "./julep-server.ts";

const REPLY = "All right.";
/** Enough for a busy machine. */
const timeoutMs = 60_000;
const TOOLS: Julep.SessionChatParams.Tool[] = [
  {
    name: "weather",
    type: "function",
    function: { parameters: { type: "object", properties: { city: { type: "string" } } } },
  },
];

const upstreamModel = (): Promise<OpenaiServer> =>
  openaiServer({
    apiKey: "sk-upstream",
    reply: ({ turns, body }) =>
      Array.isArray(body.tools) && turns.at(-1)?.role === "user"
        ? { toolCalls: [{ name: "weather", arguments: { city: "Porto" } }] }
        : REPLY,
  });

type Check = (holds: boolean | undefined, problem: string) => void;

/** Runs a check with Julep's client, a server of its protocol and a model. Each problem is a sentence. */
async function withJulep(
  work: (julep: Julep, check: Check, server: JulepServer, model: OpenaiServer) => Promise<void>,
): Promise<string[]> {
  await using model = await upstreamModel();
  await using server = await julepServer({ url: model.url, apiKey: "sk-upstream" });
  const julep = new Julep({ baseURL: server.url, apiKey: "julep-key", maxRetries: 0 });
  const problems: string[] = [];
  await work(julep, (holds, problem) => void (holds || problems.push(problem)), server, model);
  return problems;
}

const twoConversations = () =>
  withJulep(async (julep, check, server, model) => {
    await using memory = await createMemory({ path: ":memory:" });
    const ana = memory.scope({ user: "ana" });
    const agent = await julep.agents.create({ name: "Helper", instructions: "You help a person." });
    const sessionOf = async (): Promise<string> => (await julep.sessions.create({ agent: agent.id })).id;
    const sent = (): string => model.received.at(-1)?.raw.toString("utf8") ?? "";
    const say = async (text: string, session: string, user = ana): Promise<string> => {
      const chat = createJulepChat(user, julep.sessions, { timeoutMs });
      const { choices } = await chat(session, { messages: [{ role: "user", content: text }] });
      const [choice] = choices;
      return choice && "message" in choice ? String(choice.message.content) : "";
    };
    const one = await sessionOf();
    check((await say("I use Shram and Magnet as productivity tools.", one)) === REPLY, "another answer");
    check(sent().includes("You help a person."), "the agent's instructions did not reach the model");
    const kept = (await ana.session(one)).items.map(({ role, content }) => `${role}: ${content}`).join("|");
    const both = `user: I use Shram and Magnet as productivity tools.|assistant: ${REPLY}`;
    check(kept === both, `stored is ${kept}`);
    await say("Which productivity tools do I use?", await sessionOf());
    check(sent().includes("Magnet"), "the second conversation was not given the memory");
    await say("Which productivity tools do I use?", await sessionOf(), memory.scope({ user: "ben" }));
    check(!sent().includes("Magnet"), "another user was given the memory");
    await say("I live in {{ user.id }} Porto {% raw %}.", one).catch(() => undefined);
    await say("Hello.", one);
    check(sent().includes("Shram"), "the model was not sent the session's earlier messages");
    await say("Forget that I ever mentioned Magnet.", one);
    check(
      sent().split("Magnet").length === 2,
      "the request to forget was not carried out before the model was called",
    );
    await say("Which productivity tools do I use?", one);
    check(sent().includes("Shram"), "what stays was not given");
    check(!sent().includes("Magnet"), "the erasure did not reach the session that it was said in");
    check((await ana.erasures())[0]?.complete === true, "the erasure is not complete");
    await ana.forget("Shram");
    await say("Hello.", one);
    check(!sent().includes("Shram"), "an erasure elsewhere did not reach the session");
    const { entries } = await julep.sessions.history(one);
    check(entries.length === 0, "Julep keeps what was said");
    check(!/Shram|Magnet/.test(server.dump()), "Julep holds what was erased");
  });

const callsOfTools = () =>
  withJulep(async (julep, check, _server, model) => {
    await using memory = await createMemory({ path: ":memory:" });
    const ana = memory.scope({ user: "ana" });
    const chat = createJulepChat(ana, julep.sessions, { timeoutMs });
    const { id } = await julep.sessions.create({});
    const messages: Julep.SessionChatParams.Message[] = [
      { role: "user", content: "I am in Porto. What is the weather today?" },
    ];
    const [asked] = (await chat(id, { messages, tools: TOOLS })).choices;
    const message = asked && "message" in asked ? asked.message : undefined;
    const [call] = message?.tool_calls ?? [];
    if (!message || !call || !("function" in call)) return check(false, "no tool was called");
    check(String(call.function.arguments).includes("Porto"), "the tool was called with another city");
    const result = { role: "tool" as const, tool_call_id: call.id ?? null, content: "sunny" };
    const calling = { role: "assistant" as const, content: "", tool_calls: [call] };
    const [told] = (await chat(id, { messages: [...messages, calling, result], tools: TOOLS })).choices;
    check(told && "message" in told && told.message.content === REPLY, "no answer after a tool");
    const turns = model.received.at(-1)?.turns ?? [];
    check(turns.map(({ role }) => role).join() === "user,assistant,tool", "the turn was sent twice");
    check((await ana.session(id)).items.length === 2, "a turn with a tool was not stored once");
  });

const failures = () =>
  withJulep(async (julep, check, _server, model) => {
    await using memory = await createMemory({ path: ":memory:" });
    const ana = memory.scope({ user: "ana" });
    const chat = createJulepChat(ana, julep.sessions, { timeoutMs });
    const { id } = await julep.sessions.create({});
    const messages: Julep.SessionChatParams.Message[] = [{ role: "user", content: "I live in Porto." }];
    model.troubles.push({ status: 500 });
    const failure = await chat(id, { messages }).catch((error: unknown) => error);
    check(failure instanceof Julep.InternalServerError, "Julep's error did not reach the caller");
    await chat(id, { messages });
    check((await ana.session(id)).items.length === 2, "a turn that was sent again was stored twice");
    const missing = await chat("5e5510", { messages }).catch((error: unknown) => error);
    check(missing instanceof Julep.NotFoundError, "a session that is not there was answered");
  });

/** The chat for Julep, with Julep's client and a server of its protocol. */
export const julepChecks: readonly FrameworkCheck[] = [
  {
    name: "Julep, a client with a memory: two conversations and erasures",
    shows: showStory("Julep", false),
    run: twoConversations,
  },
  { name: "Julep, calls of tools", run: callsOfTools },
  { name: "Julep, failures", run: failures },
];
