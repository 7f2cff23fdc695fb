import { matches, type Where } from "../../domain/filter.ts";
import { MemoryError } from "../../errors.ts";
import type { ChromaWhere } from "./client.ts";

const TEXTS: readonly string[] = ["type", "owner", "kind", "session"];
const OF_TEXTS: readonly string[] = ["$eq", "$ne", "$in", "$nin"];
const OF_NUMBERS: readonly string[] = [...OF_TEXTS, "$gt", "$gte", "$lt", "$lte"];

/**
 * A filter in Chroma's form: one field or one operator at a place, so that "and" is always said. Nothing for a filter that
 * lets everything through. `invalid_input` for an unknown operator; `unsupported` for what Chroma cannot say, or says
 * otherwise than `matches` does: `$not`, `$exists`, lists of one kind mixed with another, numbers with a fraction (Chroma
 * holds whole numbers and others apart), fields that no search unit has.
 */
export function chromaWhere(where: Where = {}): ChromaWhere | undefined {
  matches(where, {});
  const all = clausesOf(where);
  return all.length === 0 ? undefined : joined("$and", all);
}

function clausesOf(where: Where): ChromaWhere[] {
  return Object.entries(where).flatMap(([field, wanted]) => {
    if (field === "$and") return listOf(wanted).flatMap(clausesOf);
    if (field === "$or") {
      const ways = listOf(wanted).map((way) => chromaWhere(way));
      // A way that lets everything through makes the others needless.
      return ways.includes(undefined) ? [] : [joined("$or", ways as ChromaWhere[])];
    }
    if (field.startsWith("$") || (field !== "at" && !TEXTS.includes(field))) throw unsaid(field);
    if (typeof wanted !== "object" || wanted === null) return [clause(field, "$eq", wanted)];
    return Object.entries(wanted).map(([operator, value]) => clause(field, operator, value));
  });
}

function clause(field: string, operator: string, value: unknown): ChromaWhere {
  const isNumber = field === "at";
  if (!(isNumber ? OF_NUMBERS : OF_TEXTS).includes(operator)) throw unsaid(`${field} ${operator}`);
  const values = operator === "$in" || operator === "$nin" ? listOf(value) : [value];
  const fits = (one: unknown): boolean =>
    isNumber ? Number.isSafeInteger(one) : typeof one === "string" && one !== "";
  if (values.length === 0 || !values.every(fits)) throw unsaid(`${field} ${operator} with such a value`);
  return { [field]: { [operator]: value } } as ChromaWhere;
}

/** Chroma wants two at the least under "$and" and "$or". */
function joined(operator: "$and" | "$or", all: readonly ChromaWhere[]): ChromaWhere {
  const [first] = all;
  if (!first) throw unsaid(`${operator} of nothing`);
  return all.length === 1 ? first : ({ [operator]: all } as ChromaWhere);
}

function listOf(value: unknown): Where[] {
  return Array.isArray(value) ? value : [];
}

function unsaid(what: string): MemoryError {
  return new MemoryError(
    "unsupported",
    `where: Chroma cannot filter by ${what}. Leave it out, and filter the hits.`,
  );
}
