import type { StoredAttachment } from "./attachment.ts";
import type { Memory } from "./memory.ts";
import type { Message, Part } from "./message.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "./receipt.ts";

/** What caused a change-set. */
export type ChangeCause =
  | "remember"
  | "add"
  | "update"
  | "digest"
  | "undo"
  | "forget"
  | "import"
  | "reindex"
  | "optimize"
  | "link";

/** `local`: the extractor within a write, as the built-in rules. `model`: the one that reads later. */
export type ExtractorKind = "local" | "model";

/**
 * The unit of search: a passage of a message, or a memory. The memory store keeps it; it is derived from the
 * owner's text.
 */
export interface SearchUnit {
  /** The id of the passage or the memory. */
  readonly id: string;
  readonly type: "passage" | "memory";
  /** The id of the message or the memory. */
  readonly owner: string;
  /** The passage's span in the message's content. For a memory: 0 and the length of its text. */
  readonly start: number;
  readonly end: number;
  /** The words of the text as `extractTerms` returns them, in order, joined by spaces: the text index. */
  readonly terms: string;
  /** The embedder's fingerprint. Vectors of different spaces are never compared. */
  readonly space: string;
  /** Unit length. */
  readonly vector: Float32Array;
}

/** The types of associations between memories. */
export const ASSOCIATION_TYPES = [
  "related_to",
  "extends",
  "contradicts",
  "derived_from",
  "depends_on",
] as const;
/** How one memory bears on another. `depends_on` and `derived_from` have it reviewed when the other changes. */
export type AssociationType = (typeof ASSOCIATION_TYPES)[number];

export type LinkType = AssociationType | "supersedes";

/** An association from one memory to another. */
export interface MemoryLink {
  /** The id of the memory that the association begins at: what depends, extends or contradicts. */
  readonly from: string;
  /** How `from` bears on `to`. */
  readonly type: LinkType;
  /** The id of the other memory. */
  readonly to: string;
  /** 0 to 1. */
  readonly strength: number;
}

/** Identifies a link: there is one of each type from one memory to another. */
export function toLinkKey({ from, type, to }: MemoryLink): string {
  return JSON.stringify([from, type, to]);
}

/** The longest run of words that one word tombstone covers. Longer wordings have one for each run. */
export const MAX_TOMBSTONE_WORDS = 5;

/** Keeps an erased statement from being stored again. The value cannot be derived from it. */
export interface Tombstone {
  /** Keyed hash (HMAC-SHA-256 with the secret), hex. */
  readonly hash: string;
  /** What was hashed: a claim, or its words. */
  readonly of: "claim" | "words";
  /**
   * Statements made before this time (ISO 8601) are rejected. A later statement by the user lifts the
   * tombstone.
   */
  readonly at: string;
}

/** A message with words removed. Where nothing is left of it, the speaker's name goes, too. */
export interface MessageRedaction {
  readonly id: string;
  /** The remaining content, possibly empty. */
  readonly content: string;
  readonly parts?: readonly Part[];
  readonly keepMetadata: boolean;
}

/** The message after a redaction. */
export function applyRedaction(
  { parts: _parts, metadata, name, ...message }: Message,
  { content, parts, keepMetadata }: MessageRedaction,
): Message {
  const isLeft = content !== "" || parts !== undefined;
  return {
    ...message,
    content,
    ...(isLeft && name !== undefined ? { name } : {}),
    ...(keepMetadata && metadata ? { metadata } : {}),
    ...(parts ? { parts } : {}),
  };
}

/**
 * The destructive part of a change-set. Contents are deleted; ids stay in the log, so that it can still be
 * replayed.
 */
export interface ErasureChange {
  readonly messages: readonly MessageRedaction[];
  /** Memories to delete with all their versions, links and units. */
  readonly memories: readonly string[];
  /**
   * Versions of memories that stay and are rewritten in place: their quotes moved, or contained erased words.
   */
  readonly rewrites: readonly Memory[];
  /** Digests of attachments to delete with their bytes. */
  readonly attachments?: readonly string[];
  readonly receipt: ErasureReceipt;
  /** The same by ids and positions, for backups made before. */
  readonly trace?: Trace;
}

/** The only way to write. It commits atomically. */
export interface ChangeSet {
  /**
   * The user's revision that the change is based on. If it is not the current one, the commit throws
   * `conflict`.
   */
  readonly base: number;
  /** The time of the change (ISO 8601). */
  readonly at: string;
  /** What caused the change. */
  readonly cause: ChangeCause;
  /** The revision that an `undo` reverts. */
  readonly undoes?: number;
  /** The import that the change is a part of. Undoing one part undoes all of them. */
  readonly importId?: string;
  /** Who read stored messages, for the cause `digest`. */
  readonly extractor?: ExtractorKind;
  /** New messages, in order; the memory store assigns their turns. An existing id rejects the change-set. */
  readonly messages?: readonly Message[];
  /** Attachments that the new messages refer to. One that is stored already stays as it is. */
  readonly attachments?: readonly StoredAttachment[];
  /** New states of existing messages. */
  readonly digests?: readonly {
    readonly id: string;
    readonly digest: Message["digest"];
    readonly heard?: boolean;
    readonly undone?: boolean;
  }[];
  /** New versions of new or existing memories. `version` is the current version plus 1. */
  readonly memories?: readonly Memory[];
  /** Links to remove, each with the strength that it had, for the log. */
  readonly dropLinks?: readonly MemoryLink[];
  /** New links between memories. One that exists gets the new strength. */
  readonly links?: readonly MemoryLink[];
  /** Search units; they replace those with the same id. */
  readonly units?: readonly SearchUnit[];
  /** Ids of search units to delete. */
  readonly dropUnits?: readonly string[];
  /** New tombstones. */
  readonly tombstones?: readonly Tombstone[];
  /** Hashes of tombstones to remove. */
  readonly liftTombstones?: readonly string[];
  /** The receipt to keep under an idempotency key. */
  readonly receipt?: KeptReceipt;
  /** What to destroy. */
  readonly erase?: ErasureChange;
}

/** What a change-set did, by id only. */
export interface LogEntry {
  /** The revision that the change created. */
  readonly revision: number;
  /** When it was committed (ISO 8601). */
  readonly at: string;
  /** What caused the change. */
  readonly cause: ChangeCause;
  /** The revision that an undo reverted. For an import: one of its revisions; all of them are reverted. */
  readonly undoes?: number;
  /** The import that the change is a part of. Absent for anything else. */
  readonly importId?: string;
  /** Who read stored messages, for the cause `digest`. A replay asks only a local extractor again. */
  readonly extractor?: ExtractorKind;
  /** Ids of added messages. */
  readonly messages: readonly string[];
  /** Versions of memories that were created. */
  readonly memories: readonly {
    readonly id: string;
    readonly version: number;
    readonly action: Memory["action"];
  }[];
  /** Ids of messages with words removed, and of deleted memories. */
  readonly erased: readonly string[];
  /** Associations that were made, or got another strength. Absent if there are none. */
  readonly linked?: readonly MemoryLink[];
  /** Associations that were removed, or had another strength before. Absent if there are none. */
  readonly unlinked?: readonly MemoryLink[];
}

/** A change-set without the fields that `commitChange` sets. */
export type ChangeSetDraft = Omit<ChangeSet, "base" | "at">;
