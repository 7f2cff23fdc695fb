import { checkCount } from "../../domain/limits.ts";
import { KINDS, type Kind, type Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { estimateTokens } from "../../domain/tokens.ts";
import { holdsNow, isAhead } from "../answer/held.ts";
import { eachInSlices, filterInSlices, inSlices, mapInSlices } from "../in-slices.ts";
import { injected } from "../injected.ts";
import type { Ports } from "../ports.ts";
import { shown } from "../show.ts";
import type { Profile, ProfileLine, ProfileOptions, ShownMemory } from "../surface.ts";
import type { UserState } from "../user-state.ts";
import { inKeyOrder } from "./in-key-order.ts";
import { type DraftLine, linesOf, weightOf } from "./lines.ts";
import { SECTIONS, type SectionName, TITLES } from "./sections.ts";

/** The size of a profile where none is named, in tokens. */
const MOST_TOKENS = 2000;
/** So many of each kind, the newest, stand in a profile by themselves; the rest is in the list of memories. */
const MOST_OF_KIND = 100;
/** What comes first where there is not room for all. */
const FIRST: { readonly [name in SectionName]?: number } = {
  person: 3,
  instructions: 3,
  people: 1.3,
  health: 1.3,
};

/**
 * What holds now about the user as a short page: grouped, merged into sentences, the most important and best known
 * first, and without what is over. The same bytes while nothing changes and no date in it passes.
 */
export async function profile(
  ports: Pick<Ports, "states" | "clock">,
  scope: Scope,
  options: ProfileOptions = {},
): Promise<Profile> {
  options.signal?.throwIfAborted();
  const maxTokens = checkCount(options.maxTokens ?? MOST_TOKENS, "maxTokens", 1, 1_000_000);
  const state = await ports.states.of(scope);
  const now = ports.clock().toISOString();
  const live = await filterInSlices(
    state.memories.values(),
    (memory) => isShown(memory, now) && !state.damaged.has(memory.id),
  );
  const ordered = await inSlices(inOrder(await linesOf(live, now)));
  const { lines, left } = await inSlices(fitting(ordered, maxTokens));
  const sections: Profile["sections"][number][] = [];
  for (const name of SECTIONS) {
    const own = lines.filter(({ section }) => section === name);
    if (own.length === 0) continue;
    sections.push({
      name,
      title: TITLES[name],
      lines: await mapInSlices(own, (line) => lineOf(state, line)),
    });
  }
  return { user: scope.user, text: textOf(sections), sections, left, ...(await byKind(state, live)) };
}

function isShown(memory: Memory, now: string): boolean {
  if (memory.quarantined || (memory.expiresAt !== undefined && memory.expiresAt <= now)) return false;
  return holdsNow(memory, now) || (memory.status === "current" && isAhead(memory, now));
}

/** Plans by their day; all else by weight, and among equals as it was first told. */
function* inOrder(lines: readonly DraftLine[]): Generator<void, DraftLine[], void> {
  const ordered: DraftLine[] = [];
  const bySection = Map.groupBy(lines, ({ section }) => section);
  for (const section of SECTIONS) {
    const own = bySection.get(section) ?? [];
    const placed =
      section === "plans"
        ? inKeyOrder(own, dayOf)
        : inKeyOrder<DraftLine, number>(own, ({ weight }) => -weight);
    for (const line of yield* placed) ordered.push(line);
  }
  return ordered;
}

function dayOf({ memories }: DraftLine): string {
  return memories[0]?.when ?? memories[0]?.validFrom ?? "9";
}

/** The lines that there is room for, the weightiest first, in the order given. */
function* fitting(
  lines: readonly DraftLine[],
  maxTokens: number,
): Generator<void, { lines: DraftLine[]; left: number }, void> {
  const ranked = yield* inKeyOrder<DraftLine, number>(
    lines,
    ({ weight, section }) => -weight * (FIRST[section] ?? 1),
  );
  const taken = new Map<DraftLine, DraftLine>();
  const titled = new Set<SectionName>();
  let size = 0;
  for (const line of ranked) {
    const title = titled.has(line.section) ? 0 : estimateTokens(`\n${TITLES[line.section]}\n`);
    const room = maxTokens - size - title;
    const fits = isWithin(line.text, room) ? line : yield* shortened(line, room);
    yield;
    if (!fits) continue;
    size += costOf(fits.text) + title;
    taken.set(line, fits);
    titled.add(line.section);
  }
  const whole = [...taken].filter(([line, fits]) => line === fits).length;
  return { lines: lines.flatMap((line) => taken.get(line) ?? []), left: lines.length - whole };
}

function costOf(text: string): number {
  return estimateTokens(`- ${text}\n`);
}

/** Whether a text takes no more than so many tokens; it is counted only where it is not far too long. */
function isWithin(text: string, room: number): boolean {
  return text.length <= room * LETTERS && costOf(text) <= room;
}

/** No token has more letters than this. */
const LETTERS = 4;

/** A line that merges many memories, with as many of them as there is room for: the weightiest, and of equals the newest. */
function* shortened(line: DraftLine, room: number): Generator<void, DraftLine | undefined, void> {
  if (room <= 0) return undefined;
  const best = yield* inKeyOrder<Memory, number>(line.memories.toReversed(), (memory) => -weightOf(memory));
  const of = (count: number): readonly Memory[] => {
    const chosen = new Set(best.slice(0, count));
    return line.memories.filter((memory) => chosen.has(memory));
  };
  // From one on, twice as many each time: what does not fit by far is not put together.
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

function lineOf(state: UserState, { text, memories }: DraftLine): ProfileLine {
  const sources = memories.flatMap((memory) => memory.sources.map(({ message }) => message));
  return {
    text: injected({ text }),
    memories: memories.map(({ id }) => id),
    sources: [...new Set(sources)].filter((id) => state.messages.has(id)),
    ...(memories.some(({ sensitive }) => sensitive) ? { sensitive: true } : {}),
  };
}

function textOf(sections: Profile["sections"]): string {
  return sections
    .map(({ title, lines }) => [title, ...lines.map(({ text }) => `- ${text}`)].join("\n"))
    .join("\n\n");
}

async function byKind(
  state: UserState,
  live: readonly Memory[],
): Promise<Pick<Profile, "kinds" | "leftOfKinds">> {
  const held = new Map<Kind, Memory[]>(KINDS.map((kind) => [kind, []]));
  await eachInSlices(live, (memory) => void held.get(memory.kind)?.push(memory));
  const kinds: { [kind in Kind]?: ShownMemory[] } = {};
  const leftOfKinds: { [kind in Kind]?: number } = {};
  for (const [kind, all] of held) {
    const newest = all.slice(-MOST_OF_KIND);
    if (newest.length > 0) kinds[kind] = newest.map((memory) => shown(state, memory));
    if (all.length > newest.length) leftOfKinds[kind] = all.length - newest.length;
  }
  return { kinds, leftOfKinds };
}
