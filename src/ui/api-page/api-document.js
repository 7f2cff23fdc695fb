const METHODS = ["get", "post", "put", "patch", "delete"];

/** The operations of an OpenAPI document, in its order: `{ id, method, path, tag, summary, description, scopes, parameters, body }`. */
export function listOperations(document) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => methods[method]).map((method) => toOperation(document, path, method)),
  );
}

function toOperation(document, path, method) {
  const {
    operationId,
    tags,
    summary,
    description,
    parameters = [],
    requestBody,
    ...rest
  } = document.paths[path][method];
  const [[type, { schema }] = [undefined, {}]] = Object.entries(requestBody?.content ?? {});
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    tag: tags?.[0] ?? "",
    summary,
    description,
    scopes: rest["x-keepsake-scopes"] ?? [],
    parameters: parameters
      .map((one) => follow(document, one))
      .filter((one) => one.in === "path" || one.in === "query"),
    type,
    example: type === "application/json" ? exampleOf(document, schema) : undefined,
    isBodyNeeded: requestBody?.required === true,
  };
}

function follow(document, one) {
  if (one?.$ref === undefined) return one ?? {};
  const parts = one.$ref.replace(/^#\//, "").split("/");
  return follow(
    document,
    parts.reduce((place, part) => place?.[part], document),
  );
}

/** How deep an example goes. A schema may contain itself. */
const DEEPEST = 6;

/** An example with what a schema requires. */
export function exampleOf(document, given, depth = 0) {
  const schema = follow(document, given);
  if (depth > DEEPEST) return null;
  for (const known of [schema.examples?.[0], schema.example, schema.const, schema.default, schema.enum?.[0]])
    if (known !== undefined) return known;
  const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.find(({ type }) => type !== "null");
  if (choice) return exampleOf(document, choice, depth + 1);
  const [type] = [schema.type ?? "object"].flat();
  if (type === "object") {
    const names = schema.required ?? [];
    return Object.fromEntries(
      names.map((name) => [name, exampleOf(document, schema.properties?.[name], depth + 1)]),
    );
  }
  if (type === "array")
    return schema.minItems > 0 || depth === 1 ? [exampleOf(document, schema.items, depth + 1)] : [];
  return {
    string: "",
    integer: schema.minimum ?? 0,
    number: schema.minimum ?? 0,
    boolean: false,
    null: null,
  }[type];
}

/** The names of a path: "/memories/{user_id}" has `user_id`. */
export function fillPath(path, values) {
  return path.replace(/\{(\w+)\}/g, (whole, name) =>
    values[name] ? encodeURIComponent(values[name]) : whole,
  );
}
