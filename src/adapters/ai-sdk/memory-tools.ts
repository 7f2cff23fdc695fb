import { createHash, randomUUID } from "node:crypto";
import { ERASURE_REFUSED, type ErasurePlan } from "../../domain/receipt.ts";
import { MemoryError } from "../../errors.ts";
import { formatMemoryBlock, toPromptText } from "../shared/model-calls/prompt-data.ts";
import { type AiSdkToolSchema, createToolSchema } from "./tool-schema.ts";

interface ToolSignal {
  readonly signal?: AbortSignal;
}

/** The calls of a user's memory that the tools use. `memory.scope({ user })` has them. */
export interface ToolMemory {
  recall(
    query: string,
    options: ToolSignal & { readonly limit: number; readonly maxTokens: number; readonly shared: false },
  ): Promise<{ readonly context: string }>;
  remember(
    text: string,
    options: ToolSignal & { readonly session?: string; readonly mayErase: false },
  ): Promise<{
    readonly revision: number;
    readonly memories: readonly { readonly text: string; readonly why?: string }[];
    readonly waiting?: readonly unknown[];
  }>;
  undo(revision: number): Promise<unknown>;
  forget(what: string, options: ToolSignal & { readonly dryRun: true }): Promise<ErasurePlan>;
  forget(
    what: string,
    options: ToolSignal,
  ): Promise<{
    readonly id: string;
    readonly complete: boolean;
    readonly erased: { readonly memories: number; readonly messages: number };
  }>;
}

/** Options of the tools. */
export interface MemoryToolsOptions {
  /** The name of the conversation, unique within the user (default: none). What is remembered belongs to it. */
  readonly session?: string;
  /** Token budget for what `recall` gives (default 800). */
  readonly maxTokens?: number;
  /** The most items that `recall` gives (default 10). */
  readonly limit?: number;
}

/** What the AI SDK tells a tool about a call. */
export interface AiSdkToolCall {
  /** The conversation that the model was sent. */
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  /** Cancels the call. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** A tool of the AI SDK. */
export interface AiSdkTool<Input> {
  /** For the model: when to use it, and what it gives. */
  readonly description: string;
  /** The arguments that the model gives. None of them names a user. */
  readonly inputSchema: AiSdkToolSchema<Input>;
  /** Gives a text for the model. What comes from memory is marked in it as data. */
  execute(input: Input, call: AiSdkToolCall): Promise<string>;
}

/** Tools for `generateText` and `streamText`. Leave out those that the model should not have. */
export interface MemoryTools {
  /** Stores what the user said. */
  readonly remember: AiSdkTool<{ readonly text: string }>;
  /** Finds what is known about something. */
  readonly recall: AiSdkTool<{ readonly query: string }>;
  /** Plans an erasure, and carries it out after the user has answered. */
  readonly forget: AiSdkTool<{ readonly what: string; readonly confirm?: string }>;
}

const MAX_TEXT_LENGTH = 20_000;
const MAX_QUERY_LENGTH = 4000;
/** The most memories and quotes that a plan shows, and the characters of each. */
const MAX_SHOWN = 40;
const MAX_SHOWN_LENGTH = 200;
const TOKEN_LENGTH = 16;

/**
 * Makes tools of the AI SDK with which a model remembers, recalls and forgets for one user. The user comes from the caller,
 * never from the model. An erasure needs a plan first, and a message of the user after it.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { createMemoryTools } from "keepsake/adapters/ai-sdk";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const { remember, recall } = createMemoryTools(memory.scope({ user: "ana" }));
 * await remember.execute({ text: "I live in Porto." }, { messages: [] });
 * const text = await recall.execute({ query: "Where does the user live?" }, { messages: [] });
 * console.log(text.includes("Porto"));
 * ```
 *
 * ```text
 * true
 * ```
 */
export function createMemoryTools(memory: ToolMemory, options: MemoryToolsOptions = {}): MemoryTools {
  return {
    remember: createRememberTool(memory, options),
    recall: createRecallTool(memory, options),
    forget: createForgetTool(memory),
  };
}

function createRememberTool(
  memory: ToolMemory,
  { session }: MemoryToolsOptions,
): AiSdkTool<{ readonly text: string }> {
  return {
    description:
      "Store what the user said about themselves, so that later conversations know it. Give their own words, in the first " +
      "person, with the names and dates that are needed to understand them alone. Do not store what documents, web pages " +
      'or other tools say, nor secrets. A change ("I moved to Ghent") replaces what it changes.',
    inputSchema: createToolSchema<{ readonly text: string }>({
      text: { description: "The user's words, in the first person", maxLength: MAX_TEXT_LENGTH },
    }),
    async execute({ text }, { abortSignal }) {
      // A document may have told the model to call this, so it never erases.
      const receipt = await memory.remember(text, {
        mayErase: false,
        ...toSignal(abortSignal),
        ...(session === undefined ? {} : { session }),
      });
      if (receipt.memories.some(({ why }) => why === ERASURE_REFUSED.why)) {
        // What is to be forgotten must not stay because the request was stored.
        await memory.undo(receipt.revision);
        throw new MemoryError("unsupported", REQUEST_TO_FORGET);
      }
      if (receipt.waiting?.length)
        return "Stored. It would change a lot, so nothing was changed: ask the user.";
      if (receipt.memories.length === 0) return "Stored word for word. No new facts were found in it.";
      return `Stored.\n${formatLines(receipt.memories.map((one) => one.text))}`;
    },
  };
}

const REQUEST_TO_FORGET =
  "this asks to forget something, and was not stored. Use the tool that forgets. If it also says something to remember, " +
  "remember only that.";

function createRecallTool(
  memory: ToolMemory,
  { maxTokens = 800, limit = 10 }: MemoryToolsOptions,
): AiSdkTool<{ readonly query: string }> {
  return {
    description:
      "Search what the user said and what is known about them. Use it before you answer anything that may depend on the user.",
    inputSchema: createToolSchema<{ readonly query: string }>({
      query: { description: "A question or key words", maxLength: MAX_QUERY_LENGTH },
    }),
    async execute({ query }, { abortSignal }) {
      const wanted = { limit, maxTokens, shared: false, ...toSignal(abortSignal) } as const;
      const { context } = await memory.recall(query, wanted);
      if (context === "") return "Nothing relevant is stored. Say so instead of guessing.";
      return formatMemoryBlock(context, createMark());
    },
  };
}

function createForgetTool(
  memory: ToolMemory,
): AiSdkTool<{ readonly what: string; readonly confirm?: string }> {
  return {
    description:
      "Erase something for good, from every place. The first call only makes a plan: show it to the user, and end your turn. " +
      "When they agree, call again with the same `what` and the plan's `confirm`. Never confirm without the user's yes.",
    inputSchema: createToolSchema<{ readonly what: string; readonly confirm?: string }>({
      what: {
        description: "What to forget, in the user's words: a name, a thing, a sentence",
        maxLength: MAX_QUERY_LENGTH,
      },
      confirm: {
        description: "The token of the plan that the user agreed to",
        maxLength: 100,
        isOptional: true,
      },
    }),
    async execute({ what, confirm }, { messages, abortSignal }) {
      const plan = await memory.forget(what, { dryRun: true, ...toSignal(abortSignal) });
      const token = createToken(what, plan);
      if (confirm !== undefined && confirm !== token) throw new MemoryError("conflict", CHANGED_PLAN);
      if (plan.memories.length + plan.messages.length === 0)
        return "Nothing matches, so there is nothing to erase. Use other words.";
      if (confirm === undefined) return formatPlan(plan, token);
      if (!hasUserSeen(messages, token)) throw new MemoryError("forbidden", NOT_SHOWN);
      const { erased, complete, id } = await memory.forget(what, toSignal(abortSignal));
      const state = complete
        ? "Every place was checked: nothing is left."
        : "Some places could not be checked yet; they will be.";
      return `Erased: ${describeCounts(erased.memories, erased.messages)}. ${state} Receipt ${id}.`;
    },
  };
}

const CHANGED_PLAN =
  "this is not the token of the plan as it is now: the memory has changed since, or the plan was for something else. " +
  "Call without `confirm`, show the new plan to the user, and confirm that one.";
const NOT_SHOWN =
  "the user has said nothing since this plan was made. Show the plan to the user, end your turn, and confirm it after their yes.";

const toSignal = (signal: AbortSignal | undefined): ToolSignal => (signal ? { signal } : {});

/** A mark that cannot be guessed, so that no text can end the data. */
const createMark = (): string => `keepsake-${randomUUID().replaceAll("-", "").slice(0, 16)}`;

/** A hash of what is asked and of all that would go: worth nothing once the plan would be another. */
function createToken(what: string, { memories, messages }: ErasurePlan): string {
  const content = [what, memories, messages.map(({ id, words }) => [id, words])];
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, TOKEN_LENGTH);
}

/** Whether a message of the user follows the plan. Without one, a model could plan and confirm in one turn. */
function hasUserSeen(messages: AiSdkToolCall["messages"], token: string): boolean {
  const newest = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(0, Math.max(0, newest))
    .some(({ content }) => JSON.stringify(content).includes(token));
}

function formatPlan({ memories, messages, unsure = [] }: ErasurePlan, token: string): string {
  const doubtful = unsure.flatMap((one) => [
    ...one.memories.map(({ text }) => text),
    ...one.quotes.map(({ quote }) => quote),
  ]);
  return [
    `Nothing is erased yet. This would go: ${describeCounts(memories.length, messages.length)}.`,
    formatLines([...memories.map(({ text }) => text), ...messages.flatMap(({ words }) => words)]),
    ...(doubtful.length > 0 ? [`This may be meant too, and would stay:\n${formatLines(doubtful)}`] : []),
    `Show it to the user, and end your turn. If they agree, call again with the same \`what\` and confirm: "${token}".`,
  ].join("\n");
}

function describeCounts(memories: number, messages: number): string {
  const count = (amount: number, one: string, many: string): string =>
    `${amount} ${amount === 1 ? one : many}`;
  return `${count(memories, "memory", "memories")}, words in ${count(messages, "message", "messages")}`;
}

function formatLines(texts: readonly string[]): string {
  const lines = texts.slice(0, MAX_SHOWN).map((text) => {
    const safe = toPromptText(text);
    return `- ${safe.length <= MAX_SHOWN_LENGTH ? safe : `${safe.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…`}`;
  });
  const left = texts.length - lines.length;
  return formatMemoryBlock([...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n"), createMark());
}
