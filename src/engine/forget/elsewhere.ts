import type { MessageRedaction } from "../../domain/change-set.ts";
import { cutText, GAP_MARK, type TextCut } from "../../domain/cut.ts";
import type { Metadata } from "../../domain/filter.ts";
import type { Memory } from "../../domain/memory.ts";
import type { VersionCut } from "../../domain/trace.ts";
import { splitWords } from "../../domain/words.ts";
import { filterInSlices, flatMapInSlices, mapInSlices } from "../in-slices.ts";
import type { UserState } from "../user-state.ts";
import { findPhrase } from "./places.ts";
import { createPhraseIndexInSlices, type PhraseIndex } from "./run-index.ts";
import type { ErasureSelection } from "./select.ts";

/** Where erased words stand beside the texts that a selection looks at. */
export interface ResidualMatches {
  /** Messages that stay, whose metadata goes. */
  readonly bare: readonly string[];
  /** Versions of memories that stay: older ones that said it, and metadata. */
  readonly versions: readonly VersionCut[];
}

/**
 * Looks for words in metadata, and in older versions of memories that stay: "uses Magnet", corrected to "uses Shram"
 * by hand, is a memory of Shram whose history speaks of Magnet.
 */
export async function findResidualMatches(
  state: UserState,
  selection: ErasureSelection,
  versions: readonly Memory[],
  hunted: readonly string[],
): Promise<ResidualMatches> {
  if (hunted.length === 0) return { bare: [], versions: [] };
  const hunting = await mapInSlices(hunted, (text) => splitWords(text));
  const runs = await createPhraseIndexInSlices(hunting.filter((run) => run.length > 0));
  const holds = (metadata: Metadata | undefined): boolean =>
    // Each value on a line of its own: "[2,350]" is two numbers.
    metadata !== undefined && findCuts(JSON.stringify(metadata, null, 1), runs).length > 0;
  const gone = new Set([...selection.memories].map(({ id }) => id));
  return {
    bare: (
      await filterInSlices(
        state.messages.values(),
        ({ id, metadata }) => !selection.cuts.has(id) && holds(metadata),
      )
    ).map(({ id }) => id),
    versions: await flatMapInSlices<Memory, VersionCut>(versions, (version) => {
      const { id, text, claim, metadata } = version;
      if (gone.has(id)) return [];
      const isNewest = state.memories.get(id)?.version === version.version;
      const cuts = isNewest ? [] : findCuts(text, runs);
      const dropsClaim = !isNewest && claim && findCuts(Object.values(claim).join("\n"), runs).length > 0;
      const dropsMetadata = holds(metadata);
      if (cuts.length === 0 && !dropsClaim && !dropsMetadata) return [];
      return {
        id,
        version: version.version,
        length: text.length,
        cuts,
        ...(dropsClaim ? { dropsClaim } : {}),
        ...(dropsMetadata ? { dropsMetadata } : {}),
      };
    }),
  };
}

function findCuts(text: string, runs: PhraseIndex): TextCut[] {
  return runs
    .findIn(text)
    .flatMap((run) => findPhrase(text, run))
    .map(({ start, end }) => ({ start, end, put: GAP_MARK }));
}

/** A version without what is cut from it; nothing where it is another text than the one that was cut. */
export function cutVersion(version: Memory, cut: VersionCut | undefined): Memory | undefined {
  if (!cut || cut.length !== version.text.length) return undefined;
  const { claim, metadata, ...rest } = version;
  return {
    ...rest,
    text: cutText(version.text, cut.cuts).text,
    ...(claim && !cut.dropsClaim ? { claim } : {}),
    ...(metadata && !cut.dropsMetadata ? { metadata } : {}),
  };
}

/** The same message without its metadata. */
export function stripMetadata(state: UserState, id: string): MessageRedaction[] {
  const message = state.messages.get(id);
  if (!message) return [];
  const { content, parts } = message;
  return [{ id, content, keepMetadata: false, ...(parts ? { parts } : {}) }];
}
