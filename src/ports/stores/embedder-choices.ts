import type { Scope } from "../../domain/scope.ts";

/** Which embedder a project or a user reads with. */
export interface EmbedderChoice {
  /** The project's name. */
  readonly project: string;
  /** The user's name; absent for a choice of the whole project. */
  readonly user?: string;
  /** The embedder's name. */
  readonly embedder: string;
}

/**
 * The embedders that projects and users chose, by name. They are not part of a user's change-sets: no revision, no log
 * entry. They contain no user text. A user may choose before the first write, and keeps the choice after an erasure.
 */
export interface EmbedderChoices {
  /** The name for a user: the user's own choice, otherwise the project's. Undefined without one. One lookup. */
  read(scope: Scope): Promise<string | undefined>;

  /** The choices of a project: its own first, then those of its users, in the order of their names (UTF-16 code units). */
  list(project: string): Promise<EmbedderChoice[]>;

  /** Stores a choice durably, replacing the one before. */
  save(choice: EmbedderChoice): Promise<void>;

  /** Removes the choice of a user, or of a project. Removing one that does not exist is not an error. */
  remove(choice: Omit<EmbedderChoice, "embedder">): Promise<void>;
}
