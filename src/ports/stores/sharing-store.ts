import type { Scope } from "../../domain/scope.ts";
import type { Share } from "../../domain/sharing.ts";

/**
 * Grants and groups of a project. They are not part of a user's change-sets: they have no revision and no log entry. They
 * contain no memories, only what may be read, and by which users.
 */
export interface SharingStore {
  /**
   * The grants that a user gave or may read by, and the groups that the user made or is in. Grants to a group concern its
   * members and its owner. In the order of their ids.
   */
  read(scope: Scope): Promise<Share[]>;

  /**
   * Applies changes atomically and durably. A share of version 1 must not exist; any other must be the next version of the
   * stored one. Dropping a share that does not exist is not an error. Throws `conflict` otherwise; nothing is stored then.
   */
  apply(project: string, changes: ShareChanges): Promise<void>;
}

/** Changes of grants and groups in one project. */
export interface ShareChanges {
  /** New shares and new versions. Each id occurs once. */
  readonly put?: readonly Share[];
  /** Ids of shares to remove. */
  readonly drop?: readonly string[];
}
