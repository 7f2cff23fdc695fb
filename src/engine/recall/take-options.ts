import { checkWhere } from "../../domain/filter.ts";
import { checkCount, checkName, checkShare, checkText } from "../../domain/limits.ts";
import { KINDS } from "../../domain/memory.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { isoTime } from "../../domain/time.ts";
import { invalid } from "../../errors.ts";
import { type Profile, profileOf } from "../rank/profiles.ts";
import type { Bounds } from "./bounds.ts";

/** A recall as it was asked for, checked, with every default filled in. */
export interface Wanted {
  readonly query: string;
  readonly limit: number;
  readonly maxTokens: number;
  readonly minScore: number;
  readonly profile: Profile;
  /** In so many days recency halves. */
  readonly decayDays: number;
  readonly bounds: Bounds;
}

const TYPES = ["memory", "passage"] as const;

const KNOWN: ReadonlySet<string> = new Set([
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
export function takeOptions(
  scope: Scope,
  query: string,
  options: RecallOptions,
  { now, decayDays = DECAY_DAYS }: { readonly now: string; readonly decayDays?: number | undefined },
): Wanted {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name))
      throw invalid(`recall does not know one of its options. Known: ${[...KNOWN].join(", ")}.`);
  }
  // A misspelt filter is an error even where there is nothing to filter.
  if (options.where !== undefined) checkWhere(options.where);
  return {
    query: checkText(query, "query"),
    limit: checkCount(options.limit ?? 10, "limit", 1, 1000),
    maxTokens: checkCount(options.maxTokens ?? 4000, "maxTokens", 0, 1_000_000),
    minScore: checkShare(options.minScore ?? 0, "minScore"),
    profile: profileOf(options.profile ?? "default"),
    decayDays,
    bounds: takeBounds(scope, options, now),
  };
}

function takeBounds(scope: Scope, options: RecallOptions, now: string): Bounds {
  const session = options.session === undefined ? scope.session : checkName(options.session, "session");
  return {
    now,
    ...(options.asOf === undefined ? {} : { asOf: isoTime(options.asOf, "asOf") }),
    ...(options.knownAt === undefined ? {} : { knownAt: isoTime(options.knownAt, "knownAt") }),
    ...(session === undefined ? {} : { session }),
    ...(scope.agent === undefined ? {} : { agent: scope.agent }),
    ...(options.kinds ? { kinds: someOf(options.kinds, KINDS, "kinds") } : {}),
    ...(options.types ? { types: someOf(options.types, TYPES, "types") } : {}),
    ...(options.where ? { where: options.where } : {}),
  };
}

function someOf<Name extends string>(
  given: readonly Name[],
  known: readonly Name[],
  name: string,
): Set<Name> {
  if (Array.isArray(given) && given.every((one) => known.includes(one))) return new Set(given);
  throw invalid(`${name} must be a list of some of ${known.join(", ")}.`);
}
