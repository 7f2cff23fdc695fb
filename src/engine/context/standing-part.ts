import { isTrueAt } from "../../domain/memories/current-memories.ts";
import { PROFILE_SECTIONS, type ProfileSection } from "../../domain/memories/profile.ts";
import { MEMORY_KINDS, type Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { estimateTokens, type TextSpan } from "../../domain/text/split-text.ts";
import type { DraftLine } from "../../ports/language/profile-writer.ts";
import type { Delta } from "../../ports/memory-store.ts";
import type { Ports } from "../ports.ts";
import { sanitizeForPrompt } from "../prompt-block.ts";
import { findExclusion, type IndexFilters, statusOfUnit } from "../recall/options.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { TURN_FLAGS } from "../search-index/turn-table.ts";
import { type EndedClaim, selectEnded, toEndedClaims } from "./echoes.ts";
import { findOutdatedSpans } from "./outdated.ts";

/** Token budget of the wishes and of the profile. */
const MAX_WISH_TOKENS = 150;
const MAX_PROFILE_TOKENS = 300;
/** The memories considered: those of the greatest weight. */
const MAX_MEMORIES = 200;
/** The newest messages of the user that are compared with each other, to find what a later one ended. */
const MAX_MESSAGES = 150;

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

/** What is the same for every request, until something is written. */
export interface StandingPart {
  readonly text: string;
  /** Spans of messages that a later message has ended, where neither was read as a memory. */
  readonly outdated: ReadonlyMap<string, readonly TextSpan[]>;
  /** Claims that no longer hold. */
  readonly ended: readonly EndedClaim[];
  /** Whether all messages of the user were compared. */
  readonly isComplete: boolean;
  /** What it was built from. The next one reads only what changed since. */
  readonly basis: StandingBasis;
}

interface StandingBasis {
  readonly revision: number;
  readonly memories: ReadonlyMap<string, Memory>;
  readonly messages: ReadonlyMap<string, Message>;
  /** Names the versions of the memories that `text` was written from, the day and the size. */
  readonly textKey: string;
}

type StandingPorts = Pick<Ports, "store" | "states" | "profileWriter" | "promptGuard" | "outdated">;

interface StandingOptions {
  readonly filters: (searchIndex: SearchIndex) => IndexFilters;
  /** ISO 8601. */
  readonly now: string;
  readonly maxTokens: number;
  /** The part of an earlier revision: of the same scope, with the same filters. */
  readonly before?: StandingPart | undefined;
}

/** Writes the wishes and the short profile, from what holds at a time. */
export async function buildStandingPart(
  ports: StandingPorts,
  scope: Scope,
  { filters, now, maxTokens, before }: StandingOptions,
): Promise<StandingPart> {
  const searchIndex = await ports.states.searchIndex(scope);
  const bounds = filters(searchIndex);
  const memoryIds = selectMemories(searchIndex, bounds);
  const { messageIds, isComplete } = selectMessages(searchIndex, bounds);
  const endedIds = selectEnded(searchIndex, bounds);
  const read = await readRows(
    ports,
    scope,
    { memoryIds: [...memoryIds, ...endedIds], messageIds },
    before?.basis,
  );
  const current = new Set(memoryIds);
  const outdated = await findOutdatedSpans(ports, [...read.messages.values()], {
    messages: [...(before?.basis.messages.values() ?? [])],
    spans: before?.outdated ?? new Map(),
  });
  const memories = [...read.memories.values()].filter(
    (memory) => current.has(memory.id) && isTrueAt(memory, now) && !isOutdated(memory, outdated),
  );
  const versions = memories.map(({ id, version }) => `${id}.${version}`);
  const textKey = [now.slice(0, 10), maxTokens, ...versions].join(" ");
  const text =
    before?.basis.textKey === textKey ? before.text : await writeText(ports, memories, { now, maxTokens });
  return {
    text,
    outdated,
    ended: toEndedClaims(pickRows([...read.memories.values()], endedIds)),
    isComplete,
    basis: { ...limitRows(read), revision: searchIndex.revision, textKey },
  };
}

type Rows = Pick<StandingBasis, "memories" | "messages">;

/** The rows of some ids, in that order. Rows of `before` that did not change are not read again. */
async function readRows(
  { store }: Pick<Ports, "store">,
  scope: Scope,
  {
    memoryIds,
    messageIds,
  }: { readonly memoryIds: readonly string[]; readonly messageIds: readonly string[] },
  before: StandingBasis | undefined,
): Promise<Rows> {
  const known = before
    ? applyDelta(before, await store.since(scope, before.revision, { units: false }))
    : EMPTY;
  const missing = {
    memories: memoryIds.filter((id) => !known.memories.has(id)),
    messages: messageIds.filter((id) => !known.messages.has(id)),
  };
  const read =
    missing.memories.length + missing.messages.length > 0 ? await store.read(scope, missing) : undefined;
  return {
    memories: toRowMap(pickRows([...known.memories.values(), ...(read?.memories ?? [])], memoryIds)),
    messages: toRowMap(pickRows([...known.messages.values(), ...(read?.messages ?? [])], messageIds)),
  };
}

const EMPTY: Rows = { memories: new Map(), messages: new Map() };

/** Rows as they are after a change. */
function applyDelta(rows: Rows, delta: Delta): Rows {
  const memories = new Map(rows.memories);
  const messages = new Map(rows.messages);
  for (const memory of delta.memories) memories.set(memory.id, memory);
  for (const message of delta.messages) messages.set(message.id, message);
  // An altered row is never shown.
  for (const id of [...delta.gone.memories, ...(delta.damaged?.memories ?? [])]) memories.delete(id);
  for (const id of delta.damaged?.messages ?? []) messages.delete(id);
  return { memories, messages };
}

/** The rows of some ids, in the order of the ids. */
function pickRows<Row extends { readonly id: string }>(rows: readonly Row[], ids: readonly string[]): Row[] {
  const byId = toRowMap(rows);
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function toRowMap<Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** Rows are kept up to this size, in characters: messages may be long. */
const MAX_KEPT_CHARACTERS = 100_000;

function limitRows({ memories, messages }: Rows): Rows {
  let characters = 0;
  for (const { text } of memories.values()) characters += text.length;
  for (const { content } of messages.values()) characters += content.length;
  return characters > MAX_KEPT_CHARACTERS ? EMPTY : { memories, messages };
}

/** The ids of the memories that a profile may need, by weight: a scan of numbers, no texts. */
function selectMemories(searchIndex: SearchIndex, filters: IndexFilters): string[] {
  const { memories, slotOfRow, memoryIds } = searchIndex;
  const { importance, confidence, evidence, kind } = memories.columns;
  const found: { readonly row: number; readonly weight: number }[] = [];
  for (let row = 0; row < memories.count; row += 1) {
    const slot = slotOfRow[row] ?? -1;
    if (slot < 0 || findExclusion(searchIndex, slot, filters) !== undefined) continue;
    if (statusOfUnit(searchIndex, slot, filters) !== "current") continue;
    const stated = 1 + Math.log2(evidence[row] as number) / 4;
    const weight = (importance[row] as number) * (confidence[row] as number) * stated;
    found.push({ row, weight: weight + (kind[row] === INSTRUCTION ? INSTRUCTION_WEIGHT : 0) });
  }
  return found
    .sort((one, other) => other.weight - one.weight || other.row - one.row)
    .slice(0, MAX_MEMORIES)
    .map(({ row }) => memoryIds.at(row) ?? "");
}

const INSTRUCTION = MEMORY_KINDS.indexOf("instruction");
/** Wishes come before every other memory. */
const INSTRUCTION_WEIGHT = 2;

/** The ids of the user's newest messages. */
function selectMessages(
  { turns, units }: SearchIndex,
  filters: IndexFilters,
): { messageIds: string[]; isComplete: boolean } {
  const { flags, at, passage } = turns.columns;
  const messageIds: string[] = [];
  for (let turn = turns.count - 1; turn >= 0; turn -= 1) {
    const bits = flags[turn] as number;
    if ((bits & TURN_FLAGS.byUser) === 0 || (bits & TURN_FLAGS.undone) !== 0) continue;
    if (filters.asOf !== undefined && (at[turn] as number) > filters.asOf) continue;
    if ((passage[turn] as number) < 0 || units.count === 0) continue;
    if (messageIds.length === MAX_MESSAGES) return { messageIds, isComplete: false };
    messageIds.push(turns.ids.at(turn) ?? "");
  }
  return { messageIds, isComplete: true };
}

/** Whether every statement of a memory was ended. */
function isOutdated({ sources }: Memory, outdated: StandingPart["outdated"]): boolean {
  return (
    sources.length > 0 &&
    sources.every(({ message, start, end }) =>
      (outdated.get(message) ?? []).some((span) => span.start < end && start < span.end),
    )
  );
}

async function writeText(
  { profileWriter, promptGuard }: Pick<Ports, "profileWriter" | "promptGuard">,
  memories: readonly Memory[],
  { now, maxTokens }: { readonly now: string; readonly maxTokens: number },
): Promise<string> {
  const lines = await profileWriter.buildLines(memories, now);
  const wishes = selectLines(
    lines.filter(({ section }) => section === "instructions"),
    Math.min(MAX_WISH_TOKENS, maxTokens / 4),
    () => 1,
  );
  const about = selectLines(
    lines.filter(({ section }) => section !== "instructions"),
    Math.min(MAX_PROFILE_TOKENS, maxTokens / 4),
    ({ section }) => PRIORITIES[section] ?? 0,
  );
  return [
    formatPart(profileWriter.titleOf("instructions"), wishes, promptGuard),
    formatPart(profileWriter.titleOf("person"), about, promptGuard),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function selectLines(
  lines: readonly DraftLine[],
  maxTokens: number,
  priorityOf: (line: DraftLine) => number,
): DraftLine[] {
  const ranked = lines.toSorted(
    (one, other) => priorityOf(other) * other.weight - priorityOf(one) * one.weight,
  );
  const taken = new Set<DraftLine>();
  let tokens = TITLE_TOKENS;
  for (const line of ranked) {
    const cost = estimateTokens(`- ${line.text}\n`);
    if (tokens + cost > maxTokens || line.text === "") continue;
    taken.add(line);
    tokens += cost;
  }
  return PROFILE_SECTIONS.flatMap((name) => lines.filter((line) => line.section === name && taken.has(line)));
}

const TITLE_TOKENS = 6;

function formatPart(title: string, lines: readonly DraftLine[], promptGuard: Ports["promptGuard"]): string {
  const texts = lines
    .map(({ text }) => sanitizeForPrompt({ text }, promptGuard))
    .filter((text) => text !== "");
  return texts.length === 0 ? "" : [title, ...texts.map((text) => `- ${text}`)].join("\n");
}
