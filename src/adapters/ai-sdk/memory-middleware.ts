import { randomUUID } from "node:crypto";
import {
  type ChatMemory,
  type ChatMemoryOptions,
  createMemoryMark,
  type PromptMessage,
  putBeforeMessage,
  readTurn,
  recallTurn,
  withoutFailing,
} from "../shared/model-calls/chat-turns.ts";
import { formatMemoryBlock } from "../shared/model-calls/prompt-data.ts";

/** The version of the AI SDK's specification: `v4` for AI SDK 7, `v3` for 6, `v2` for 5. */
export type AiSdkSpecification = "v2" | "v3" | "v4";

/** Options of the middleware. */
export interface MemoryMiddlewareOptions<Version extends AiSdkSpecification = "v4">
  extends ChatMemoryOptions {
  /**
   * The name of the conversation, unique within the user (default: a new one for each middleware). With a name, a turn
   * that is sent again later is stored once.
   */
  readonly session?: string;
  /** The version of the specification, for the types (default "v4"). The middleware is the same for all. */
  readonly specificationVersion?: Version;
}

/** A middleware for `wrapLanguageModel` of the package `ai`. */
export interface MemoryMiddleware<Version extends AiSdkSpecification = "v4"> {
  readonly specificationVersion: Version;
  /** Stores what the user said, and puts the memory before it. A failure of the memory goes to `onError`. */
  transformParams<Params extends { readonly prompt: readonly PromptMessage[] }>(call: {
    readonly params: Params;
  }): Promise<Params>;
}

/**
 * Gives a model of the AI SDK a user's memory, with `wrapLanguageModel`. Before each call it stores what the user said,
 * once for each turn, and puts what is relevant before the newest user message. A request to forget is carried out before
 * the model is called. If the memory fails, the call goes on without it.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { createMemoryMiddleware } from "keepsake/adapters/ai-sdk";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const ana = memory.scope({ user: "ana" });
 * await ana.remember("I live in Porto.");
 * const middleware = createMemoryMiddleware(ana, { session: "chat-7" });
 * const prompt = [{ role: "user", content: [{ type: "text", text: "What is the weather where I live?" }] }];
 * const { prompt: sent } = await middleware.transformParams({ params: { prompt } });
 * console.log(JSON.stringify(sent).includes("Porto"));
 * ```
 *
 * ```text
 * true
 * ```
 */
export function createMemoryMiddleware<Version extends AiSdkSpecification = "v4">(
  memory: ChatMemory,
  options: MemoryMiddlewareOptions<Version> = {},
): MemoryMiddleware<Version> {
  const { session = randomUUID(), specificationVersion = "v4" as Version } = options;
  const mark = createMemoryMark();
  return {
    specificationVersion,
    async transformParams({ params }) {
      const turn = readTurn(params.prompt, { session, name: "ai-sdk" });
      const recalled = await withoutFailing(() => recallTurn(memory, turn, { ...options, session }), options);
      if (!recalled?.text) return params;
      const block = formatMemoryBlock(recalled.text, mark);
      return { ...params, prompt: putBeforeMessage(params.prompt, turn.place, block) };
    },
  };
}
