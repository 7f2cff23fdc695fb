import type { MemoryAction } from "./memory.ts";
import type { TextCut } from "./text/cut-text.ts";

/** The result of a write: each item by id, or the reason for its absence. */
export interface Receipt {
  /** The user's revision after the write. */
  readonly revision: number;
  /** Ids of the messages that this write stored, or that were already stored. */
  readonly messages: readonly string[];
  /** What the write did with each memory. */
  readonly memories: readonly ReceiptLine[];
  /** How many messages wait for an extractor. */
  readonly pending: number;
  /** Why they wait longer: the budget is used up, or the model's server is down. They are read afterwards. */
  readonly hindered?: "over_quota" | "unavailable";
  /** Erasures that the message requested and that were carried out. */
  readonly erasures?: readonly ErasureReceipt[];
  /** Requests with so large an effect that they wait for a confirmation in the same session. */
  readonly waiting?: readonly PendingConfirmation[];
}

/** A request that is carried out if the user's next message confirms it. */
export interface PendingConfirmation {
  readonly action: "erase" | "supersede" | "retract";
  /** The memories that it would affect. */
  readonly memories: readonly { readonly id: string; readonly text: string }[];
  /** The words that it would remove, as they were said, message by message. */
  readonly quotes: readonly ErasureQuote[];
}

/** Words of a message that an erasure would remove. */
interface ErasureQuote {
  /** The message's id. */
  readonly message: string;
  /** When it was said (ISO 8601). */
  readonly at: string;
  /** The words. */
  readonly quote: string;
}

/** What a description of a target may mean besides what is certain. It is left unchanged. */
export interface Unsure {
  /** The description, in the caller's words. */
  readonly about: string;
  /** The memories that it may mean. */
  readonly memories: readonly { readonly id: string; readonly text: string }[];
  /** The words that it may mean, as they were said, message by message. */
  readonly quotes: readonly ErasureQuote[];
}

/** What a write did with one memory. */
export interface ReceiptLine {
  /** The memory's id; empty if none was stored. */
  readonly id: string;
  /** What was done. */
  readonly action: Extract<
    MemoryAction,
    "added" | "merged" | "superseded" | "retracted" | "erased" | "refused" | "quarantined"
  >;
  /** The memory's sentence; empty if it was erased. */
  readonly text: string;
  /** The memory that replaced it, or that it was merged into. */
  readonly by?: string;
  /** The reason, in plain words, without the user's own. */
  readonly why?: string;
}

/** What a receipt says of a request to forget by who may not erase. */
export const ERASURE_REFUSED: ReceiptLine = {
  id: "",
  action: "refused",
  text: "",
  why: "this key may not erase",
};

/** What a receipt says of a request to forget that matched nothing. */
export const NOTHING_TO_ERASE: ReceiptLine = {
  id: "",
  action: "refused",
  text: "",
  why: "this asks to forget something, but nothing stored clearly matches it: nothing was erased",
};

/** Whether the message asked to forget something, and nothing was found. */
export function hasUnmetRequest({ memories }: Pick<Receipt, "memories">): boolean {
  return memories.some(({ why }) => why === NOTHING_TO_ERASE.why);
}

/** A receipt as it is kept under an idempotency key: by id and version, so that it retains no erased text. */
export interface KeptReceipt {
  /** SHA-256 of the caller's key, hex. */
  readonly key: string;
  /** SHA-256 of the request, hex. The same key with another body is a conflict. */
  readonly body: string;
  readonly messages: readonly string[];
  readonly memories: readonly (Omit<ReceiptLine, "text"> & { readonly version: number })[];
  readonly pending: number;
}

/** What an erasure removed, by kind. Receipts of earlier versions have only the first seven counts. */
export interface ErasedCounts {
  /** Memories, with all their versions. */
  readonly memories: number;
  /** Versions of the erased memories. */
  readonly versions: number;
  /** Messages with words removed, and those of them that became empty. */
  readonly messages: number;
  /** Messages that became empty. */
  readonly emptied: number;
  /** Of the messages, the one with the request, if only the request was removed. Absent for none. */
  readonly requests?: number;
  /** Passages of messages. */
  readonly passages: number;
  /** Vectors of memories and passages. */
  readonly vectors: number;
  /** Tombstones that were set. */
  readonly tombstones: number;
  /** Entries of the text index. */
  readonly terms?: number;
  /**
   * Versions of memories that stay, with words removed from quotes or with links to erased memories removed.
   */
  readonly rewritten?: number;
  /** Links between memories. */
  readonly links?: number;
  /** Saved search indexes of the user. */
  readonly blocks?: number;
  /** Answers under idempotency keys that named one of the memories; their text was deleted. */
  readonly answers?: number;
  /** Grants that contained erased words, or that were the user's. Absent for none. */
  readonly grants?: number;
  /** Images and recordings whose bytes were deleted. Absent for none. */
  readonly attachments?: number;
}

/** A place that was checked for erased content. */
export interface VerifiedPlace {
  /** "memories", "sessions: redis". */
  readonly place: string;
  /** The number of erased words found. For an unreachable place: the number of entries that may remain. */
  readonly found: number;
  /** The latest time at which any remains expire by themselves (ISO 8601). */
  readonly until?: string;
  /** Why the result is unknown. The place is checked again until it is known. */
  readonly why?: "not reached";
}

/** The place of the keys that a user's content was encrypted with. Found are those that something stored still needs. */
export const KEYS_PLACE = "keys of the user";

/** The same, where some backups were made before the database was encrypted: these can still be read. */
export const KEYS_OF_ENCRYPTED_COPIES_PLACE = "keys of the user, for encrypted copies alone";

/** Whether the keys of the content were destroyed: earlier copies of the database then contain it, but it cannot be read. */
export function areCopiesUnreadable({ verified }: Pick<ErasureReceipt, "verified">): boolean {
  return verified.some(({ place, found, why }) => place === KEYS_PLACE && found === 0 && why === undefined);
}

/** A place that an erasure cannot clear at once. No read returns its bytes, but they exist. */
export interface Remainder {
  /** "PostgreSQL: write-ahead log". */
  readonly place: string;
  /** The latest time at which they are gone (ISO 8601); absent if the retention is unknown. */
  readonly until?: string;
}

/**
 * A backup made before an erasure. It contains the erased content until the backup itself is deleted. It cannot be read there if
 * the keys of an encrypted database were destroyed: see `areCopiesUnreadable`.
 */
export interface HeldBackup {
  /** Its file's name. */
  readonly name: string;
  /** When it was made (ISO 8601). */
  readonly at: string;
  /** Absent if the retention is unknown. */
  readonly until?: string;
}

/**
 * What an erasure removed, from which places, with proof. It contains no erased text. Anyone with the public
 * key can verify it: see `docs/forgetting.md`.
 *
 * If nothing was found, `id`, `hash` and `signature` are empty and the receipt is not stored.
 */
export interface ErasureReceipt {
  /** 2; absent in earlier receipts, which were signed with the secret itself. */
  readonly version?: 2;
  /** The receipt's id; empty if nothing was found. */
  readonly id: string;
  /** When the erasure was committed (ISO 8601). */
  readonly at: string;
  /** The user's project. */
  readonly project: string;
  /** The user whose content was erased. */
  readonly user: string;
  /** The user's revision after the erasure. */
  readonly revision: number;
  /** What was removed, by kind. */
  readonly erased: ErasedCounts;
  /** Ids of the erased memories. */
  readonly ids: readonly string[];
  /** Known backups that contained the content at the time of the erasure. */
  readonly backups?: readonly HeldBackup[];
  /** Other places where its bytes remained at the time of the erasure; absent for none. */
  readonly remains?: readonly Remainder[];
  /** SHA-256 of the erasure's trace (ids and positions), hex. */
  readonly trace?: string;
  /** The receipt whose erasure was repeated on a restored backup. */
  readonly replays?: string;
  /** Each place checked after the erasure, with the number of erased words still found. */
  readonly verified: readonly VerifiedPlace[];
  /** Whether every place was reached and no erased word was found in any. */
  readonly complete: boolean;
  /** What the description may mean too, untouched; absent for none. Neither stored nor signed. */
  readonly unsure?: readonly Unsure[];
  /** The hash of the user's previous receipt; empty for the first. */
  readonly previous: string;
  /**
   * SHA-256 of the content known at the commit, hex: everything except `verified`, `complete`, `hash` and
   * `signature`.
   */
  readonly hash: string;
  /** The Ed25519 public key for the signature, base64url. */
  readonly key?: string;
  /**
   * "ed25519:" and the base64url signature of all other fields (as JSON with sorted names). In earlier
   * receipts: HMAC-SHA-256 of `hash`, `verified` and `complete` with the secret, hex.
   */
  readonly signature: string;
}

/** What an erasure would remove. Nothing is removed yet. */
export interface ErasurePlan {
  /** Always true: this is a plan, not a receipt. */
  readonly dryRun: true;
  /** The memories that would be erased. */
  readonly memories: readonly { readonly id: string; readonly text: string }[];
  /** The words that would be removed, by message. */
  readonly messages: readonly {
    readonly id: string;
    readonly at: string;
    readonly words: readonly string[];
    /** How many attachments would be removed from it. Absent for none. */
    readonly attachments?: number;
  }[];
  /** What the description may mean too, and what would stay; absent for none. */
  readonly unsure?: readonly Unsure[];
}

/** What was removed from a version of a memory that stayed. */
export interface VersionCut {
  readonly id: string;
  readonly version: number;
  /** The length of its text before. */
  readonly length: number;
  readonly cuts: readonly TextCut[];
  readonly dropsClaim?: boolean;
  readonly dropsMetadata?: boolean;
}

/**
 * What an erasure removed, by ids and positions only. It suffices to repeat the erasure on an older backup,
 * and does not reveal the content.
 */
export interface Trace {
  /** The receipt's id. */
  readonly receipt: string;
  /** When the erasure was committed (ISO 8601). */
  readonly at: string;
  /** The user's project. */
  readonly project: string;
  /** The user. */
  readonly user: string;
  /** The revision that the erasure created. */
  readonly revision: number;
  /** Ids of memories erased with all their versions. */
  readonly memories: readonly string[];
  /** Spans of messages before the erasure, and their replacement: nothing, or the gap mark. */
  readonly messages: readonly {
    readonly id: string;
    /**
     * The length of the content before, in UTF-16 code units. In another text, the positions would refer to
     * other words.
     */
    readonly length: number;
    readonly cuts: readonly TextCut[];
    /** Attachments that were removed from it, by their number in the message, from 0. Absent for none. */
    readonly attachments?: readonly number[];
  }[];
  /** Messages that lost only their metadata. */
  readonly bare?: readonly string[];
  /** Versions of memories that stayed and lost words. */
  readonly versions?: readonly VersionCut[];
  /** Tombstones that were created. */
  readonly tombstones: readonly {
    readonly hash: string;
    readonly of: "claim" | "words";
    readonly at: string;
  }[];
  /** The receipt whose erasure was repeated. */
  readonly replays?: string;
  /** What the request may mean beside that. The user was asked about it. Absent for nothing. */
  readonly asked?: AskedContent;
}

/** What an erasure left because it was not sure, by ids and positions in the texts after the erasure. */
export interface AskedContent {
  /** The id of the message with the request. */
  readonly request: string;
  /** Ids of memories. */
  readonly memories: readonly string[];
  /** Spans of messages, and what replaces them. `length` is the length of the content after the erasure. */
  readonly messages: readonly {
    readonly id: string;
    readonly length: number;
    readonly cuts: readonly TextCut[];
  }[];
}
