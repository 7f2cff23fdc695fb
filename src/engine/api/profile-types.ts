import type { Kind } from "../../domain/memory.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { ShownMemory } from "./listing-types.ts";

/** A short page about the user: current facts. */
export interface Profile {
  /** The user. */
  readonly user: string;
  /** The page, for people and for prompts; the same bytes while nothing changes. */
  readonly text: string;
  /** The same content, each line with the memories it was merged from. */
  readonly sections: readonly {
    readonly name: string;
    readonly title: string;
    readonly lines: readonly ProfileLine[];
  }[];
  /** Number of lines that did not fit. */
  readonly left: number;
  /** Current memories by kind, for each the hundred stored last. The list of memories has all. */
  readonly kinds: { readonly [kind in Kind]?: readonly ShownMemory[] };
  /** Number of current memories of a kind that `kinds` leaves out. */
  readonly leftOfKinds: { readonly [kind in Kind]?: number };
}

/** A line of a profile. */
export interface ProfileLine {
  /** The line, as in `Profile.text`. */
  readonly text: string;
  /** Ids of the memories in the page, and of their source messages. */
  readonly memories: readonly string[];
  /** Ids of the messages that the memories come from. */
  readonly sources: readonly string[];
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
}

/** Options of `profile`. */
export interface ProfileOptions extends CallOptions {
  /** Token budget for `text` (2,000); the least important lines are left out. */
  readonly maxTokens?: number;
}
