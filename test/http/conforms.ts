import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { ApiDocument } from "../../src/http/openapi/document.ts";

interface DocumentedAnswer {
  readonly $ref?: string;
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: { readonly [type: string]: { readonly schema: object } };
}

/** Says what is wrong with answers by the document that the server gives of itself; nothing where all is well. */
export interface Conformance {
  /** The operation that a request is for, by its id; undefined where the document has none. */
  operationOf(method: string, path: string): string | undefined;
  faults(method: string, path: string, answer: ApiResponse): string[];
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** With `isStrict`, a field that the document does not name is a fault too. */
export function conformance(document: ApiDocument, isStrict = true): Conformance {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  // The document as a whole is no schema; those in it are reached by where they stand.
  ajv.addSchema({ ...(isStrict ? closed(document) : document), $id: "api" }, undefined, false, false);
  const compiled = new Map<string, ValidateFunction>();
  const validator = (place: string): ValidateFunction => {
    const made = compiled.get(place) ?? ajv.compile({ $ref: `api#${place}` });
    compiled.set(place, made);
    return made;
  };
  const placeOf = (path: string): string | undefined =>
    Object.keys(document.paths)
      .filter((template) => patternOf(template).test(path.replace(/\?.*$/, "")))
      .sort((one, other) => parametersIn(one) - parametersIn(other))[0];
  const callOf = (method: string, path: string): { operationId: string; responses: object } | undefined => {
    const place = placeOf(path);
    const calls = place === undefined ? undefined : document.paths[place];
    return calls?.[method.toLowerCase()] as { operationId: string; responses: object } | undefined;
  };

  return {
    operationOf: (method, path) => callOf(method, path)?.operationId,
    faults(method, path, answer) {
      const call = callOf(method, path);
      if (!call) return ["the document has no such operation"];
      const { status } = answer;
      const stated = (call.responses as { [status: string]: DocumentedAnswer })[String(status)];
      if (!stated) return [`the document does not say that it may answer with ${status}`];
      const at = `/paths/${pointer(placeOf(path) ?? "")}/${method.toLowerCase()}/responses/${status}`;
      const held = stated.$ref === undefined ? stated : (resolve(document, stated.$ref) as DocumentedAnswer);
      return faultsOf(answer, held, (type) =>
        validator(`${stated.$ref?.slice(1) ?? at}/content/${pointer(type)}/schema`),
      );
    },
  };
}

function faultsOf(
  { headers, body }: ApiResponse,
  stated: DocumentedAnswer,
  validator: (type: string) => ValidateFunction,
): string[] {
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  if (!stated.content) return body === "" ? [] : ["the document says that nothing comes"];
  if (!(type in stated.content)) return [`the document does not say that it may be ${type}`];
  // Those that every such answer has are told in one place; others may be left out.
  const missing = Object.entries(stated.headers ?? {})
    .filter(([name, held]) => "$ref" in (held as object) && !headers.has(name))
    .map(([name]) => `the header ${name} is missing`);
  if (!/[/+]json$/.test(type)) return missing;
  const check = validator(type);
  if (check(JSON.parse(body))) return missing;
  return [
    ...missing,
    ...(check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    ),
  ];
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`);
}

function parametersIn(template: string): number {
  return template.split("{").length;
}

function pointer(key: string): string {
  return encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function resolve(document: object, reference: string): unknown {
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, step) => (at as { [key: string]: unknown })[step], document);
}

/** The same with every object that has fields closed against others, but for those that say that they are open. */
function closed(value: unknown): object {
  return walk(value) as object;
}

function walk(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== "object" || value === null) return value;
  const held = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]));
  const isShape = "properties" in held && held.type === "object" && !("additionalProperties" in held);
  return isShape ? { ...held, additionalProperties: false } : held;
}
