import type { InputMessage } from "../engine/surface.ts";

/** The fields of a message as a file has them, checked later, without those that are not there. */
export function toInputMessage(fields: { readonly [name in keyof InputMessage]?: unknown }): InputMessage {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as unknown as InputMessage;
}

/** A message of a file, and where it stands there, for people: "line 12", "conv-26:D1:3". */
export interface ImportedMessage {
  readonly place: string;
  readonly message: InputMessage;
}

/** Gives the messages of a file in their order, with ids that are the same each time. */
export type ImportReader = (path: string) => AsyncIterable<ImportedMessage>;
