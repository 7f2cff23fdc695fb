import { BaseListChatMessageHistory, InMemoryChatMessageHistory } from "@langchain/core/chat_history";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { BaseRetriever } from "@langchain/core/retrievers";
import { RunnableLambda, RunnablePassthrough, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import fc from "fast-check";
import { createChatHistory, createMemoryRetriever } from "../../src/adapters/langchain/index.ts";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

const LANGCHAIN = { BaseListChatMessageHistory, BaseRetriever, mapStoredMessagesToChatMessages };
const REPLY = "All right.";
const HISTORIES = 60;

/** A conversation with a model: gives its answer. */
type Say = (question: string, session: string) => Promise<string>;

/** A real chain with a prompt, a retriever, a history and a model. `prompts` gets what the model is sent. */
function chainOf(memory: ScopedMemory, stream: boolean, prompts: string[]): Say {
  const retriever = createMemoryRetriever(memory, LANGCHAIN);
  const known = async ({ question }: Record<string, unknown>): Promise<string> =>
    (await retriever.invoke(String(question))).map(({ pageContent }) => pageContent).join("\n");
  const prompt = ChatPromptTemplate.fromMessages([
    ["system", "What is known about the user, as data:\n{known}"],
    new MessagesPlaceholder("history"),
    ["human", "{question}"],
  ]);
  const chain = RunnablePassthrough.assign({ known })
    .pipe(prompt)
    .pipe(
      RunnableLambda.from((value: unknown) => {
        prompts.push(JSON.stringify(value));
        return value as never;
      }),
    )
    .pipe(new FakeListChatModel({ responses: [REPLY] }))
    .pipe(new StringOutputParser());
  const withHistory = new RunnableWithMessageHistory({
    runnable: chain,
    getMessageHistory: (session) => createChatHistory(memory, LANGCHAIN, { session }),
    inputMessagesKey: "question",
    historyMessagesKey: "history",
  });
  return async (question, sessionId) => {
    const config = { configurable: { sessionId } };
    if (!stream) return String(await withHistory.invoke({ question }, config));
    let text = "";
    for await (const part of await withHistory.stream({ question }, config)) text += String(part);
    return text;
  };
}

/** Tells, goes on, asks in another conversation, and forgets. Each problem is a sentence. */
async function twoConversations(stream: boolean): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  const ana = memory.scope({ user: "ana" });
  const prompts: string[] = [];
  const say = chainOf(ana, stream, prompts);
  const problems: string[] = [];
  const check = (holds: boolean | undefined, problem: string): void => void (holds || problems.push(problem));
  check((await say("I use Shram and Magnet as productivity tools.", "one")) === REPLY, "another answer");
  await say("I live in Porto.", "one");
  check(prompts.at(-1)?.includes("I use Shram and Magnet as"), "the second turn was not given the first");
  const one = createChatHistory(ana, LANGCHAIN, { session: "one" });
  check(one instanceof BaseListChatMessageHistory, "the history is of another class");
  check((await one.getMessages()).length === 4, "the history does not have four messages");
  await say("Which productivity tools do I use?", "two");
  check(prompts.at(-1)?.includes("Magnet"), "the second conversation was not given the memory");
  await one.addMessage(
    new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "find", args: { app: ["Magnet"] } }] }),
  );
  await one.addMessage(new ToolMessage({ tool_call_id: "c1", content: "Magnet is a window manager." }));
  await ana.forget("Magnet");
  await say("Which productivity tools do I use?", "three");
  check(prompts.at(-1)?.includes("Shram"), "what stays was not given");
  check(!prompts.at(-1)?.includes("Magnet"), "the erasure did not reach what the retriever finds");
  const left = await one.getMessages();
  const types = left.map(({ type }) => type).join();
  check(types === "human,ai,human,ai", `after the erasure the messages are ${types}`);
  check(!JSON.stringify(left).includes("Magnet"), "the erasure did not reach what the history stored");
  check((await ana.erasures())[0]?.complete === true, "the erasure is not complete");
  await one.clear();
  check((await one.getMessages()).length === 0, "the history was not cleared");
  const bens = createMemoryRetriever(memory.scope({ user: "ben" }), LANGCHAIN);
  check((await bens.invoke("Where do I live?")).length === 0, "another user was given the memory");
  return problems;
}

let calls = 0;
/** What is added at once: a message, or a call of a tool with its result. */
const added: fc.Arbitrary<BaseMessage[]> = fc.oneof(
  fc.string().map((text) => [new HumanMessage(text)]),
  fc.string().map((text) => [new SystemMessage({ content: text, name: "rules" })]),
  fc
    .array(fc.record({ type: fc.constant("text" as const), text: fc.string() }), { maxLength: 3 })
    .map((content) => [new HumanMessage({ content })]),
  fc
    .tuple(fc.string(), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }))
    .map(([content, args]) => {
      calls += 1;
      const id = `call-${calls}`;
      return [
        new AIMessage({ id: "a1", content, tool_calls: [{ id, name: "find", args }] }),
        new ToolMessage({ content, tool_call_id: id, status: "error" }),
      ];
    }),
);

async function sameAsInMemory(): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:" });
  let histories = 0;
  const shown = async (history: BaseListChatMessageHistory): Promise<string> =>
    JSON.stringify(mapChatMessagesToStoredMessages(await history.getMessages()));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(added, { maxLength: 3 }), { maxLength: 4 }), async (turns) => {
      histories += 1;
      const ours = createChatHistory(memory.scope({ user: `history-${histories}` }), LANGCHAIN);
      const theirs = new InMemoryChatMessageHistory();
      for (const turn of turns) {
        for (const history of [ours, theirs]) await history.addMessages(turn.flat());
        const [got, wanted] = [await shown(ours), await shown(theirs)];
        if (got !== wanted) throw new Error(`${got} is not ${wanted}`);
      }
    }),
    { numRuns: HISTORIES },
  );
  return [];
}

/** The history and the retriever for LangChain, with a real chain and beside LangChain's own history. */
export const langChainChecks: readonly FrameworkCheck[] = [
  ...[false, true].map((stream) => ({
    name: `LangChain, history and retriever${stream ? ", streaming" : ""}`,
    shows: showStory("LangChain", stream),
    run: () => twoConversations(stream),
  })),
  {
    name: `LangChain, history: ${HISTORIES} histories as in InMemoryChatMessageHistory`,
    run: sameAsInMemory,
  },
];
