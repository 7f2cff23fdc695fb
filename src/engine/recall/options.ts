import { checkWhere, type Where } from "../../domain/filters/metadata-filter.ts";
import { checkWhereText, type WhereText } from "../../domain/filters/text-filter.ts";
import { checkCount, checkName, checkShare, checkText } from "../../domain/limits.ts";
import { expandKinds, KIND_NAMES, type Kind, MEMORY_KINDS, type Status } from "../../domain/memory.ts";
import type { RankingWeights, RecallOptions } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid } from "../../errors.ts";
import { MEMORY_FLAGS, STATUSES } from "../search-index/memory-table.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { TURN_FLAGS } from "../search-index/turn-table.ts";
import { findRankingProfile, type RankingProfile } from "./scoring.ts";

/** The checked options of a recall, with all defaults filled in. */
export interface ParsedRecallOptions {
  readonly query: string;
  readonly limit: number;
  readonly maxTokens: number;
  readonly minScore: number;
  readonly profile: RankingProfile;
  readonly weights?: RankingWeights | undefined;
  /** Half-life of recency, in days. */
  readonly decayDays: number;
  /** Whether memories of other users may be among the items. */
  readonly isShared: boolean;
  readonly filters: RecallFilters;
}

export const DEFAULT_LIMIT = 10;
/** The default size of the context of a recall, in tokens. */
export const DEFAULT_MAX_TOKENS = 4000;

const ITEM_TYPES = ["memory", "passage"] as const;

const OPTION_NAMES: ReadonlySet<string> = new Set([
  "limit",
  "maxTokens",
  "kinds",
  "types",
  "asOf",
  "knownAt",
  "session",
  "where",
  "whereText",
  "minScore",
  "explain",
  "profile",
  "weights",
  "record",
  "shared",
  "signal",
] satisfies (keyof RecallOptions)[]);

/** Age in days at which a statement's recency is halved. */
export const DECAY_DAYS = 90;

/**
 * Checks a query and its options. Throws `invalid_input` for a wrong or unknown option. `now` is ISO 8601.
 */
export function parseRecallOptions(
  scope: Scope,
  query: string,
  options: RecallOptions,
  { now, decayDays = DECAY_DAYS }: { readonly now: string; readonly decayDays?: number | undefined },
): ParsedRecallOptions {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.has(name))
      throw invalid(`unknown recall option. Known options: ${[...OPTION_NAMES].join(", ")}.`);
  }
  // A misspelt filter is an error even if there is nothing to filter.
  if (options.where !== undefined) checkWhere(options.where);
  if (options.whereText !== undefined) checkWhereText(options.whereText);
  const filters = parseFilters(scope, options, now);
  return {
    query: checkText(query, "query"),
    limit: checkCount(options.limit ?? DEFAULT_LIMIT, "limit", 1, 1000),
    maxTokens: checkCount(options.maxTokens ?? DEFAULT_MAX_TOKENS, "maxTokens", 0, 1_000_000),
    minScore: checkShare(options.minScore ?? 0, "minScore"),
    profile: findRankingProfile(options),
    weights: options.weights,
    decayDays,
    isShared: parseShared(options.shared) && [filters.session, filters.asOf, filters.knownAt].every(isAbsent),
    filters,
  };
}

const isAbsent = (value: unknown): boolean => value === undefined;

function parseShared(shared: unknown = true): boolean {
  if (typeof shared === "boolean") return shared;
  throw invalid("shared can only be true or false.");
}

function parseFilters(scope: Scope, options: RecallOptions, now: string): RecallFilters {
  const session = options.session === undefined ? scope.session : checkName(options.session, "session");
  return {
    now,
    ...(options.asOf === undefined ? {} : { asOf: toIsoTime(options.asOf, "asOf") }),
    ...(options.knownAt === undefined ? {} : { knownAt: toIsoTime(options.knownAt, "knownAt") }),
    ...(session === undefined ? {} : { session }),
    ...(scope.agent === undefined ? {} : { agent: scope.agent }),
    ...(options.kinds ? { kinds: expandKinds([...parseSet(options.kinds, KIND_NAMES, "kinds")]) } : {}),
    ...(options.types ? { types: parseSet(options.types, ITEM_TYPES, "types") } : {}),
    ...(options.where ? { where: options.where } : {}),
    ...(options.whereText ? { whereText: options.whereText } : {}),
  };
}

function parseSet<Name extends string>(
  given: readonly Name[],
  known: readonly Name[],
  name: string,
): Set<Name> {
  if (Array.isArray(given) && given.every((one) => known.includes(one))) return new Set(given);
  throw invalid(`${name} must be a list with values from ${known.join(", ")}.`);
}

/** Limits on what a recall may return. Times are ISO 8601. */
interface RecallFilters {
  readonly now: string;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly kinds?: ReadonlySet<Kind>;
  readonly types?: ReadonlySet<"memory" | "passage">;
  readonly where?: Where;
  readonly whereText?: WhereText;
}

/**
 * The filters as numbers of an index: times in milliseconds; an unknown session or agent gets an unused
 * number.
 */
export interface IndexFilters {
  readonly bounds: RecallFilters;
  readonly now: number;
  readonly asOf: number | undefined;
  readonly knownAt: number | undefined;
  readonly session: number | undefined;
  readonly agent: number | undefined;
  /** Whether the metadata filter accepts a unit, by slot. */
  readonly passes: ((slot: number) => boolean) | undefined;
}

const UNKNOWN_NAME = -2;

export function toIndexFilters(
  { names }: SearchIndex,
  bounds: RecallFilters,
  passes: ((slot: number) => boolean) | undefined,
): IndexFilters {
  const time = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : Date.parse(text);
  const number = (name: string | undefined): number | undefined =>
    name === undefined ? undefined : (names.find(name) ?? UNKNOWN_NAME);
  return {
    bounds,
    now: Date.parse(bounds.now),
    asOf: time(bounds.asOf),
    knownAt: time(bounds.knownAt),
    session: number(bounds.session),
    agent: number(bounds.agent),
    passes,
  };
}

/** Why a unit is excluded, in words for a person; undefined if it is not. */
export function findExclusion(
  searchIndex: SearchIndex,
  slot: number,
  limits: IndexFilters,
): string | undefined {
  const { row, piece } = searchIndex.units.columns;
  const memory = row[slot] as number;
  if (memory < 0 && (piece[slot] as number) < 0) return "gone";
  const why =
    memory >= 0
      ? findMemoryExclusion(searchIndex, memory, limits)
      : findPassageExclusion(searchIndex, slot, limits);
  if (why) return why;
  return limits.passes && !limits.passes(slot) ? "the filter does not let it through" : undefined;
}

function findMemoryExclusion(
  searchIndex: SearchIndex,
  row: number,
  limits: IndexFilters,
): string | undefined {
  const { bounds, now, asOf, knownAt, session, agent } = limits;
  const { columns } = searchIndex.memories;
  if (bounds.types && !bounds.types.has("memory")) return "only passages were asked for";
  if (bounds.kinds && !bounds.kinds.has(MEMORY_KINDS[columns.kind[row] as number] as Kind))
    return "another kind was asked for";
  if (((columns.flags[row] as number) & MEMORY_FLAGS.quarantined) !== 0) return "quarantined";
  if ((columns.expiresAt[row] as number) <= now) return "expired";
  const from = columns.validFrom[row] as number;
  if (isAfter(Number.isNaN(from) ? beginOf(columns, row) : from, asOf)) return "not yet true then";
  if (isAfter(columns.storedAt[row] as number, knownAt)) return "not yet known then";
  if (agent !== undefined && columns.agent[row] !== agent) return "another agent's";
  if (session !== undefined && columns.session[row] !== session && !wasSaidIn(searchIndex, row, session))
    return "another session";
  return undefined;
}

/** A statement made about the past has an open beginning. */
function beginOf({ validTo, at }: SearchIndex["memories"]["columns"], row: number): number {
  const toldAt = at[row] as number;
  return (validTo[row] as number) <= toldAt ? Number.NEGATIVE_INFINITY : toldAt;
}

function wasSaidIn({ memories, turns }: SearchIndex, row: number, session: number): boolean {
  const { sources } = memories;
  for (
    let place = memories.columns.sources[row] as number;
    place >= 0;
    place = sources.nextOfRow[place] as number
  ) {
    if (turns.columns.sessionId[sources.turn[place] as number] === session) return true;
  }
  return false;
}

function findPassageExclusion(
  { units, turns }: SearchIndex,
  slot: number,
  limits: IndexFilters,
): string | undefined {
  const { bounds, asOf, knownAt, session, agent } = limits;
  const turn = units.columns.turn[slot] as number;
  const { columns } = turns;
  if (bounds.types && !bounds.types.has("passage")) return "only memories were asked for";
  if (bounds.kinds) return "another kind was asked for";
  if (((columns.flags[turn] as number) & TURN_FLAGS.undone) !== 0) return "undone";
  if (isAfter(columns.at[turn] as number, asOf)) return "not yet said then";
  if (isAfter(columns.storedAt[turn] as number, knownAt)) return "not yet known then";
  if (agent !== undefined && columns.agent[turn] !== agent) return "another agent's";
  if (session !== undefined && columns.sessionId[turn] !== session) return "another session";
  return undefined;
}

function isAfter(time: number, bound: number | undefined): boolean {
  return bound !== undefined && time > bound;
}

const EVENT_KIND = MEMORY_KINDS.indexOf("event");

type StatusTimes = Pick<IndexFilters, "now" | "asOf" | "knownAt">;

/** The status of a unit now, or at the time that the recall asks about. */
export function statusOfUnit(searchIndex: SearchIndex, slot: number, times: StatusTimes): Status {
  const row = searchIndex.units.columns.row[slot] as number;
  return row >= 0 ? statusOfMemory(searchIndex, row, times) : statusOfPassage(searchIndex, slot, times);
}

/** The status of a memory, by its row, at that time. */
export function statusOfMemory(
  { memories }: SearchIndex,
  row: number,
  { now, asOf, knownAt }: StatusTimes,
): Status {
  const { columns } = memories;
  const status = STATUSES[columns.status[row] as number] as Status;
  if (status === "retracted") return "retracted";
  const to = columns.validTo[row] as number;
  // An event that has ended is still true.
  if (status === "current" && columns.kind[row] === EVENT_KIND) return status;
  if (to <= (asOf ?? knownAt ?? now)) return "superseded";
  // A memory that was ended explicitly is over, whatever the clock says now: the clock may have run back, or
  // belong to another server.
  const isOverNow = (asOf ?? knownAt) === undefined && status === "superseded";
  if (isOverNow && to <= (columns.storedAt[row] as number)) return "superseded";
  // A memory that ends later is still current, whatever was said about the time after it.
  return Number.isNaN(to) ? status : "current";
}

/**
 * The status of a passage: it has ended if every memory read from it has ended. A passage without memories
 * speaks for the time at which it was said, and is current.
 */
function statusOfPassage(searchIndex: SearchIndex, slot: number, times: StatusTimes): Status {
  const { memories, turns, units } = searchIndex;
  const { row, nextOfTurn } = memories.sources;
  const turn = units.columns.turn[slot] as number;
  let ended: Status | undefined;
  for (let place = turns.columns.sources[turn] as number; place >= 0; place = nextOfTurn[place] as number) {
    const memory = row[place] as number;
    if (memory < 0 || !isWithin(searchIndex, slot, place) || !isStatedAt(searchIndex, place)) continue;
    const status = statusOfMemory(searchIndex, memory, times);
    if (status === "current") return "current";
    if (ended !== "superseded") ended = status;
  }
  return ended ?? "current";
}

/** Whether a source lies within a passage. */
function isWithin({ memories: { sources }, units }: SearchIndex, slot: number, place: number): boolean {
  return (
    (sources.start[place] as number) < (units.columns.end[slot] as number) &&
    (sources.end[place] as number) > (units.columns.start[slot] as number)
  );
}

/**
 * Whether the words of a source state its memory, so that they end with it. The words that ended a memory do not. Another
 * memory replaces a merged one and none an archived one; the words stay valid.
 */
export function isStatedAt({ memories }: SearchIndex, place: number): boolean {
  const { sources, columns } = memories;
  const row = sources.row[place] as number;
  const flags = columns.flags[row] as number;
  if ((flags & (MEMORY_FLAGS.quarantined | MEMORY_FLAGS.archived)) !== 0) return false;
  const isLast = columns.sources[row] === place;
  const isOnly = (sources.nextOfRow[columns.sources[row] as number] as number) < 0;
  const isSucceeded = (flags & MEMORY_FLAGS.succeeded) !== 0;
  return columns.status[row] === 0 || isSucceeded || !isLast || isOnly;
}
