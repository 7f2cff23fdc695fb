type Fields = { readonly [field: string]: unknown };

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ORDERS: { readonly [operator: string]: (held: number, wanted: number) => boolean } = {
  $gt: (held, wanted) => held > wanted,
  $gte: (held, wanted) => held >= wanted,
  $lt: (held, wanted) => held < wanted,
  $lte: (held, wanted) => held <= wanted,
};

/** What is wrong with a filter; nothing where all is well. */
export function filterProblem(filter: unknown): string | undefined {
  if (!isObject(filter) || Object.keys(filter).length === 0) return "filter must be an object with a key";
  for (const [field, wanted] of Object.entries(filter)) {
    const problem = field.startsWith("$") ? listProblem(field, wanted) : fieldProblem(wanted);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function listProblem(operator: string, wanted: unknown): string | undefined {
  if (operator !== "$and" && operator !== "$or") return `${operator} is not a valid operator`;
  if (!Array.isArray(wanted) || wanted.length === 0) return `the value of ${operator} must be a list`;
  return wanted.map(filterProblem).find((problem) => problem !== undefined);
}

function fieldProblem(wanted: unknown): string | undefined {
  if (!isObject(wanted)) return scalarProblem("$eq", wanted);
  const problems = Object.entries(wanted).map(([operator, value]) => operatorProblem(operator, value));
  return problems.find((problem) => problem !== undefined);
}

function operatorProblem(operator: string, value: unknown): string | undefined {
  if (operator === "$exists") return typeof value === "boolean" ? undefined : "$exists takes true or false";
  if (operator in ORDERS) return typeof value === "number" ? undefined : `${operator} takes a number`;
  if (operator === "$eq" || operator === "$ne") return scalarProblem(operator, value);
  if (operator !== "$in" && operator !== "$nin") return `${operator} is not a valid operator`;
  if (!Array.isArray(value) || value.length === 0) return `${operator} takes a list`;
  return value.map((one) => scalarProblem(operator, one)).find((problem) => problem !== undefined);
}

const scalarProblem = (operator: string, value: unknown): string | undefined =>
  ["string", "number", "boolean"].includes(typeof value)
    ? undefined
    : `${operator} takes a string, a number or a boolean`;

/**
 * Whether metadata passes a filter that has no problem. ASSUMED: where a field is not there, nothing of it holds but
 * `$exists: false`; of a list, one element is enough.
 */
export function passes(filter: Fields, metadata: Fields): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    if (field === "$and") return (wanted as Fields[]).every((one) => passes(one, metadata));
    if (field === "$or") return (wanted as Fields[]).some((one) => passes(one, metadata));
    const conditions = isObject(wanted) ? wanted : { $eq: wanted };
    return Object.entries(conditions).every(([operator, value]) => holds(operator, metadata[field], value));
  });
}

function holds(operator: string, held: unknown, wanted: unknown): boolean {
  if (operator === "$exists") return (held !== undefined) === wanted;
  if (held === undefined) return false;
  const values: readonly unknown[] = Array.isArray(held) ? held : [held];
  if (operator === "$eq") return values.includes(wanted);
  if (operator === "$ne") return !values.includes(wanted);
  if (operator === "$in") return values.some((one) => (wanted as unknown[]).includes(one));
  if (operator === "$nin") return !values.some((one) => (wanted as unknown[]).includes(one));
  return values.some((one) => typeof one === "number" && ORDERS[operator]?.(one, wanted as number));
}
