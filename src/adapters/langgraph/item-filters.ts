import { invalid } from "../../errors.ts";

/** A condition on namespaces: how they begin or end. "*" matches any label. */
interface NamespaceCondition {
  readonly matchType: string;
  readonly path: readonly string[];
}

/** Maximum number of labels in a namespace. */
const MAX_LABELS = 32;
/** Bytes of a namespace and of a key. Longer names fit into no metadata that is indexed. */
const MAX_NAME_BYTES = 480;

/** Throws `invalid_input` for a namespace that no store of LangGraph accepts. A search may name the empty one. */
export function checkNamespace(namespace: readonly string[], use: "write" | "read"): void {
  if (namespace.length === 0 && use === "write") throw invalid("A namespace must have a label.");
  if (namespace.length > MAX_LABELS) throw invalid(`A namespace has too many labels. Limit: ${MAX_LABELS}.`);
  if (namespace[0] === "langgraph" && use === "write")
    throw invalid('The first label of a namespace must not be "langgraph": it is reserved.');
  for (const label of namespace) {
    if (typeof label !== "string" || label === "" || /[.:\0]/.test(label))
      throw invalid('A label of a namespace must be text without ".", ":" and NUL, and not empty.');
  }
  checkLength("namespace", JSON.stringify(namespace));
}

export function checkKey(key: unknown): void {
  if (typeof key !== "string") throw invalid("The key of an item must be text.");
  checkLength("key", key);
}

function checkLength(what: string, text: string): void {
  if (Buffer.byteLength(text) > MAX_NAME_BYTES)
    throw invalid(`The ${what} is too long: at most ${MAX_NAME_BYTES} bytes.`);
}

/** Whether a namespace fits all conditions. Throws `invalid_input` for an unknown one. */
export function matchesConditions(
  namespace: readonly string[],
  conditions: readonly NamespaceCondition[],
): boolean {
  return conditions.every(({ matchType, path }) => {
    if (matchType !== "prefix" && matchType !== "suffix")
      throw invalid('A condition on namespaces must be "prefix" or "suffix".');
    const at = matchType === "prefix" ? 0 : namespace.length - path.length;
    if (path.length > namespace.length) return false;
    return path.every((label, i) => label === "*" || namespace[at + i] === label);
  });
}

const OPERATORS: Readonly<Record<string, (actual: unknown, wanted: unknown) => boolean>> = {
  $eq: (actual, wanted) => actual === wanted,
  $ne: (actual, wanted) => actual !== wanted,
  $gt: (actual, wanted) => Number(actual) > Number(wanted),
  $gte: (actual, wanted) => Number(actual) >= Number(wanted),
  $lt: (actual, wanted) => Number(actual) < Number(wanted),
  $lte: (actual, wanted) => Number(actual) <= Number(wanted),
  $in: (actual, wanted) => Array.isArray(wanted) && wanted.includes(actual),
  $nin: (actual, wanted) => !Array.isArray(wanted) || !wanted.includes(actual),
};

/** Whether a value fits a filter, field by field, as in LangGraph's own store. */
export function matchesItemFilter(
  value: { readonly [field: string]: unknown },
  filter: { readonly [field: string]: unknown },
): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const actual = Object.hasOwn(value, field) ? value[field] : undefined;
    if (typeof wanted !== "object" || wanted === null) return actual === wanted;
    const terms = Object.entries(wanted);
    const isOperators = terms.every(([name]) => Object.hasOwn(OPERATORS, name));
    if (!isOperators) return false;
    return terms.every(([name, operand]) => OPERATORS[name]?.(actual, operand));
  });
}
