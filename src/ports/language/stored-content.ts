import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";

/** What is stored of a user, as the reader of a language sees it. */
export interface StoredContent {
  /** In turn order. */
  readonly messages: ReadonlyMap<string, Message>;
  /** The newest version of each memory, in the order in which they were first stored. */
  readonly memories: ReadonlyMap<string, Memory>;
  /** Goes up with each change of the two; undefined if changes are not counted. */
  readonly revision?: number | undefined;
}
