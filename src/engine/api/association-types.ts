import type { AssociationType, MemoryLink } from "../../domain/change-set.ts";
import type { Kind, KindGroup, Status } from "../../domain/memory.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { PageOptions, ShownMemory } from "./listing-types.ts";

/** Options of `link`. */
export interface LinkOptions extends CallOptions {
  /** How the first memory bears on the second (default "related_to"). */
  readonly type?: AssociationType;
  /** 0 to 1 (default 1). */
  readonly strength?: number;
}

/** Options of `unlink`. */
export interface UnlinkOptions extends CallOptions {
  /** Only associations of this type (default: all). */
  readonly type?: AssociationType;
}

/** Options of `links`. */
export interface LinkListOptions extends PageOptions {
  /** Only associations that begin or end at this memory. */
  readonly memory?: string;
  /** Only associations of this type. */
  readonly type?: AssociationType;
}

/** What a write did with associations. */
export interface LinkReceipt {
  /** The user's revision afterwards; `undo` takes it. */
  readonly revision: number;
  /** Associations that were made, or got another strength. */
  readonly linked: readonly MemoryLink[];
  /** Associations that were removed, or had another strength before. */
  readonly unlinked: readonly MemoryLink[];
}

/** Options of `related`. */
export interface RelatedOptions extends CallOptions {
  /** The most associations between the memory and what is found (default 1, at most 5). */
  readonly depth?: number;
  /** The least strength of what is found, 0 to 1 (default 0). */
  readonly minStrength?: number;
  /** The most memories (default 20, at most 200). */
  readonly limit?: number;
  /** Only along associations of these types. */
  readonly types?: readonly AssociationType[];
  /** Only memories with this status (default "current"). */
  readonly status?: Status | "all";
  /**
   * Whether to follow associations that are stored nowhere, but read off the memories: told in one sentence, or
   * about the same person or thing (default true).
   */
  readonly inferred?: boolean;
}

/** What a walk along associations found. */
export interface RelatedMemories {
  /** Strongest first. */
  readonly items: readonly RelatedMemory[];
  /** Total number found, before the limit. */
  readonly total: number;
}

/** A memory that a walk reached. */
export interface RelatedMemory {
  /** The memory, with its sources. */
  readonly memory: ShownMemory;
  /** The product of the strengths on the way, 0 to 1. */
  readonly strength: number;
  /** The number of associations on the way. */
  readonly depth: number;
  /** The way, from the memory that was named. */
  readonly path: readonly RelatedStep[];
}

/** One association on the way to a related memory. */
export interface RelatedStep {
  /** The id of the memory that the association begins at. */
  readonly from: string;
  /** How `from` bears on `to`. */
  readonly type: AssociationType;
  /** The id of the other memory. */
  readonly to: string;
  /** 0 to 1. */
  readonly strength: number;
  /** Why it was inferred. Absent for a stored association. */
  readonly inferred?: "told together" | "about the same";
}

/** Options of `clusters`. */
export interface ClusterOptions extends CallOptions {
  /** The most groups (default 12, at most 50). */
  readonly limit?: number;
  /** Memories shown of each group, the most typical first (default 5, at most 100). */
  readonly memories?: number;
  /** Only memories of this kind, or of this group of kinds. */
  readonly kind?: Kind | KindGroup;
}

/** Memories grouped by topic. */
export interface MemoryClusters {
  /** Largest first. */
  readonly items: readonly MemoryCluster[];
  /** The number of current memories. */
  readonly total: number;
  /** Memories in no group: they resemble none, have no vector, or are older than the newest 5,000. */
  readonly left: number;
}

/** A group of memories about one topic. */
export interface MemoryCluster {
  /** Words that tell the group apart, joined by commas. If there are none: the beginning of its most typical memory. */
  readonly name: string;
  /** The words that tell the group apart, at most three. Empty if there are none. */
  readonly words: readonly string[];
  /** The number of memories. */
  readonly size: number;
  /** The most typical ones. */
  readonly memories: readonly ShownMemory[];
}
