import type { Memory } from "./memory.ts";
import type { Message, Part } from "./message.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "./receipt.ts";

/** What made a change-set. */
export type ChangeCause =
  | "remember"
  | "add"
  | "update"
  | "digest"
  | "undo"
  | "forget"
  | "import"
  | "reindex"
  | "optimize";

/** What is searched: a passage of a message, or a memory. Part of the record, derived from its owner's text. */
export interface SearchUnit {
  /** The passage's or the memory's id. */
  readonly id: string;
  readonly type: "passage" | "memory";
  /** The message's or the memory's id. */
  readonly owner: string;
  /** The passage's span in the message's content; 0 and the text's length for a memory. */
  readonly start: number;
  readonly end: number;
  /** The words of the text as `analyse` gives them, in order, joined by spaces: the text index. */
  readonly terms: string;
  /** The embedder's fingerprint; vectors of different spaces are never compared. */
  readonly space: string;
  /** Unit length. */
  readonly vector: Float32Array;
}

export type LinkType =
  | "related_to"
  | "extends"
  | "contradicts"
  | "derived_from"
  | "supersedes"
  | "depends_on";

/** From one memory to another. */
export interface MemoryLink {
  readonly from: string;
  readonly type: LinkType;
  readonly to: string;
  /** 0 to 1. */
  readonly strength: number;
}

/** Bars the way back to something erased; the value cannot be read from it. */
export interface Tombstone {
  /** Keyed hash (HMAC-SHA-256 with the secret), hex. */
  readonly hash: string;
  /** What was hashed: a claim, or words. */
  readonly of: "claim" | "words";
  /** What was said before this time (ISO 8601) stays out; what the user says later lifts the tombstone. */
  readonly at: string;
}

/** A message with words taken out. */
export interface MessageRedaction {
  readonly id: string;
  /** The content that is left, possibly empty. */
  readonly content: string;
  readonly parts?: readonly Part[];
  readonly keepMetadata: boolean;
}

/** The part of a change-set that destroys. Bodies go; ids stay in the log, so that it still replays. */
export interface ErasureChange {
  readonly messages: readonly MessageRedaction[];
  /** Memories that go with all their versions, links and units. */
  readonly memories: readonly string[];
  /** Versions of memories that stay, written again in place: their quotes stand elsewhere, or held erased words. */
  readonly rewrites: readonly Memory[];
  readonly receipt: ErasureReceipt;
  /** The same by ids and places, for copies of the record that were made before. */
  readonly trace?: Trace;
}

/** The one way to write. It commits atomically, or not at all. */
export interface ChangeSet {
  /** The revision of the user that it was thought out on; another one refuses it (`conflict`). */
  readonly base: number;
  /** When (ISO 8601). */
  readonly at: string;
  readonly cause: ChangeCause;
  /** The revision that this one takes back, for `undo`. */
  readonly undoes?: number;
  /** New messages, in order; the record gives them their turns. An id that is there already refuses the change-set. */
  readonly messages?: readonly Message[];
  /** New states of messages that are there. */
  readonly digests?: readonly {
    readonly id: string;
    readonly digest: Message["digest"];
    readonly heard?: boolean;
    readonly undone?: boolean;
  }[];
  /** New versions of memories, new ones or known; `version` is one more than the version that is there. */
  readonly memories?: readonly Memory[];
  readonly links?: readonly MemoryLink[];
  /** Search units, replacing those of the same id. */
  readonly units?: readonly SearchUnit[];
  readonly dropUnits?: readonly string[];
  readonly tombstones?: readonly Tombstone[];
  /** Hashes of tombstones that go. */
  readonly liftTombstones?: readonly string[];
  /** The answer to keep under an idempotency key. */
  readonly receipt?: KeptReceipt;
  readonly erase?: ErasureChange;
}

/** What a change-set did, by id alone. */
export interface LogEntry {
  readonly revision: number;
  readonly at: string;
  readonly cause: ChangeCause;
  readonly undoes?: number;
  /** Ids of messages added. */
  readonly messages: readonly string[];
  /** Versions of memories made. */
  readonly memories: readonly {
    readonly id: string;
    readonly version: number;
    readonly action: Memory["action"];
  }[];
  /** Ids of messages with words taken out, and of memories gone. */
  readonly erased: readonly string[];
}
