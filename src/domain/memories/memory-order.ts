import type { Memory } from "../memory.ts";

export const LIST_ORDERS = ["newest", "oldest", "changed", "importance", "confidence", "text"] as const;
/**
 * The order of a list of memories. `newest` and `oldest`: by when it was said. `changed`: stored last first. `importance` and
 * `confidence`: highest first. `text`: by the alphabet.
 */
export type ListOrder = (typeof LIST_ORDERS)[number];

type OrderedFields = Pick<Memory, "id" | "at" | "storedAt" | "importance" | "confidence" | "text">;
type Comparator = (one: OrderedFields, other: OrderedFields) => number;

/** Gives the comparator of an order. Ties are in the order of `newest`. */
export function getComparator(order: ListOrder): Comparator {
  return COMPARATORS[order];
}

const compareNewest: Comparator = (one, other) =>
  compareText(other.at, one.at) || compareText(other.id, one.id);

const COMPARATORS: { readonly [order in ListOrder]: Comparator } = {
  newest: compareNewest,
  oldest: (one, other) => compareNewest(other, one),
  changed: (one, other) => compareText(other.storedAt, one.storedAt) || compareNewest(one, other),
  importance: (one, other) => other.importance - one.importance || compareNewest(one, other),
  confidence: (one, other) => other.confidence - one.confidence || compareNewest(one, other),
  text: (one, other) =>
    compareText(one.text.toLowerCase(), other.text.toLowerCase()) || compareNewest(one, other),
};

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
