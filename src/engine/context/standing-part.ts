import { isTrueAt } from "../../domain/current-memories.ts";
import type { Memory } from "../../domain/memory.ts";
import { MEMORY_KINDS } from "../../domain/memory.ts";
import { PROFILE_SECTIONS, type ProfileSection } from "../../domain/profile.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import type { DraftLine } from "../../ports/language/profile-writer.ts";
import type { Ports } from "../ports.ts";
import { sanitizeForPrompt } from "../prompt-block.ts";
import { findExclusion, type IndexFilters, statusOfUnit } from "../recall/options.ts";
import type { SearchIndex } from "../search-index/search-index.ts";

/** Token budget of the wishes and of the profile. */
const MAX_WISH_TOKENS = 150;
export const MAX_PROFILE_TOKENS = 300;
/** The memories considered: those of the greatest weight. */
const MAX_MEMORIES = 200;

/** The sections of the short profile and their priority; what is left out bears on few requests. */
const PRIORITIES: { readonly [name in ProfileSection]?: number } = {
  person: 4,
  health: 3,
  home: 2.5,
  people: 2,
  work: 2.5,
  likes: 1.2,
  habits: 1,
  plans: 1,
  private: 0.8,
  other: 0.5,
};

export interface StandingPart {
  readonly text: string;
  /** Ids of the memories in it. */
  readonly memories: readonly string[];
}

/** The ids of the memories that a profile may need, by weight: a scan of numbers, no texts. */
export function selectProfileMemories(searchIndex: SearchIndex, filters: IndexFilters): string[] {
  const { memories, slotOfRow, memoryIds } = searchIndex;
  const { importance, confidence, evidence, kind } = memories.columns;
  const found: { readonly row: number; readonly weight: number }[] = [];
  for (let row = 0; row < memories.count; row += 1) {
    const slot = slotOfRow[row] ?? -1;
    if (slot < 0 || statusOfUnit(searchIndex, slot, filters) !== "current") continue;
    if (findExclusion(searchIndex, slot, filters) !== undefined) continue;
    const weight =
      (importance[row] as number) *
      (confidence[row] as number) *
      (1 + Math.log2(evidence[row] as number) / 4);
    found.push({ row, weight: weight + (kind[row] === INSTRUCTION ? 2 : 0) });
  }
  return found
    .sort((one, other) => other.weight - one.weight || other.row - one.row)
    .slice(0, MAX_MEMORIES)
    .map(({ row }) => memoryIds.at(row) ?? "");
}

const INSTRUCTION = MEMORY_KINDS.indexOf("instruction");

/** Writes the wishes and the short profile from memories that hold. */
export async function writeStandingPart(
  { profileWriter, promptGuard }: Pick<Ports, "profileWriter" | "promptGuard">,
  memories: readonly Memory[],
  { now, maxTokens }: { readonly now: string; readonly maxTokens: number },
): Promise<StandingPart> {
  const held = memories.filter((memory) => isTrueAt(memory, now));
  const lines = await profileWriter.buildLines(held, now);
  const wishes = selectLines(
    lines.filter(({ section }) => section === "instructions"),
    {
      maxTokens: Math.min(MAX_WISH_TOKENS, maxTokens / 3),
      priorityOf: () => 1,
    },
  );
  const about = selectLines(
    lines.filter(({ section }) => section !== "instructions"),
    {
      maxTokens: Math.min(MAX_PROFILE_TOKENS, maxTokens / 3),
      priorityOf: ({ section }) => PRIORITIES[section] ?? 0,
    },
  );
  const parts = [
    formatPart(profileWriter.titleOf("instructions"), wishes, promptGuard),
    formatPart(profileWriter.titleOf("person"), about, promptGuard),
  ].filter((part) => part !== "");
  return {
    text: parts.join("\n"),
    memories: [...wishes, ...about].flatMap((line) => line.memories.map(({ id }) => id)),
  };
}

function selectLines(
  lines: readonly DraftLine[],
  { maxTokens, priorityOf }: { maxTokens: number; priorityOf: (line: DraftLine) => number },
): DraftLine[] {
  const ranked = lines.toSorted(
    (one, other) => priorityOf(other) * other.weight - priorityOf(one) * one.weight,
  );
  const taken = new Set<DraftLine>();
  // The title of the part.
  let tokens = 6;
  for (const line of ranked) {
    const cost = estimateTokens(`- ${line.text}\n`);
    if (tokens + cost > maxTokens || line.text === "") continue;
    taken.add(line);
    tokens += cost;
  }
  return PROFILE_SECTIONS.flatMap((name) => lines.filter((line) => line.section === name && taken.has(line)));
}

function formatPart(title: string, lines: readonly DraftLine[], promptGuard: Ports["promptGuard"]): string {
  const texts = lines
    .map(({ text }) => sanitizeForPrompt({ text }, promptGuard))
    .filter((text) => text !== "");
  return texts.length === 0 ? "" : [title, ...texts.map((text) => `- ${text}`)].join("\n");
}
