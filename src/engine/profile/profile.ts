import { checkCount } from "../../domain/limits.ts";
import { isAboutLater, isTrueAt } from "../../domain/memories/current-memories.ts";
import { PROFILE_SECTIONS, type ProfileSection, weightOf } from "../../domain/memories/profile.ts";
import { type Kind, MEMORY_KINDS, type Memory } from "../../domain/memory.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { filterInSlices, forEachInSlices, mapInSlices, runInSlices } from "../../domain/time-slicing.ts";
import type { DraftLine, ProfileWriter } from "../../ports/language/profile-writer.ts";
import { toShownMemory } from "../admin/listings.ts";
import type { ShownMemory } from "../api/listing-types.ts";
import type { Profile, ProfileLine, ProfileOptions } from "../api/profile-types.ts";
import type { Ports } from "../ports.ts";
import { sanitizeForPrompt } from "../prompt-block.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Default size of a profile, in tokens. */
const DEFAULT_MAX_TOKENS = 2000;
/** Memories of each kind shown, newest first; the rest is in the list of memories. */
const MAX_PER_KIND = 100;
/** Priority of the sections if not all fit. */
const SECTION_PRIORITY: { readonly [name in ProfileSection]?: number } = {
  person: 3,
  instructions: 3,
  people: 1.3,
  health: 1.3,
};

/**
 * A short page of what is current about the user: grouped, merged into sentences, the most important and best
 * known first. The same bytes while nothing changes and no date in it passes.
 */
export async function profile(
  ports: Pick<Ports, "states" | "clock" | "profileWriter" | "promptGuard">,
  scope: Scope,
  options: ProfileOptions = {},
): Promise<Profile> {
  options.signal?.throwIfAborted();
  const maxTokens = checkCount(options.maxTokens ?? DEFAULT_MAX_TOKENS, "maxTokens", 1, 1_000_000);
  const state = await ports.states.of(scope);
  const now = ports.clock().toISOString();
  const live = await filterInSlices(
    state.memories.values(),
    (memory) => isShown(memory, now) && isOfAgent(scope, memory) && !state.damaged.has(memory.id),
  );
  const ordered = await runInSlices(orderLines(await ports.profileWriter.buildLines(live, now)));
  const { lines, left } = await runInSlices(selectFittingLines(ordered, maxTokens, ports.profileWriter));
  const sections: Profile["sections"][number][] = [];
  for (const name of PROFILE_SECTIONS) {
    const sectionLines = lines.filter(({ section }) => section === name);
    if (sectionLines.length === 0) continue;
    sections.push({
      name,
      title: ports.profileWriter.titleOf(name),
      lines: await mapInSlices(sectionLines, (line) => toProfileLine(ports, state, line)),
    });
  }
  return {
    user: scope.user,
    text: formatProfile(sections),
    sections,
    left,
    ...(await groupByKind(state, live)),
  };
}

function isShown(memory: Memory, now: string): boolean {
  if (memory.quarantined || (memory.expiresAt !== undefined && memory.expiresAt <= now)) return false;
  return isTrueAt(memory, now) || (memory.status === "current" && isAboutLater(memory, now));
}

/** Plans by day; the rest by weight, ties by first statement. */
function* orderLines(lines: readonly DraftLine[]): Generator<void, DraftLine[], void> {
  const ordered: DraftLine[] = [];
  const bySection = Map.groupBy(lines, ({ section }) => section);
  for (const section of PROFILE_SECTIONS) {
    const sectionLines = bySection.get(section) ?? [];
    const placed =
      section === "plans"
        ? sortByKey(sectionLines, dayOf)
        : sortByKey<DraftLine, number>(sectionLines, ({ weight }) => -weight);
    for (const line of yield* placed) ordered.push(line);
  }
  return ordered;
}

function dayOf({ memories }: DraftLine): string {
  return memories[0]?.when ?? memories[0]?.validFrom ?? "9";
}

/** The lines that fit, chosen by weight, in the given order. */
function* selectFittingLines(
  lines: readonly DraftLine[],
  maxTokens: number,
  { titleOf }: Pick<ProfileWriter, "titleOf">,
): Generator<void, { lines: DraftLine[]; left: number }, void> {
  const ranked = yield* sortByKey<DraftLine, number>(
    lines,
    ({ weight, section }) => -weight * (SECTION_PRIORITY[section] ?? 1),
  );
  const shortened = new Map<DraftLine, DraftLine>();
  const titled = new Set<ProfileSection>();
  let size = 0;
  for (const line of ranked) {
    const title = titled.has(line.section) ? 0 : estimateTokens(`\n${titleOf(line.section)}\n`);
    const room = maxTokens - size - title;
    const fits = isWithin(line.text, room) ? line : yield* shortenLine(line, room);
    yield;
    if (!fits) continue;
    size += costOf(fits.text) + title;
    shortened.set(line, fits);
    titled.add(line.section);
  }
  const fullLines = [...shortened].filter(([line, fits]) => line === fits).length;
  return { lines: lines.flatMap((line) => shortened.get(line) ?? []), left: lines.length - fullLines };
}

function costOf(text: string): number {
  return estimateTokens(`- ${text}\n`);
}

/** Whether a text has at most `room` tokens; a text that is far too long is not counted. */
function isWithin(text: string, room: number): boolean {
  return text.length <= room * MAX_LETTERS_PER_TOKEN && costOf(text) <= room;
}

/** No token has more letters than this. */
const MAX_LETTERS_PER_TOKEN = 4;

/** Shortens a line that merges many memories to those that fit: by weight, ties newest first. */
function* shortenLine(line: DraftLine, room: number): Generator<void, DraftLine | undefined, void> {
  if (room <= 0) return undefined;
  const best = yield* sortByKey<Memory, number>(line.memories.toReversed(), (memory) => -weightOf(memory));
  const of = (count: number): readonly Memory[] => {
    const chosen = new Set(best.slice(0, count));
    return line.memories.filter((memory) => chosen.has(memory));
  };
  // Doubles from one, so that a line far too long is never built.
  let [fitting, over] = [0, 1];
  while (over <= best.length && isWithin(line.withOnly(of(over)), room)) {
    [fitting, over] = [over, 2 * over];
    yield;
  }
  over = Math.min(over, best.length);
  while (over - fitting > 1) {
    const count = Math.floor((fitting + over) / 2);
    if (isWithin(line.withOnly(of(count)), room)) fitting = count;
    else over = count;
    yield;
  }
  return fitting === 0 ? undefined : { ...line, memories: of(fitting), text: line.withOnly(of(fitting)) };
}

function toProfileLine(
  { promptGuard }: Pick<Ports, "promptGuard">,
  state: UserState,
  { text, memories }: DraftLine,
): ProfileLine {
  const sources = memories.flatMap((memory) => memory.sources.map(({ message }) => message));
  return {
    text: sanitizeForPrompt({ text }, promptGuard),
    memories: memories.map(({ id }) => id),
    sources: [...new Set(sources)].filter((id) => state.messages.has(id)),
    ...(memories.some(({ sensitive }) => sensitive) ? { sensitive: true } : {}),
  };
}

function formatProfile(sections: Profile["sections"]): string {
  return sections
    .map(({ title, lines }) => [title, ...lines.map(({ text }) => `- ${text}`)].join("\n"))
    .join("\n\n");
}

async function groupByKind(
  state: UserState,
  live: readonly Memory[],
): Promise<Pick<Profile, "kinds" | "leftOfKinds">> {
  const memoriesByKind = new Map<Kind, Memory[]>(MEMORY_KINDS.map((kind) => [kind, []]));
  await forEachInSlices(live, (memory) => void memoriesByKind.get(memory.kind)?.push(memory));
  const kinds: { [kind in Kind]?: ShownMemory[] } = {};
  const leftOfKinds: { [kind in Kind]?: number } = {};
  for (const [kind, all] of memoriesByKind) {
    const newest = all.slice(-MAX_PER_KIND);
    if (newest.length > 0) kinds[kind] = newest.map((memory) => toShownMemory(state, memory));
    if (all.length > newest.length) leftOfKinds[kind] = all.length - newest.length;
  }
  return { kinds, leftOfKinds };
}

/**
 * Sorts items by key, stably. Only the keys are sorted, by the built-in sort, and the rest goes step by step.
 * A comparator over 100,000 items would block other work.
 */
function* sortByKey<One, Key extends string | number>(
  all: Iterable<One>,
  keyOf: (one: One) => Key,
): Generator<void, One[], void> {
  const byKey = new Map<Key, One[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = byKey.get(key);
    if (group) group.push(one);
    else byKey.set(key, [one]);
    yield;
  }
  const ordered: One[] = [];
  for (const key of sortKeys([...byKey.keys()])) {
    for (const one of byKey.get(key) ?? []) ordered.push(one);
    yield;
  }
  return ordered;
}

function sortKeys<Key extends string | number>(keys: Key[]): Key[] {
  const numbers = keys.filter((key) => typeof key === "number");
  // Numbers need a typed array: an array's default order is that of texts.
  if (numbers.length === keys.length) return [...Float64Array.from(numbers).sort()] as Key[];
  return keys.sort();
}
