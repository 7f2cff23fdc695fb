import {
  Agent,
  OpenAIConversationsSession,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import * as z from "zod";
import { type StoryLine, type Talker, weatherIn } from "./story.ts";

setTracingDisabled(true);

const MODEL = "gpt-4o-mini";
const WEATHER: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};

type Asked = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

/** Gives a response by the official client, whole or streamed. */
const createAnswering =
  (client: OpenAI) =>
  (
    input: string | OpenAI.Responses.ResponseInput,
    stream: boolean,
    more: Asked = {},
  ): Promise<OpenAI.Responses.Response> =>
    stream
      ? client.responses.stream({ model: MODEL, input, ...more } as never).finalResponse()
      : client.responses.create({ model: MODEL, input, ...more });

/** The official client, whose turns the server keeps: in a conversation, or in a chain of responses. */
export function openaiStored(baseURL: string, apiKey: string, way: "conversation" | "chain"): Talker {
  const client = new OpenAI({ baseURL, apiKey });
  let before: { readonly on: Asked; readonly text: string } | undefined;
  const begin = async (): Promise<Asked> =>
    way === "chain" ? {} : { conversation: (await client.conversations.create()).id };
  const answer = createAnswering(client);
  const next = (on: Asked, { id }: OpenAI.Responses.Response): Asked =>
    way === "chain" ? { previous_response_id: id } : on;
  return {
    name: `openai (Node), responses in a ${way} that the server keeps`,
    async say(lines: readonly StoryLine[], stream) {
      const isOn = before !== undefined && lines.at(-2)?.content === before.text;
      const on = isOn && before ? before.on : await begin();
      const response = await answer(lines.at(-1)?.content ?? "", stream, on);
      before = { on: next(on, response), text: response.output_text };
      return response.output_text;
    },
    async ask(question, stream) {
      const on = await begin();
      const asked = await answer(question, stream, { ...on, tools: [WEATHER] });
      const call = asked.output.find((item) => item.type === "function_call");
      if (call?.type !== "function_call") return { city: "", text: "" };
      const { city } = JSON.parse(call.arguments) as { city: string };
      const output = {
        type: "function_call_output" as const,
        call_id: call.call_id,
        output: weatherIn(city),
      };
      const more = { ...next(on, asked), tools: [WEATHER] };
      return { city, text: (await answer([output], stream, more)).output_text };
    },
  };
}

/** The official client, which names what was said and done before by the ids of the items. */
export function openaiReferences(baseURL: string, apiKey: string): Talker {
  const client = new OpenAI({ baseURL, apiKey });
  let before: { readonly items: OpenAI.Responses.ResponseInput; readonly text: string } | undefined;
  const answer = createAnswering(client);
  /** All that a response was given and gave, by ids alone. */
  const referTo = async ({
    id,
    output,
  }: OpenAI.Responses.Response): Promise<OpenAI.Responses.ResponseInput> => {
    const ids: string[] = [];
    for await (const item of client.responses.inputItems.list(id, { order: "asc" })) ids.push(item.id ?? "");
    ids.push(...output.map((item) => item.id ?? ""));
    return ids.map((one) => ({ type: "item_reference", id: one }));
  };
  return {
    name: "openai (Node), responses with references to items",
    async say(lines, stream) {
      const isOn = before !== undefined && lines.at(-2)?.content === before.text;
      const items = isOn && before ? before.items : [];
      const content = lines.at(-1)?.content ?? "";
      const response = await answer([...items, { role: "user", content }], stream);
      before = { items: await referTo(response), text: response.output_text };
      return response.output_text;
    },
    async ask(question, stream) {
      const more = { tools: [WEATHER] };
      const asked = await answer([{ role: "user", content: question }], stream, more);
      const call = asked.output.find((item) => item.type === "function_call");
      if (call?.type !== "function_call") return { city: "", text: "" };
      const { city } = JSON.parse(call.arguments) as { city: string };
      const output = {
        type: "function_call_output" as const,
        call_id: call.call_id,
        output: weatherIn(city),
      };
      return { city, text: (await answer([...(await referTo(asked)), output], stream, more)).output_text };
    },
  };
}

/** Refers to items that are there, erased, another user's, and named twice; each problem is a sentence. */
export async function referencesApart(
  baseURL: string,
  { ana, bo }: { readonly ana: string; readonly bo: string },
  sent: () => string,
): Promise<readonly string[]> {
  const client = new OpenAI({ baseURL, apiKey: ana });
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  const conversation = await client.conversations.create({
    items: [{ type: "message", role: "user", content: "My boat is called Zorbimax." }],
  });
  const [item] = (await client.conversations.items.list(conversation.id)).data;
  const refer = (api: OpenAI, count = 1, more: Asked = {}): Promise<unknown> => {
    const references = Array.from({ length: count }, () => ({
      type: "item_reference" as const,
      id: item?.id ?? "",
    }));
    return api.responses.create({
      model: MODEL,
      input: [...references, { role: "user", content: "And?" }],
      ...more,
    });
  };
  await refer(client);
  check(
    /My boat is called Zorbimax[\s\S]*And\?/.test(sent()),
    "the item was not sent in place of its reference",
  );
  const before = sent();
  const expectError = async (work: Promise<unknown>, status: number, what: string): Promise<void> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    check(error instanceof OpenAI.APIError && error.status === status, `${what} is ${String(error)}`);
    check(sent() === before, `${what} reached the model`);
  };
  await expectError(refer(client, 2), 400, "an item that is named twice");
  await expectError(
    refer(client, 1, { conversation: conversation.id }),
    400,
    "an item that the conversation has",
  );
  const other = new OpenAI({ baseURL, apiKey: bo });
  const { id: others } = await other.conversations.create();
  await expectError(refer(other, 1, { conversation: others }), 404, "another user's item");
  await client.conversations.items.delete(item?.id ?? "", { conversation_id: conversation.id });
  const { id: empty } = await client.conversations.create();
  await expectError(refer(client, 1, { conversation: empty }), 404, "an erased item");
  return problems;
}

/** An agent of OpenAI's SDK with its own `OpenAIConversationsSession`, unmodified. */
export function agentsConversations(baseURL: string, apiKey: string): Talker {
  const client = new OpenAI({ baseURL, apiKey });
  let before: { readonly session: OpenAIConversationsSession; readonly text: string } | undefined;
  let city = "";
  const weather = tool({
    name: "weather",
    description: "The weather",
    parameters: z.object({ city: z.string() }),
    execute: async (given) => {
      city = given.city;
      return weatherIn(given.city);
    },
  });
  const run = async (
    text: string,
    stream: boolean,
    session: OpenAIConversationsSession,
    tools: Agent["tools"] = [],
  ): Promise<string> => {
    const agent = new Agent({ name: "Helper", model: new OpenAIResponsesModel(client, MODEL), tools });
    if (!stream) return String((await new Runner().run(agent, text, { session })).finalOutput);
    const result = await new Runner().run(agent, text, { session, stream: true });
    let said = "";
    for await (const part of result.toTextStream()) said += part;
    await result.completed;
    return said;
  };
  return {
    name: "OpenAI Agents SDK, OpenAIConversationsSession",
    async say(lines, stream) {
      const isOn = before !== undefined && lines.at(-2)?.content === before.text;
      const session = isOn && before ? before.session : new OpenAIConversationsSession({ client });
      const text = await run(lines.at(-1)?.content ?? "", stream, session);
      before = { session, text };
      return text;
    },
    async ask(question, stream) {
      const text = await run(question, stream, new OpenAIConversationsSession({ client }), [weather]);
      return { city, text };
    },
  };
}

/** Holds two conversations side by side, pops, forgets and clears; each problem is a sentence. `sent`: what the model was sent last. */
export async function conversationsApart(
  baseURL: string,
  apiKey: string,
  sent: () => string,
): Promise<readonly string[]> {
  const client = new OpenAI({ baseURL, apiKey });
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  const [one, two] = [new OpenAIConversationsSession({ client }), new OpenAIConversationsSession({ client })];
  const agent = new Agent({ name: "Helper", model: new OpenAIResponsesModel(client, MODEL) });
  const say = (text: string, session: OpenAIConversationsSession) =>
    new Runner().run(agent, text, { session });
  await say("My boat is called Zorbimax.", one);
  await say("My bike is called Quillon.", two);
  await say("What did I say?", one);
  check(/My boat is called Zorbimax[\s\S]*What did I say/.test(sent()), "the conversation was not sent");
  check((await one.getItems()).length === 4, "the session does not have four items");
  check(JSON.stringify(await two.getItems()).includes("Quillon"), "the other conversation lost its words");
  check(!JSON.stringify(await two.getItems()).includes("Zorbimax"), "the conversations are mixed");
  const popped = JSON.stringify(await one.popItem());
  check(popped.includes("All right."), `the popped item is ${popped}`);
  check((await one.getItems()).length === 3, "the item was not popped");
  const id = await one.getSessionId();
  const direct = await client.responses.create({ model: MODEL, input: "And now?", conversation: id });
  check(direct.output_text === "All right.", "a response in the agent's conversation failed");
  check((await one.getItems()).length === 5, "the response was not appended");
  await client.responses.create({
    model: MODEL,
    input: "Forget that I ever mentioned Zorbimax.",
    conversation: id,
  });
  await client.responses.create({ model: MODEL, input: "And now?", conversation: id });
  check(!sent().includes("Zorbimax"), "what was forgotten was still sent");
  check(
    !JSON.stringify(await one.getItems()).includes("Zorbimax"),
    "what was forgotten is still in the session",
  );
  const kept = await client.conversations.create();
  for (const words of ["My boat is called Vexilla.", "What did I say?"])
    await new Runner().run(agent, words, { conversationId: kept.id });
  check(
    /Vexilla[\s\S]*What did I say/.test(sent()),
    "a run by conversationId was not given its conversation",
  );
  const items = await client.conversations.items.list(kept.id, { limit: 3 });
  const all: string[] = [];
  for await (const item of items) all.push(item.type);
  check(all.join() === "message,message,message,message", `a run by conversationId left ${all.join()}`);
  const begun = await new Runner().run(agent, "My cart is called Ombrix.");
  const previousResponseId = begun.lastResponseId ?? "";
  await new Runner().run(agent, "What did I say?", { previousResponseId });
  check(/Ombrix[\s\S]*What did I say/.test(sent()), "a run by previousResponseId was not given its chain");
  const found = await client.responses.retrieve(previousResponseId);
  check(found.id === previousResponseId && found.output_text !== "", "a response was not given again");
  const input = await client.responses.inputItems.list(previousResponseId);
  check(JSON.stringify(input.data).includes("Ombrix"), "the input of a response was not given");
  await client.responses.delete(previousResponseId);
  const erased = await client.responses.retrieve(previousResponseId).catch((error: unknown) => error);
  check(erased instanceof OpenAI.NotFoundError, "the deleted response is still there");
  await one.clearSession();
  const gone = await client.conversations.retrieve(id).catch((error: unknown) => error);
  check(gone instanceof OpenAI.NotFoundError, "the cleared conversation is still there");
  check((await two.getItems()).length === 2, "the other conversation was cleared, too");
  return problems;
}
