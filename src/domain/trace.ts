import type { TextCut } from "./cut.ts";

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
