import type { Item } from "../../domain/recall.ts";
import { englishPromptGuard } from "../../language/en/prompt-injection/prompt-guard.ts";
import { toPromptText } from "../shared/model-calls/prompt-data.ts";

/** The calls of a user's memory that the retriever uses. `memory.scope({ user })` has them. */
export interface RetrieverMemory {
  recall(
    query: string,
    options: {
      readonly limit: number;
      readonly types: readonly ("memory" | "passage")[];
      readonly shared: false;
    },
  ): Promise<{ readonly items: readonly Item[] }>;
}

/** Options of the retriever. */
export interface MemoryRetrieverOptions {
  /** The most documents (default 10). */
  readonly limit?: number;
  /** Memories, passages of messages word for word, or both (default). */
  readonly types?: readonly ("memory" | "passage")[];
}

/** A document of LangChain. */
export interface RetrievedDocument {
  /** The id of the memory; for a passage, `<message id>#<number>`. */
  readonly id: string;
  /** The text, made safe for a prompt. It says if it no longer holds. */
  readonly pageContent: string;
  readonly metadata: {
    readonly type: "memory" | "passage";
    /** When it was said (ISO 8601). */
    readonly at: string;
    /** 0 to 1, higher is better. */
    readonly score: number;
    readonly status: Item["status"];
  };
}

/**
 * Makes a retriever of LangChain from a user's memory: a `BaseRetriever`, whose class the caller imports. It finds what is
 * relevant to a query, best first, and nothing if nothing is.
 *
 * @example
 * ```js
 * import { BaseRetriever } from "@langchain/core/retrievers";
 * import { createMemory } from "keepsake";
 * import { createMemoryRetriever } from "keepsake/adapters/langchain";
 *
 * await using memory = await createMemory({ path: "memory.db" });
 * const retriever = createMemoryRetriever(memory.scope({ user: "ana" }), { BaseRetriever }, { limit: 4 });
 * const documents = await retriever.invoke("Where do I live?");
 * ```
 */
export function createMemoryRetriever<Retriever extends object>(
  memory: RetrieverMemory,
  langchain: { readonly BaseRetriever: abstract new () => Retriever },
  { limit = 10, types = ["memory", "passage"] }: MemoryRetrieverOptions = {},
): Retriever {
  const Base = langchain.BaseRetriever as unknown as new () => object;
  class UserMemoryRetriever extends Base {
    lc_namespace = ["keepsake", "retrievers"];

    async _getRelevantDocuments(query: string): Promise<RetrievedDocument[]> {
      const { items } = await memory.recall(query, { limit, types, shared: false });
      return items.flatMap((item) => toDocument(item) ?? []);
    }
  }
  return new UserMemoryRetriever() as Retriever;
}

function toDocument(item: Item): RetrievedDocument | undefined {
  const { id, type, at, score, status } = item;
  const text = isFitForPrompt(item) ? toPromptText(item.text) : "";
  if (text === "") return undefined;
  return { id, pageContent: `${text}${describeEnd(item)}`, metadata: { type, at, score, status } };
}

/** Whether it is a memory, or words of the user or a model without an instruction in them. */
function isFitForPrompt({ type, text, sources }: Item): boolean {
  if (type === "memory") return true;
  const { role = "user", start = 0 } = sources.at(-1) ?? {};
  if (role !== "user" && role !== "assistant") return false;
  // A passage from the middle of a long message lacks the signs that it was pasted.
  const authorship = role === "assistant" ? "reply" : start > 0 ? "brought" : "typed";
  return englishPromptGuard.findInjections(text, authorship).length === 0;
}

/** Chains print the text alone, so it has to say that it no longer holds. */
function describeEnd({ status, validTo }: Item): string {
  if (status === "retracted") return " (this was never true)";
  if (status !== "superseded") return "";
  return validTo === undefined ? " (no longer)" : ` (until ${validTo.slice(0, 10)})`;
}
