import { invalid } from "../../errors.ts";
import { checkCount } from "../limits.ts";
import { expandKinds, KIND_NAMES, type Kind, type KindGroup } from "../memory.ts";

/** After how many days memories expire, by kind or group of kinds. 0: they never do. */
export type KindExpiry = { readonly [kind in Kind | KindGroup]?: number };

/**
 * When memories expire that are stored without an expiry. A rule for a kind precedes one for its group, and those of a project
 * precede those for all.
 */
export interface ExpiryPolicy {
  /** Days after a memory is stored or said again, by kind or group: `{ context: 7, episodic: 90 }`. */
  readonly days?: KindExpiry;
  /** The same for single projects, by name. */
  readonly projects?: { readonly [project: string]: KindExpiry };
}

/** How a policy is written in a setting, for messages. */
export const EXPIRY_LIST_EXAMPLE = "context=7,commitment=90,acme/context=1";

const MAX_DAYS = 36_500;
const DAY_MS = 86_400_000;
const RULE = /^(?:(.{1,200})\/)?([a-z]+)=(\d{1,5})$/;

/** Parses a list such as `EXPIRY_LIST_EXAMPLE`; undefined if it is none, or names a kind twice. */
export function parseExpiryList(text: string): ExpiryPolicy | undefined {
  const days: { [kind: string]: number } = {};
  const projects: { [project: string]: { [kind: string]: number } } = {};
  for (const part of text.split(",")) {
    const [, project, kind = "", count = ""] = RULE.exec(part.trim()) ?? [];
    if (project !== undefined) projects[project] ??= {};
    const rules = project === undefined ? days : projects[project];
    if (!isKindName(kind) || Number(count) > MAX_DAYS || !rules || Object.hasOwn(rules, kind))
      return undefined;
    rules[kind] = Number(count);
  }
  return { days, projects };
}

/** Checks a policy of a caller. Throws `invalid_input` for an unknown kind or a wrong number of days. */
export function checkExpiryPolicy(policy: ExpiryPolicy): ExpiryPolicy {
  for (const rules of [policy.days ?? {}, ...Object.values(policy.projects ?? {})]) {
    for (const [kind, days] of Object.entries(rules)) {
      if (!isKindName(kind)) throw invalid(`expiry: the kinds are ${KIND_NAMES.join(", ")}.`);
      checkCount(days, `expiry of ${kind}`, 0, MAX_DAYS);
    }
  }
  return policy;
}

function isKindName(name: string): name is Kind | KindGroup {
  return (KIND_NAMES as readonly string[]).includes(name);
}

/** When a memory of a kind expires that is stored at a time (ISO 8601); undefined if never. */
export function computeExpiry(
  policy: ExpiryPolicy,
  { project, kind, at }: { readonly project: string; readonly kind: Kind; readonly at: string },
): string | undefined {
  const own =
    policy.projects && Object.hasOwn(policy.projects, project) ? policy.projects[project] : undefined;
  const days = findDays(own, kind) ?? findDays(policy.days, kind);
  return days ? new Date(Date.parse(at) + days * DAY_MS).toISOString() : undefined;
}

function findDays(rules: KindExpiry | undefined, kind: Kind): number | undefined {
  if (!rules) return undefined;
  if (rules[kind] !== undefined) return rules[kind];
  const group = KIND_NAMES.find((name) => rules[name] !== undefined && expandKinds([name]).has(kind));
  return group && rules[group];
}
