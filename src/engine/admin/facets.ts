import { checkCount } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import { invalid } from "../../errors.ts";
import { FACET_NAMES, type FacetName, type FacetOptions, type Facets } from "../api/listing-types.ts";
import type { Ports } from "../ports.ts";
import { readListContent } from "./known-memories.ts";
import {
  createListFilter,
  listSubjectKeys,
  listSubjectNames,
  selectByWords,
  toSubjectKey,
} from "./list-filter.ts";

/** Number of memories between two yields: the topics of each take some tens of microseconds. */
const SLICE = 50;

/** A value under which memories are counted. `key` tells values apart, `label` is how it was said first. */
interface FacetValue {
  readonly key: string;
  readonly label: string;
}

/**
 * Counts the memories that pass the filters of a list by topic, by person or thing, by kind or by month. A memory may count
 * several times, or not at all. Nothing is stored. Throws `invalid_input` for a wrong option.
 */
export async function countFacets(
  ports: Pick<Ports, "states" | "store" | "clock" | "vocabulary">,
  scope: Scope,
  { by, limit = 50, zone, signal, ...filters }: FacetOptions,
): Promise<Facets> {
  signal?.throwIfAborted();
  if (!FACET_NAMES.includes(by)) throw invalid(`by must be one of ${FACET_NAMES.join(", ")}.`);
  const most = checkCount(limit, "limit", 1, 1000);
  const toMonth = createMonthFormat(zone);
  createListFilter(filters, ports.clock().toISOString());
  const content = await readListContent(ports, scope, filters.knownAt);
  const isListed = createListFilter(filters, content.now);
  const listed = await selectByWords(ports, content.state, filters);
  const found = new Map<string, { count: number; label: string | undefined }>();
  let [total, left] = [0, 0];
  await forEachInSlices(
    listed.memories.values(),
    (memory) => {
      if (!isOfAgent(scope, memory) || !isListed(memory, listed)) return;
      total += 1;
      const values = by === "month" ? [toPlainValue(toMonth(memory.at))] : listValues(ports, by, memory);
      if (values.length === 0) left += 1;
      for (const { key, label } of values) {
        const known = found.get(key);
        found.set(key, { count: (known?.count ?? 0) + 1, label: known?.label ?? label });
      }
    },
    SLICE,
  );
  const items = [...found.values()].flatMap(({ count, label }) => (label ? [{ value: label, count }] : []));
  return { items: items.sort(getOrder(by)).slice(0, most), total, left };
}

/** The values of a memory. One without a label counts for those that have the same key and a label. */
function listValues(
  { vocabulary }: Pick<Ports, "vocabulary">,
  by: Exclude<FacetName, "month">,
  memory: Memory,
): { readonly key: string; readonly label: string | undefined }[] {
  if (by === "topic") return vocabulary.listTopics(memory).map(toPlainValue);
  if (by === "kind") return [toPlainValue(memory.kind)];
  const labels = listNames(memory);
  return listSubjectKeys(memory).map((key) => ({
    key,
    label: labels.find((one) => one.key === key)?.label,
  }));
}

/** Gives the function that tells the month of a time ("2026-03"), in a time zone or in UTC. */
function createMonthFormat(zone: string | undefined): (time: string) => string {
  if (zone === undefined) return (time) => time.slice(0, 7);
  const format = createZoneFormat(zone);
  return (time) => {
    const parts = format.formatToParts(Date.parse(time));
    const part = (name: "year" | "month"): string => parts.find(({ type }) => type === name)?.value ?? "";
    return `${part("year")}-${part("month")}`;
  };
}

function createZoneFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit" });
  } catch {
    throw invalid('zone is not a time zone. Use a name such as "Europe/Lisbon".');
  }
}

const toPlainValue = (value: string): FacetValue => ({ key: value, label: value });

/** The persons and things that a memory names: its subject and whose that is, and its value if that is a name. */
function listNames({ claim }: Memory): FacetValue[] {
  if (!claim) return [];
  const names = [...listSubjectNames(claim.subject), ...(isName(claim.value) ? [claim.value] : [])];
  return names.map((label) => ({ key: toSubjectKey(label), label }));
}

/** The most words of a name. */
const MAX_NAME_WORDS = 4;

/** "Eva", "Marie Curie": some words that begin with a capital letter. */
function isName(value: string): boolean {
  const words = value.trim().split(/\s+/);
  return words.length <= MAX_NAME_WORDS && words.every((word) => /^\p{Lu}/u.test(word));
}

interface CountedValue {
  readonly value: string;
  readonly count: number;
}

/** Months: the newest first. All others: the most frequent first. */
function getOrder(by: FacetName): (one: CountedValue, other: CountedValue) => number {
  const compareValues = (one: CountedValue, other: CountedValue): number =>
    one.value < other.value ? -1 : 1;
  if (by === "month") return (one, other) => -compareValues(one, other);
  return (one, other) => other.count - one.count || compareValues(one, other);
}
