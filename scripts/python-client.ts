import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { API_OPERATIONS } from "../src/http/app.ts";
import { createApiDocument } from "../src/http/openapi/document.ts";

// The generated half of the Python client: types and raw operations from the API's table, and the asynchronous client from the
// synchronous one, which is written by hand. `node scripts/python-client.ts` writes both, and so does `npm run docs`; a test compares.

const FOLDER = join(import.meta.dirname, "../clients/python/src/keepsake_client");
const HEADER =
  "# Written by `node scripts/python-client.ts`; a test compares. Change the source, not this file.\n";
const KEYWORDS = new Set(["as", "class", "from", "global", "import", "in", "is", "not", "or", "with"]);
/** Operations by POST that change nothing, so that they can be sent again. */
const READING_POSTS = new Set(["searchMemories", "buildContext"]);

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly description?: string;
}

interface Call {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    name?: string;
    in?: string;
    required?: boolean;
    $ref?: string;
    schema?: Schema;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: { readonly [type: string]: { readonly schema?: Schema } };
  };
  readonly responses: {
    readonly [status: string]: {
      readonly content?: { readonly [type: string]: { readonly schema?: Schema } };
    };
  };
}

/** Collects the classes of objects while types are named. */
interface Types {
  readonly classes: string[];
  /** Adds one of the document's own schemas. Gives its type. */
  add(schema: Schema, name: string): string;
  nameOf(schema: Schema | undefined, hint: string): string;
}

/** `reserved`: the names of the document's own schemas, which nothing inside of another may take. */
function createTypes(reserved: readonly string[]): Types {
  const taken = new Set(reserved);
  const classes: string[] = [];
  const SIMPLE: { readonly [type: string]: string } = {
    string: "str",
    integer: "int",
    number: "float",
    boolean: "bool",
    null: "None",
  };
  const union = (parts: readonly string[]): string => {
    const all = [...new Set(parts)];
    return all.includes("Any") ? "Any" : all.join(" | ");
  };
  const nameChoices = (choices: readonly Schema[], hint: string): string => {
    const isOne = choices.filter((one) => one.properties).length <= 1;
    return union(choices.map((one, i) => nameOf(one, isOne ? hint : `${hint}${i + 1}`)));
  };
  const nameObject = (schema: Schema, hint: string): string => {
    if (!schema.properties) return "Dict[str, Any]";
    const name = taken.has(hint) ? `${hint}Value` : hint;
    taken.add(name);
    classes.push(defineClass(name, schema, nameOf));
    return name;
  };
  const nameByType = (schema: Schema, type: string, hint: string): string => {
    if (type === "array") return `List[${nameOf(schema.items, hint)}]`;
    return type === "object" ? nameObject(schema, hint) : (SIMPLE[type] ?? "Any");
  };
  const nameOf = (schema: Schema | undefined, hint: string): string => {
    if (!schema) return "Any";
    if (schema.$ref) return toClassName(schema.$ref.split("/").at(-1) ?? "");
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices && !schema.properties) return nameChoices(choices, hint);
    const values = schema.enum ?? ("const" in schema ? [schema.const] : undefined);
    if (values) return `Literal[${values.map(toPython).join(", ")}]`;
    return union([schema.type ?? "any"].flat().map((type) => nameByType(schema, type, hint)));
  };
  const add = (schema: Schema, name: string): string => {
    taken.delete(name);
    const type = nameOf(schema, name);
    taken.add(name);
    return type;
  };
  return { classes, add, nameOf };
}

function toClassName(name: string): string {
  return name === "__schema0" ? "Json" : name;
}

function toPython(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : JSON.stringify(value);
}

const pascal = (name: string): string =>
  name.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const argument = (name: string): string => (KEYWORDS.has(name) ? `${name}_` : name);

/** A class in two parts: `NotRequired` is younger than Python 3.10. A part with a keyword as a name has the form of a call. */
function defineClass(name: string, schema: Schema, nameOf: Types["nameOf"]): string {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([field, held]) => ({
    field,
    type: nameOf(held, `${name}${pascal(field)}`),
    isRequired: required.has(field),
  }));
  const part = (partName: string, isRequired: boolean): string => {
    const chosen = fields.filter((one) => one.isRequired === isRequired);
    const total = isRequired ? "" : ", total=False";
    if (chosen.some(({ field }) => !/^[a-z_]\w*$/i.test(field) || KEYWORDS.has(field))) {
      const pairs = chosen.map(({ field, type }) => `    ${JSON.stringify(field)}: ${JSON.stringify(type)},`);
      return `${partName} = TypedDict(\n    "${partName}",\n    {\n    ${pairs.join("\n    ")}\n    }${total},\n)\n`;
    }
    const lines = chosen.map(({ field, type }) => `    ${field}: ${type}`);
    return `class ${partName}(TypedDict${total}):\n${lines.join("\n") || "    pass"}\n`;
  };
  const text = schema.description ?? `The fields of ${name}.`;
  const whole = `class ${name}(_${name}Required, _${name}Optional):\n    """${text.replace(/[.]?$/, ".")}"""\n`;
  return [part(`_${name}Required`, true), part(`_${name}Optional`, false), whole].join("\n\n");
}

/** The type of what a successful call gives: of several, the one with the most cases. */
function resultOf({ responses }: Call, title: string, { nameOf }: Types): string {
  const successes = Object.entries(responses).filter(([status]) => status < "3");
  if (successes.every(([, { content }]) => !content)) return "None";
  const types = successes
    .flatMap(([, { content }]) => content?.["application/json"]?.schema ?? [])
    .map((schema) => nameOf(schema, `${title}Response`));
  return types.sort((one, other) => other.length - one.length)[0] ?? "Any";
}

/** The body of a call: its parameter, and how it is sent. */
function bodyOf({ requestBody }: Call, title: string, { nameOf }: Types): BodyParts | undefined {
  const [[type, held] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined) return undefined;
  if (type !== "application/json")
    return {
      parameter: "body: bytes",
      options: [`content_type: str = "${type}"`],
      sent: ["content=body", "content_type=content_type"],
    };
  const absent = requestBody?.required === false ? " | None = None" : "";
  return {
    parameter: `body: ${nameOf(held?.schema, `${title}Body`)}${absent}`,
    options: [],
    sent: ["json=body"],
  };
}

interface BodyParts {
  readonly parameter: string;
  readonly options: readonly string[];
  readonly sent: readonly string[];
}

/** One method that sends one request. `async` and `await` are added for the other class. */
function defineMethod(path: string, method: string, call: Call, types: Types): string {
  const title = call.operationId[0]?.toUpperCase() + call.operationId.slice(1);
  const parameters = call.parameters ?? [];
  const namesIn = (place: string): string[] =>
    parameters.filter((one) => one.in === place).map(({ name = "" }) => name);
  const takesKey = parameters.some(({ $ref }) => $ref?.endsWith("IdempotencyKey"));
  const body = bodyOf(call, title, types);
  const result = resultOf(call, title, types);
  const options = [
    ...namesIn("query").map((name) => `${argument(name)}: str | int | float | bool | None = None`),
    ...(takesKey ? ["idempotency_key: str | None = None"] : []),
    ...(body?.options ?? []),
  ];
  const args = [
    "self",
    ...namesIn("path").map((name) => `${argument(name)}: str`),
    ...(body ? [body.parameter] : []),
    ...(options.length > 0 ? ["*", ...options] : []),
  ];
  const dictOf = (place: string): string =>
    `{${namesIn(place)
      .map((name) => `"${name}": ${argument(name)}`)
      .join(", ")}}`;
  const sent = [
    `"${method.toUpperCase()}"`,
    `"${path}"`,
    `path=${dictOf("path")}`,
    `query=${dictOf("query")}`,
    ...(body?.sent ?? []),
    ...(takesKey ? ["takes_key=True", "idempotency_key=idempotency_key"] : []),
    ...(READING_POSTS.has(call.operationId) ? ["reads=True"] : []),
  ];
  return [
    `    def ${snake(call.operationId)}(`,
    ...args.map((one) => `        ${one},`),
    `    ) -> ${result}:`,
    `        """${call.summary}."""`,
    "        sent = self._send(",
    ...sent.map((one) => `            ${one},`),
    "        )",
    `        return cast(${JSON.stringify(result)}, sent)`,
  ].join("\n");
}

/** The types and raw operations, as Python. */
export function generatedModule(): string {
  const { paths, components } = createApiDocument(API_OPERATIONS, "0");
  const types = createTypes(Object.keys(components.schemas).map(toClassName));
  const aliases: string[] = [];
  for (const [name, schema] of Object.entries(components.schemas) as [string, Schema][]) {
    const type = types.add(schema, toClassName(name));
    if (type !== toClassName(name))
      aliases.push(`${toClassName(name)} = ${/Json|Any/.test(type) ? "Any" : type}`);
  }
  const methods = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/v1/"))
    .flatMap(([path, calls]) =>
      Object.entries(calls).map(([method, call]) =>
        defineMethod(path, method, call as unknown as Call, types),
      ),
    );
  const sync = methods.join("\n\n");
  const rewritten = sync
    .replaceAll("    def ", "    async def ")
    .replaceAll("self._send(", "await self._send(");
  return [
    `"""Types and raw operations of Keepsake's HTTP API."""\n\n${HEADER}\nfrom __future__ import annotations\n`,
    "from typing import Any, Dict, List, Literal, TypedDict, cast\n",
    "from ._transport import AsyncTransport, SyncTransport\n",
    `\n${types.classes.join("\n\n")}`,
    `\n${aliases.join("\n")}\n`,
    `\nclass RawOperations(SyncTransport):\n    """Every operation under \`/api/v1\`, as the API has it."""\n\n${sync}\n`,
    `\nclass AsyncRawOperations(AsyncTransport):\n    """The same, asynchronous."""\n\n${rewritten}\n`,
  ].join("\n");
}

/** The asynchronous client, from the synchronous one. */
export function asyncModule(): string {
  const source = readFileSync(join(FOLDER, "_client.py"), "utf8");
  return source
    .replace('"""The synchronous client."""', `"""The asynchronous client."""\n\n${HEADER.trimEnd()}`)
    .replace(/\bdef (?!__init__|_select)/g, "async def ")
    .replace(/\bself\.raw\.(\w+\()/g, "await self.raw.$1")
    .replace(/\bwith await self\.raw\./g, "async with self.raw.")
    .replace("self.close()", "await self.close()")
    .replace("self.raw.http.close()", "await self.raw.http.aclose()")
    .replace(/\bfor (\w+) in sent\b/g, "async for $1 in sent")
    .replace(/\bself\.list\(/g, "await self.list(")
    .replaceAll("Iterator[", "AsyncIterator[")
    .replaceAll("import Any, Iterator", "import Any, AsyncIterator")
    .replaceAll("__enter__", "__aenter__")
    .replaceAll("__exit__", "__aexit__")
    .replaceAll("httpx.Client", "httpx.AsyncClient")
    .replace(/\bRawOperations\b/g, "AsyncRawOperations")
    .replace(/\b(Keepsake|Memories)\b(?!')/g, "Async$1");
}

/** The generated files, by their place in the client. */
export const PYTHON_FILES: { readonly [file: string]: () => string } = {
  "_generated.py": generatedModule,
  "_async_client.py": asyncModule,
};

export function writePythonClient(): void {
  for (const [file, make] of Object.entries(PYTHON_FILES)) writeFileSync(join(FOLDER, file), make());
}

if (import.meta.main) writePythonClient();
