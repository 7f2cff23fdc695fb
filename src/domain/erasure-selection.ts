import type { Memory } from "./memory.ts";
import type { TextCut } from "./text/cut-text.ts";
import type { ValueShape } from "./text/phrase-index.ts";

/** A value to erase: wherever it occurs, or only next to words that say whose it is. */
export interface ErasedValue {
  readonly text: string;
  readonly shape?: ValueShape;
  /** True if it belongs to no one else: it is erased wherever it occurs. */
  readonly isDistinct: boolean;
  /** True for a name: it counts only with a capital. */
  readonly isName?: boolean;
  /** True for a name that a speaker here has too: it is erased only after "ask for", "alias" and the like. */
  readonly isBorrowed?: boolean;
}

/** The content of an erasure: memories in full, and spans of messages. */
export interface ErasureSelection {
  readonly memories: ReadonlySet<Memory>;
  readonly cuts: ReadonlyMap<string, readonly TextCut[]>;
  /** Attachments to remove from messages that are among `cuts`, by their number in the message, from 0. */
  readonly attachments?: ReadonlyMap<string, ReadonlySet<number>>;
  /** Values to erase wherever they occur, and wordings; both get tombstones. */
  readonly values?: readonly ErasedValue[];
  readonly wordings?: readonly string[];
}

export const NO_SELECTION: ErasureSelection = { memories: new Set(), cuts: new Map() };

/** The union of several requests. */
export function mergeSelections(selections: readonly ErasureSelection[]): ErasureSelection {
  const cuts = new Map<string, TextCut[]>();
  for (const [id, more] of selections.flatMap((one) => [...one.cuts]))
    cuts.set(id, [...(cuts.get(id) ?? []), ...more]);
  const attachments = new Map<string, ReadonlySet<number>>();
  for (const [id, more] of selections.flatMap((one) => [...(one.attachments ?? [])]))
    attachments.set(id, new Set([...(attachments.get(id) ?? []), ...more]));
  return {
    memories: new Set(selections.flatMap(({ memories }) => [...memories])),
    cuts,
    attachments,
    values: selections.flatMap(({ values = [] }) => values),
    wordings: selections.flatMap(({ wordings = [] }) => wordings),
  };
}
