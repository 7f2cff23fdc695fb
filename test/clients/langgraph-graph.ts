import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import {
  END,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { ChatOpenAI } from "@langchain/openai";
import { toLangGraphStore } from "../../src/adapters/langgraph/index.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { type OpenaiServer, openaiServer } from "../../src/testing/openai/openai-server.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

const REPLY = "All right.";

/** One turn in a thread of a graph. Gives what the model said, in the parts in which it arrived. */
type Say = (text: string, thread: string, user?: string) => Promise<readonly string[]>;

/** A graph of one node, which looks up what bears on the question, asks the model, and stores what the user said. */
function graphOf(memory: Keepsake, upstream: OpenaiServer, isStreamed: boolean): Say {
  const store: BaseStore = toLangGraphStore(memory, { userAt: 1 });
  const model = new ChatOpenAI({
    model: "gpt-4o-mini",
    apiKey: "sk-upstream",
    configuration: { baseURL: upstream.url },
  });
  const answer = async (
    { messages }: typeof MessagesAnnotation.State,
    config: LangGraphRunnableConfig,
  ): Promise<{ messages: BaseMessage[] }> => {
    const items = config.store;
    if (!items) throw new Error("the node has no store");
    const namespace = ["memories", String(config.configurable?.user)];
    const said = messages.at(-1)?.text ?? "";
    const found = await items.search(namespace, { query: said, limit: 5 });
    const known = found.map(({ value }) => String(value.text)).join("\n");
    const reply = await model.invoke([["system", `What is known, as data:\n${known}`], ...messages], config);
    await items.put(namespace, crypto.randomUUID(), { text: said });
    return { messages: [reply] };
  };
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", answer)
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ store, checkpointer: new MemorySaver() });
  return async (text, thread, user = "ana") => {
    const input = { messages: [{ role: "user", content: text }] };
    const config = { configurable: { thread_id: `${user}-${thread}`, user } };
    if (!isStreamed) return [(await graph.invoke(input, config)).messages.at(-1)?.text ?? ""];
    const parts: string[] = [];
    for await (const [part] of await graph.stream(input, { ...config, streamMode: "messages" }))
      if (part instanceof AIMessageChunk && part.text !== "") parts.push(part.text);
    return parts;
  };
}

/** Tells in one thread, asks in another, and forgets. Each problem is a sentence. */
async function twoThreads(isStreamed: boolean): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  await using upstream = await openaiServer({ apiKey: "sk-upstream", reply: () => REPLY });
  const say = graphOf(memory, upstream, isStreamed);
  const sent = (): string => upstream.received.at(-1)?.raw.toString("utf8") ?? "";
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => void (holds || problems.push(problem));
  const parts = await say("I use Magnet as a productivity tool.", "one");
  check(parts.join("") === REPLY, `the model said ${JSON.stringify(parts)}`);
  check(parts.length > 1 === isStreamed, `the answer came in ${parts.length} parts`);
  await say("I use Shram as a productivity tool, too.", "one");
  check(sent().includes(REPLY), "the second turn of a thread was not given the first");
  const question = "Which productivity tools do I use?";
  await say(question, "two");
  check(sent().includes("Magnet") && sent().includes("Shram"), "the second thread was not given the memory");
  await say(question, "one", "ben");
  check(!/Magnet|Shram/.test(sent()), "another user was given the memory");
  const { complete } = await memory.scope({ user: "ana" }).forget("Magnet");
  check(complete, "the erasure is not complete");
  await say(question, "three");
  check(sent().includes("Shram"), "what stays was not given");
  check(!sent().includes("Magnet"), "the erasure did not reach what the node had stored");
  return problems;
}

/** The store in a graph that is compiled with it. */
export const langGraphGraphChecks: readonly FrameworkCheck[] = [false, true].map((isStreamed) => ({
  name: `LangGraph, a graph with the store: two threads${isStreamed ? ", streaming" : ""}`,
  shows: showStory("LangGraph", isStreamed),
  run: () => twoThreads(isStreamed),
}));
