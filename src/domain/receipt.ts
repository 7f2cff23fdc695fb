import type { MemoryAction } from "./memory.ts";
import type { TextCut } from "./text/cut-text.ts";

/** What a write did. Never "ok": each thing by id, or the reason why not. */
export interface Receipt {
  readonly revision: number;
  /** Ids of the messages stored by this write or, where they were there already, before it. */
  readonly messages: readonly string[];
  readonly memories: readonly ReceiptLine[];
  /** How many messages wait for an extractor. */
  readonly pending: number;
  /** Why they wait longer: the budget is used up, or the model's server is down. They are read when that has passed. */
  readonly hindered?: "over_quota" | "unavailable";
  /** What the words asked to be erased, and was. */
  readonly erasures?: readonly ErasureReceipt[];
  /** What was asked for and would sweep away so much that it waits for a yes in the same session. */
  readonly waiting?: readonly PendingConfirmation[];
}

/** A request that is carried out if the user's next words are a yes. */
export interface PendingConfirmation {
  readonly action: "erase" | "supersede" | "retract";
  /** What would go, as far as it is memories. */
  readonly memories: readonly { readonly id: string; readonly text: string }[];
}

export interface ReceiptLine {
  readonly id: string;
  readonly action: Extract<
    MemoryAction,
    "added" | "merged" | "superseded" | "retracted" | "erased" | "refused" | "quarantined"
  >;
  readonly text: string;
  /** The memory that took its place, or into which it went. */
  readonly by?: string;
  readonly why?: string;
}

/** A receipt as it is kept under an idempotency key: by id and version, so that no erased word lives on in it. */
export interface KeptReceipt {
  /** SHA-256 of the caller's key, hex. */
  readonly key: string;
  /** SHA-256 of what was asked, hex; the same key with another body is a conflict. */
  readonly body: string;
  readonly messages: readonly string[];
  readonly memories: readonly (Omit<ReceiptLine, "text"> & { readonly version: number })[];
  readonly pending: number;
}

/** How many an erasure took from each place. Earlier receipts have the first seven alone. */
export interface ErasedCounts {
  readonly memories: number;
  readonly versions: number;
  /** Messages with words taken out, and among them those with none left. */
  readonly messages: number;
  readonly emptied: number;
  /** Among the messages, that of the request where it lost nothing but the request. Absent for none. */
  readonly requests?: number;
  readonly passages: number;
  readonly vectors: number;
  readonly tombstones: number;
  /** Entries of the text index. */
  readonly terms?: number;
  /** Versions of memories that stay, whose quotes lost words or whose links led to what is gone. */
  readonly rewritten?: number;
  readonly links?: number;
  /** Blocks that were kept for the user's search. */
  readonly blocks?: number;
  /** Answers kept under idempotency keys that named one of the memories; they have lost their text. */
  readonly answers?: number;
}

/** A place that was asked whether it still holds what was erased. */
export interface VerifiedPlace {
  /** "memories", "sessions: redis". */
  readonly place: string;
  /** How many of the erased words are there; of a place that could not be reached, how many entries may be. */
  readonly found: number;
  /** When what may be there is gone by itself at the latest (ISO 8601). */
  readonly until?: string;
  /** Why it is not known; it is asked again until it is. */
  readonly why?: "not reached";
}

/** A place that an erasure cannot reach at once. No read gives what its bytes may hold, but they are there. */
export interface Remainder {
  /** "PostgreSQL: write-ahead log". */
  readonly place: string;
  /** When they are gone at the latest (ISO 8601); absent where nobody said how long they are kept. */
  readonly until?: string;
}

/** A copy of the record that was made before an erasure and so holds what it took, until it is gone itself. */
export interface HeldBackup {
  /** Its file's name. */
  readonly name: string;
  readonly at: string;
  /** Absent where nobody said how long it is kept. */
  readonly until?: string;
}

/**
 * What an erasure took, from where, and the proof. It holds no erased word. With the public key alone anybody can check
 * it: `docs/forgetting.md` shows how. Where nothing was found, `id`, `hash` and `signature` are empty: it is not kept.
 */
export interface ErasureReceipt {
  /** 2; absent in receipts of before, which were signed with the secret itself. */
  readonly version?: 2;
  readonly id: string;
  readonly at: string;
  readonly project: string;
  readonly user: string;
  readonly revision: number;
  readonly erased: ErasedCounts;
  /** Ids of the memories that are gone. */
  readonly ids: readonly string[];
  /** The copies that were known to hold it when it was erased. */
  readonly backups?: readonly HeldBackup[];
  /** Where its bytes stayed when it was erased, beside copies; absent for nowhere. */
  readonly remains?: readonly Remainder[];
  /** SHA-256 of the erasure's trace, hex: what it took by ids and places. */
  readonly trace?: string;
  /** The receipt whose erasure this one did again, on a copy that was put back. */
  readonly replays?: string;
  /** Each place read again after the erasure, and how many of the erased words were still there. */
  readonly verified: readonly VerifiedPlace[];
  readonly complete: boolean;
  /** The hash of the user's receipt before this one; empty for the first. */
  readonly previous: string;
  /** SHA-256 of what is known at the commit, hex: all but `verified`, `complete`, `hash` and `signature`. */
  readonly hash: string;
  /** The Ed25519 public key that the signature is checked with, base64url. */
  readonly key?: string;
  /**
   * "ed25519:" and, in base64url, the signature of all other fields (as JSON with its names in order); in receipts of
   * before: HMAC-SHA-256 of `hash`, `verified` and `complete` with the secret, hex.
   */
  readonly signature: string;
}

/** What an erasure would take. Nothing is gone yet. */
export interface ErasurePlan {
  readonly dryRun: true;
  readonly memories: readonly { readonly id: string; readonly text: string }[];
  /** The words that would go, by message. */
  readonly messages: readonly {
    readonly id: string;
    readonly at: string;
    readonly words: readonly string[];
  }[];
}

/** What was taken from a version of a memory that stayed. */
export interface VersionCut {
  readonly id: string;
  readonly version: number;
  /** How long its text was before. */
  readonly length: number;
  readonly cuts: readonly TextCut[];
  readonly dropsClaim?: boolean;
  readonly dropsMetadata?: boolean;
}

/**
 * What an erasure took, by ids and places alone: enough to take it again from a copy that was made before it, and too
 * little to say what it was.
 */
export interface Trace {
  /** The receipt's id. */
  readonly receipt: string;
  readonly at: string;
  readonly project: string;
  readonly user: string;
  /** The user's revision that the erasure made. */
  readonly revision: number;
  /** Ids of memories that went with all their versions. */
  readonly memories: readonly string[];
  /** Stretches of messages as they stood just before, and what was put in their place: nothing, or the mark of a gap. */
  readonly messages: readonly {
    readonly id: string;
    /** How long its content was before, in UTF-16 code units: in another text the places would mean other words. */
    readonly length: number;
    readonly cuts: readonly TextCut[];
  }[];
  /** Messages that lost their metadata and nothing else. */
  readonly bare?: readonly string[];
  /** Versions of memories that stayed, which lost words of their own. */
  readonly versions?: readonly VersionCut[];
  /** Hashes of the tombstones that were put. */
  readonly tombstones: readonly {
    readonly hash: string;
    readonly of: "claim" | "words";
    readonly at: string;
  }[];
  /** The receipt whose erasure this one did again. */
  readonly replays?: string;
}
