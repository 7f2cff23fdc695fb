import { checkWhere } from "../../domain/filter.ts";
import { checkCount, checkName, checkShare, checkText } from "../../domain/limits.ts";
import { MEMORY_KINDS } from "../../domain/memory.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid } from "../../errors.ts";
import { findRankingProfile, type RankingProfile } from "../rank/profiles.ts";
import type { RecallFilters } from "./bounds.ts";

/** A recall as it was asked for, checked, with every default filled in. */
export interface ParsedRecallOptions {
  readonly query: string;
  readonly limit: number;
  readonly maxTokens: number;
  readonly minScore: number;
  readonly profile: RankingProfile;
  /** In so many days recency halves. */
  readonly decayDays: number;
  readonly filters: RecallFilters;
}

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
  "minScore",
  "explain",
  "profile",
  "signal",
] satisfies (keyof RecallOptions)[]);

/** What was said so long ago counts half as much for being new. */
export const DECAY_DAYS = 90;

/** Checks a query and its options; `invalid_input` for each that is wrong or unknown. `now` is ISO 8601. */
export function parseRecallOptions(
  scope: Scope,
  query: string,
  options: RecallOptions,
  { now, decayDays = DECAY_DAYS }: { readonly now: string; readonly decayDays?: number | undefined },
): ParsedRecallOptions {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.has(name))
      throw invalid(`recall does not know one of its options. Known: ${[...OPTION_NAMES].join(", ")}.`);
  }
  // A misspelt filter is an error even where there is nothing to filter.
  if (options.where !== undefined) checkWhere(options.where);
  return {
    query: checkText(query, "query"),
    limit: checkCount(options.limit ?? 10, "limit", 1, 1000),
    maxTokens: checkCount(options.maxTokens ?? 4000, "maxTokens", 0, 1_000_000),
    minScore: checkShare(options.minScore ?? 0, "minScore"),
    profile: findRankingProfile(options.profile ?? "default"),
    decayDays,
    filters: parseFilters(scope, options, now),
  };
}

function parseFilters(scope: Scope, options: RecallOptions, now: string): RecallFilters {
  const session = options.session === undefined ? scope.session : checkName(options.session, "session");
  return {
    now,
    ...(options.asOf === undefined ? {} : { asOf: toIsoTime(options.asOf, "asOf") }),
    ...(options.knownAt === undefined ? {} : { knownAt: toIsoTime(options.knownAt, "knownAt") }),
    ...(session === undefined ? {} : { session }),
    ...(scope.agent === undefined ? {} : { agent: scope.agent }),
    ...(options.kinds ? { kinds: parseSet(options.kinds, MEMORY_KINDS, "kinds") } : {}),
    ...(options.types ? { types: parseSet(options.types, ITEM_TYPES, "types") } : {}),
    ...(options.where ? { where: options.where } : {}),
  };
}

function parseSet<Name extends string>(
  given: readonly Name[],
  known: readonly Name[],
  name: string,
): Set<Name> {
  if (Array.isArray(given) && given.every((one) => known.includes(one))) return new Set(given);
  throw invalid(`${name} must be a list of some of ${known.join(", ")}.`);
}
