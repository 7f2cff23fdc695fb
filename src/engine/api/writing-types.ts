import type { Metadata, Where } from "../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import type { Claim, Kind, KindGroup } from "../../domain/memory.ts";
import type { Part, Role } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { InputAttachment } from "./attachment-types.ts";

/** A message to remember. */
export interface InputMessage {
  /** Unique within the user: a repeated id is the same message, stored once. Default: a new UUIDv7. */
  readonly id?: string;
  /** The author's role. Only what a user says makes memories. */
  readonly role: Role;
  /**
   * The text, or parts in the shapes of OpenAI's chat API. Images and recordings are parts too: see `InputAttachment`; those in
   * `image_url` and `input_audio` are kept likewise.
   */
  readonly content: string | readonly (Part | InputAttachment)[];
  /** The speaker's name, in a conversation among several people. */
  readonly name?: string;
  /** Message time (default: now). */
  readonly at?: Date | string;
  /** The session of this message, for a batch that spans several. */
  readonly session?: string;
  /** Fields of the caller's own, for filters. */
  readonly metadata?: Metadata;
}

/** Options of `remember`. */
export interface RememberOptions extends CallOptions {
  /** The session of messages that name none. */
  readonly session?: string;
  /** A repeated write with the same key and content returns the first receipt. Another content throws `conflict`. */
  readonly idempotencyKey?: string;
  /** When the extractor reads the messages: in this call (default), in the background, or never. */
  readonly extract?: "now" | "later" | "never";
  /** Message time for input that has none. */
  readonly at?: Date | string;
  /** Origin of the messages; `import` never erases anything and cannot lift a tombstone. */
  readonly origin?: "conversation" | "import";
  /** False: a request to forget within the text is refused, whenever it is extracted. */
  readonly mayErase?: boolean;
}

/** Options of `converse` and `converseStream`. */
export interface ConverseOptions extends RememberOptions {
  /** The id of the message as it is stored (default: a new one). A stored id is not stored again. */
  readonly messageId?: string;
}

/** The result of extraction. */
export interface Understood {
  /** Messages that were read. */
  readonly read: number;
  /** What was done with each memory. */
  readonly memories: readonly ReceiptLine[];
  /** Messages that remain pending. */
  readonly pending: number;
  /** Why they remain pending, for a person. */
  readonly problem?: string;
}

/** A memory to add without a message. */
export interface NewMemory {
  /** The statement, in one sentence. */
  readonly text: string;
  /** The kind of statement (default "fact"). A group means its first kind: "semantic" for "fact", "episodic" for "event". */
  readonly kind?: Kind | KindGroup;
  /** The structured form of the statement; questions are answered from it. */
  readonly claim?: Claim;
  /** 0 to 1 (default 1). */
  readonly confidence?: number;
  /** 0 to 1 (default 0.5). */
  readonly importance?: number;
  /** From when it is true, inclusive. Default: open. */
  readonly validFrom?: Date | string;
  /** When it disappears from every read. Default: never. */
  readonly expiresAt?: Date | string;
  /** Fields of the caller's own, for filters. */
  readonly metadata?: Metadata;
  /** When it was said (default: now). */
  readonly at?: Date | string;
}

/** The times of a memory that can be taken away again. */
export type ClearableField = "validFrom" | "validTo" | "expiresAt";

/** Fields of a memory to change; the others stay. */
export type MemoryChanges = Partial<
  Pick<
    NewMemory,
    "text" | "kind" | "claim" | "confidence" | "importance" | "validFrom" | "expiresAt" | "metadata"
  >
> & {
  readonly validTo?: Date | string;
  /**
   * Times to take away. Without `validTo`, a memory that had ended is current again, unless another one replaced it. A time
   * cannot be set and taken away at once.
   */
  readonly clear?: readonly ClearableField[];
  /**
   * `false` approves a quarantined memory, so that it is recalled and given to models: a person has reviewed
   * it.
   */
  readonly quarantined?: false;
  /**
   * `true` keeps the memory out of every grant; `false` lets grants cover it, also if it was said in a private message. It is
   * stored as the field `private` of the metadata, whose other fields stay.
   */
  readonly private?: boolean;
  /** `true` ends a review: the memory still holds although something that it depends on has changed. */
  readonly reviewed?: true;
};

/**
 * What to forget. A text describes it: a name, a thing, or a sentence such as "Forget what I told you about
 * my job". The other forms name it exactly. Empty filters are refused.
 */
export type Forget =
  | string
  /** Memories and messages by id. */
  | { readonly ids: readonly string[] }
  /** All messages of a session. */
  | { readonly session: string }
  /** Content with this metadata. */
  | { readonly where: Where }
  /** Memories and passages whose own text matches, with the words that the memories came from. */
  | { readonly whereText: WhereText }
  /** Content said from (inclusive) to (exclusive); at least one is required. */
  | { readonly from?: Date | string; readonly to?: Date | string }
  /** Content about a topic ("health", "work": see `TOPICS`), or with a relation ("live in"). */
  | { readonly topic: string }
  /** Images and recordings by id, wherever they are referred to, with the words that describe them. */
  | { readonly attachments: readonly string[] }
  | { readonly everything: true };

export type RememberInput = string | InputMessage | readonly InputMessage[];
