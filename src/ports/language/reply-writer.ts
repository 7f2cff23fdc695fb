import type { Answer, WhyNot } from "../../domain/recall.ts";
import type { ErasedCounts, ErasureReceipt, PendingConfirmation, Receipt } from "../../domain/receipt.ts";

/** A stored message of a conversation, and its results. */
export interface ReportedTurn {
  readonly receipt: Receipt;
  /** The answer from memory, if the message asks something. */
  readonly answer?: Answer;
  /** The user's message. */
  readonly said?: string;
}

/** Words of a message, with its time (ISO 8601). */
export interface DatedQuote {
  readonly at: string;
  /** The speaker; absent for the user. */
  readonly name?: string | undefined;
  readonly quote: string;
}

/** What a memory is based on: a quote, or that it was added by hand at a time (ISO 8601). */
export type MemoryGround = DatedQuote | { readonly addedAt: string };

/** What the last answer is based on. */
export interface ExplainedAnswer {
  /** The number of items that it is based on. */
  readonly used: number;
  /** What those items are based on. */
  readonly grounds: readonly MemoryGround[];
  /** The number of those items that were erased since. */
  readonly erased: number;
}

/** Why the last answer did or did not mention a memory. */
export interface Omission {
  readonly reason: WhyNot["reason"];
  /** A sentence for a person. */
  readonly text: string;
  /** The words that ended the memory. */
  readonly endedBy?: DatedQuote | undefined;
}

/** Writes what a memory did with messages, in a language. Contains no erased word. */
export interface ReceiptWriter {
  /** The report about a request to forget that matched nothing for sure. */
  readonly unmetRequest: string;
  /** The report about a sure request to forget that matched nothing. */
  readonly noMatch: string;
  /** The question about a request that waits, without its words, which a model might obey. */
  readonly unquotedQuestion: string;
  /** Counts what was erased: "1 memory and the words in 2 messages". Empty if neither was erased. */
  countErased(erased: Pick<ErasedCounts, "memories" | "messages">): string;
  /** Reports an erasure that a program asked for. */
  reportErasure(erasure: Pick<ErasureReceipt, "erased" | "complete">): string;
  /** Asks about a request that waits: what it would remove, and how to confirm it. */
  askToConfirm(waiting: PendingConfirmation): string;
  /** A memory's text, addressed to the user: "You use Shram." */
  addressUser(text: string): string;
}

/** Writes the replies of a conversation without a model, in a language. */
export interface ReplyWriter extends ReceiptWriter {
  /** The answer to a question that memory cannot answer. */
  readonly unknown: string;
  /** The same where there was no time to look closely. */
  readonly unread: string;
  /**
   * Replies to a message: reports what was learnt, changed or forgotten, or gives the answer from memory, or says that it is
   * unknown.
   */
  writeReply(turn: ReportedTurn): string;
  /** Whether an assistant's message asks to confirm a request, as `askToConfirm` writes it. */
  asksToConfirm(message: string): boolean;
  /** A memory's text about a user with a name: "ana uses Shram." */
  nameUser(text: string, name: string): string;
  /** Quotes what another user shares. */
  quoteShared(owner: string, texts: readonly string[]): string;
  /** Explains what the last answer is based on. Without one, says that nothing was answered yet. */
  explainAnswer(last?: ExplainedAnswer): string;
  /** Explains what a memory is based on, and why it is outdated, if it is. */
  explainMemory(grounds: readonly MemoryGround[], outdated?: { readonly why?: string | undefined }): string;
  /** Explains why the last answer did not mention something. Without a `ground`, it is unknown. */
  explainOmission(ground: MemoryGround | undefined, omission?: Omission): string;
}
