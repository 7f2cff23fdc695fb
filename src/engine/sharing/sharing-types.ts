import type { Kind } from "../../domain/memory.ts";
import type { GrantedContent } from "../../domain/sharing.ts";
import type { CallOptions } from "../../ports/call-options.ts";

/** A grant to give: what, to whom, and until when. */
export interface NewGrant extends GrantedContent {
  /** The user who may read. Either this or `group`. */
  readonly user?: string;
  /** The name or id of a group that the giver owns or is a member of. */
  readonly group?: string;
  /** When it ends, exclusive. Without it, it lasts until it is withdrawn. */
  readonly until?: Date | string;
}

/** Whether a grant lets its reader read: only an active one does. */
export type GrantState = "active" | "declined" | "expired" | "withdrawn";

/** A grant as both sides see it. */
export interface ShownGrant {
  /** A UUIDv7. */
  readonly id: string;
  /** Whose memories they are. */
  readonly owner: string;
  /** The user who may read. Absent if it is a group. */
  readonly user?: string;
  /** The group whose members may read. */
  readonly group?: { readonly id: string; readonly name: string };
  /** What it covers. */
  readonly what: GrantedContent;
  /** When it was given (ISO 8601). */
  readonly at: string;
  /** When it ends, exclusive (ISO 8601). */
  readonly until?: string;
  /**
   * "declined" for the reader who declined it. For its owner, it is "declined" once all readers declined it: the user, or all
   * members of the group.
   */
  readonly state: GrantState;
  /** The members of the group who declined it, for the owner of the grant. Absent if none did, and for a grant to a user. */
  readonly declinedBy?: readonly string[];
  /** When it was withdrawn (ISO 8601). */
  readonly withdrawnAt?: string;
}

/** The grants of a user, newest first. */
export interface Grants {
  /** Those that the user gave. */
  readonly given: readonly ShownGrant[];
  /** Those by which the user may read the memories of others. */
  readonly received: readonly ShownGrant[];
}

/** Options of `grants`. */
export interface GrantListOptions extends CallOptions {
  /** True: also those that were withdrawn or have expired (default false). */
  readonly all?: boolean;
}

/** A group to make, or to change. */
export interface NewGroup {
  /** The name, unique among the groups of its owner. */
  readonly name: string;
  /** The users in it. They replace those before. */
  readonly members: readonly string[];
}

/** A named set of users, such as a household or a team. */
export interface ShownGroup {
  /** A UUIDv7. */
  readonly id: string;
  /** Who made it, and alone may change it. */
  readonly owner: string;
  /** The name, unique among the groups of its owner. */
  readonly name: string;
  /** The users in it. */
  readonly members: readonly string[];
  /** When it was made (ISO 8601). */
  readonly at: string;
}

/** Options of `shared`. */
export interface SharedListOptions extends CallOptions {
  /** Only what this grant covers. Its owner may name it too, to see what readers see. */
  readonly grant?: string;
  /** The most memories (default 50, at most 1,000). */
  readonly limit?: number;
}

/** A memory of another user, as a grant shows it. */
export interface SharedMemory {
  /** The id of the memory. */
  readonly id: string;
  /** The statement, with the owner's name in place of "the user". */
  readonly text: string;
  /** The kind of statement. */
  readonly kind: Kind;
  /** When it was said (ISO 8601). */
  readonly at: string;
  /** When the event takes place, or the commitment is due (ISO 8601). */
  readonly when?: string;
  /** Whose memory it is. */
  readonly owner: string;
  /** The id of the grant. */
  readonly grant: string;
}

/** Memories of other users, newest first. */
export interface SharedMemories {
  /** The memories, at most `limit`. */
  readonly items: readonly SharedMemory[];
  /** The number of all of them. */
  readonly total: number;
}
