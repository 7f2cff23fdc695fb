type FilterFields = { readonly [field: string]: unknown };

const isFilterObject = (value: unknown): value is FilterFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const ORDERS: { readonly [operator: string]: (held: number, wanted: number) => boolean } = {
  $gt: (held, wanted) => held > wanted,
  $gte: (held, wanted) => held >= wanted,
  $lt: (held, wanted) => held < wanted,
  $lte: (held, wanted) => held <= wanted,
};

/** What is wrong with a filter; nothing where all is well. */
export function findFilterProblem(filter: unknown): string | undefined {
  if (!isFilterObject(filter) || Object.keys(filter).length === 0)
    return "filter must be an object with a key";
  for (const [field, wanted] of Object.entries(filter)) {
    const problem = field.startsWith("$") ? findListProblem(field, wanted) : findFieldProblem(wanted);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findListProblem(operator: string, wanted: unknown): string | undefined {
  if (operator !== "$and" && operator !== "$or") return `${operator} is not a valid operator`;
  if (!Array.isArray(wanted) || wanted.length === 0) return `the value of ${operator} must be a list`;
  return wanted.map(findFilterProblem).find((problem) => problem !== undefined);
}

function findFieldProblem(wanted: unknown): string | undefined {
  if (!isFilterObject(wanted)) return findScalarProblem("$eq", wanted);
  const problems = Object.entries(wanted).map(([operator, value]) => findOperatorProblem(operator, value));
  return problems.find((problem) => problem !== undefined);
}

function findOperatorProblem(operator: string, value: unknown): string | undefined {
  if (operator === "$exists") return typeof value === "boolean" ? undefined : "$exists takes true or false";
  if (operator in ORDERS) return typeof value === "number" ? undefined : `${operator} takes a number`;
  if (operator === "$eq" || operator === "$ne") return findScalarProblem(operator, value);
  if (operator !== "$in" && operator !== "$nin") return `${operator} is not a valid operator`;
  if (!Array.isArray(value) || value.length === 0) return `${operator} takes a list`;
  return value.map((one) => findScalarProblem(operator, one)).find((problem) => problem !== undefined);
}

const findScalarProblem = (operator: string, value: unknown): string | undefined =>
  ["string", "number", "boolean"].includes(typeof value)
    ? undefined
    : `${operator} takes a string, a number or a boolean`;

/**
 * Whether metadata passes a filter that has no problem. ASSUMED: where a field is not there, nothing of it holds but
 * `$exists: false`; of a list, one element is enough.
 */
export function passesFilter(filter: FilterFields, metadata: FilterFields): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    if (field === "$and") return (wanted as FilterFields[]).every((one) => passesFilter(one, metadata));
    if (field === "$or") return (wanted as FilterFields[]).some((one) => passesFilter(one, metadata));
    const conditions = isFilterObject(wanted) ? wanted : { $eq: wanted };
    return Object.entries(conditions).every(([operator, value]) =>
      holdsOperator(operator, metadata[field], value),
    );
  });
}

function holdsOperator(operator: string, held: unknown, wanted: unknown): boolean {
  if (operator === "$exists") return (held !== undefined) === wanted;
  if (held === undefined) return false;
  const values: readonly unknown[] = Array.isArray(held) ? held : [held];
  if (operator === "$eq") return values.includes(wanted);
  if (operator === "$ne") return !values.includes(wanted);
  if (operator === "$in") return values.some((one) => (wanted as unknown[]).includes(one));
  if (operator === "$nin") return !values.some((one) => (wanted as unknown[]).includes(one));
  return values.some((one) => typeof one === "number" && ORDERS[operator]?.(one, wanted as number));
}
