import * as z from "zod";
import { checkEmbedderNames } from "../../engine/embedders.ts";
import { invalid, isMemoryError } from "../../errors.ts";

/** Variables of the environment, by name. */
type Variables = { readonly [name: string]: string | undefined };

/** One embedder, as the settings describe it. */
export interface EmbedderSettings {
  readonly name: "static" | "minilm" | "openai" | "sentence-transformers";
  readonly model?: string;
  readonly modelPath?: string;
  readonly dimensions?: number;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly apiVersion?: string;
  readonly batchSize?: number;
  readonly patienceMs?: number;
  readonly queryPrefix?: string;
  readonly textPrefix?: string;
  readonly floor?: number;
  readonly duplicateFloor?: number;
}

/** The embedders that users and projects may choose, by name. */
export interface NamedEmbedders {
  readonly [name: string]: EmbedderSettings;
}

const EMBEDDERS_EXAMPLE =
  '{"other":{"kind":"openai","model":"bge-m3","base_url":"http://localhost:11434/v1","dimensions":1024}}';

const numberSchema = (least: number, most: number): z.ZodType =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

const EMBEDDER_KINDS = ["static", "minilm", "openai", "sentence-transformers"] as const;
const ALLOWED_KINDS = "static, minilm, openai or sentence-transformers";

/** The settings of embedders, by name, with the allowed values. */
export const EMBEDDER_SETTINGS: {
  readonly [name: string]: {
    readonly schema: z.ZodType;
    readonly allowed: string;
    readonly isSecret?: boolean;
  };
} = {
  KEEPSAKE_EMBEDDER: { schema: z.enum(EMBEDDER_KINDS), allowed: ALLOWED_KINDS },
  EMBEDDING_MODEL: {
    schema: z.string().regex(/^[\x21-\x7e]{1,200}$/),
    allowed: "the name of a model, such as text-embedding-3-small",
  },
  KEEPSAKE_EMBEDDING_DIMENSIONS: { schema: numberSchema(1, 4096), allowed: "a number from 1 to 4096" },
  KEEPSAKE_MODEL_PATH: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a folder" },
  BATCH_EMBEDDING_SIZE: { schema: numberSchema(1, 2048), allowed: "a number from 1 to 2048" },
  // A mistake may have put a key into it.
  KEEPSAKE_EMBEDDERS: {
    schema: z.string().refine((text) => parseObject(text) !== undefined),
    allowed: `JSON such as ${EMBEDDERS_EXAMPLE}`,
    isSecret: true,
  },
};

/**
 * Parses the embedder of all users without a choice, named directly or by its model. A key alone names none: it may be in the
 * environment for another purpose, and texts go to another server only on explicit request.
 */
export function parseEmbedder(values: ReadonlyMap<string, string>): EmbedderSettings | undefined {
  const model = values.get("EMBEDDING_MODEL");
  const name = values.get("KEEPSAKE_EMBEDDER") ?? chooseEmbedder(model);
  if (name === "minilm") {
    if (model !== undefined && chooseEmbedder(model) !== "minilm") {
      throw invalid(
        "EMBEDDING_MODEL: the embedder minilm only supports all-MiniLM-L6-v2. Remove the setting, or set KEEPSAKE_EMBEDDER to sentence-transformers or openai.",
      );
    }
    const hub = model?.includes("/") ? { model } : {};
    return dropUndefined({ name, ...hub, modelPath: values.get("KEEPSAKE_MODEL_PATH") });
  }
  if (name === "sentence-transformers")
    return { name, ...parseLocalModel(model, values.get("KEEPSAKE_MODEL_PATH")) };
  if (name !== "openai") return undefined;
  return dropUndefined({
    name,
    model,
    ...parseOpenaiServer(values),
    dimensions: parseNumber(values, "KEEPSAKE_EMBEDDING_DIMENSIONS"),
    ...parseCalls(values),
  });
}

/** Folders, and names that only models of sentence-transformers have: with their owners on the hub, or as their authors write them. */
const SENTENCE_TRANSFORMERS_PATTERN =
  /^(?:\.{0,2}\/|(?:sentence-transformers|xenova|onnx-community)\/|(?:all|multi-qa|paraphrase|msmarco)-[^/]*$)/i;

/** Gives the model of sentence-transformers: a folder, or a name on the hub. Those without an owner are of one who has them as ONNX. */
function parseLocalModel(
  model: string | undefined,
  path: string | undefined,
): Pick<EmbedderSettings, "model" | "modelPath"> {
  const folder = path ?? (model !== undefined && /^\.{0,2}\//.test(model) ? model : undefined);
  if (folder !== undefined) return { modelPath: folder };
  if (model === undefined) {
    throw invalid(
      "KEEPSAKE_EMBEDDER: sentence-transformers needs EMBEDDING_MODEL, the name of a model, or KEEPSAKE_MODEL_PATH, a folder.",
    );
  }
  const [, name = model] = /^(?:sentence-transformers\/)?([^/]+)$/i.exec(model) ?? [];
  return { model: name.includes("/") ? name : `Xenova/${name}` };
}

/** Gives what EMBEDDING_MODEL names, if the embedder is the built-in one. */
export function parseBuiltInModel(values: ReadonlyMap<string, string>): string | undefined {
  const model = values.get("EMBEDDING_MODEL");
  const name = values.get("KEEPSAKE_EMBEDDER") ?? chooseEmbedder(model);
  return name === "static" ? model : undefined;
}

function chooseEmbedder(model: string | undefined): string {
  if (model === undefined || model === "static-minilm-1") return "static";
  if (/^(?:[^./][^/]*\/)?all-minilm-l6-v2$/i.test(model)) return "minilm";
  return SENTENCE_TRANSFORMERS_PATTERN.test(model) ? "sentence-transformers" : "openai";
}

const modelSchema = z.string().regex(/^[\x21-\x7e]{1,200}$/, "the name of a model, such as bge-m3");
const prefixSchema = z.string().max(200, "at most 200 characters");
const pathSchema = z.string().regex(/^[^\0]+$/, "the path of a folder");
const shareSchema = z
  .number("a number from 0 to 1")
  .min(0, "a number from 0 to 1")
  .max(1, "a number from 0 to 1");
const dimensionsSchema = z
  .int("a number from 1 to 4096")
  .min(1, "a number from 1 to 4096")
  .max(4096, "a number from 1 to 4096");
const FLOORS = { floor: shareSchema.optional(), duplicate_floor: shareSchema.optional() };

const KINDS = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("static") }),
    z.strictObject({
      kind: z.literal("minilm"),
      model: modelSchema.optional(),
      path: pathSchema.optional(),
      ...FLOORS,
    }),
    z.strictObject({
      kind: z.literal("sentence-transformers"),
      model: modelSchema.optional(),
      path: pathSchema.optional(),
      query_prefix: prefixSchema.optional(),
      text_prefix: prefixSchema.optional(),
      ...FLOORS,
    }),
    z.strictObject({
      kind: z.literal("openai"),
      model: modelSchema.optional(),
      base_url: z
        .string()
        .regex(/^https?:\/\/[^\s@?#]+$/, "an address such as http://localhost:11434/v1")
        .optional(),
      dimensions: dimensionsSchema.optional(),
      key_variable: z
        .string()
        .regex(
          /^(?!KEEPSAKE_)[A-Za-z_]\w{0,99}$/,
          "the name of a variable that does not begin with KEEPSAKE_",
        )
        .optional(),
      api_version: z
        .string()
        .regex(/^[\w-]{1,40}$/, "a version, such as 2024-10-21")
        .optional(),
      ...FLOORS,
    }),
  ],
  ALLOWED_KINDS,
);

type NamedEmbedder = z.infer<typeof KINDS>;

/**
 * Parses the embedders that users and projects may choose. `variables` are all variables of the environment: an entry names the one
 * that has its key. Throws `invalid_input` with the place of a mistake, without its value.
 */
export function parseNamedEmbedders(
  values: ReadonlyMap<string, string>,
  variables: Variables,
): NamedEmbedders | undefined {
  const named = parseObject(values.get("KEEPSAKE_EMBEDDERS") ?? "");
  if (named === undefined) return undefined;
  checkNames(Object.keys(named));
  const opened = Object.entries(named).map(([name, entry]) => {
    const place = `KEEPSAKE_EMBEDDERS: ${name}`;
    return [name, toEmbedderSettings(place, checkEntry(place, entry), values, variables)] as const;
  });
  return opened.length === 0 ? undefined : Object.fromEntries(opened);
}

function checkNames(names: readonly string[]): void {
  try {
    checkEmbedderNames(names);
  } catch (error) {
    throw isMemoryError(error)
      ? invalid(`KEEPSAKE_EMBEDDERS: ${error.message.replace(/^embedders: /, "")}`)
      : error;
  }
}

function checkEntry(place: string, entry: unknown): NamedEmbedder {
  const checked = KINDS.safeParse(entry);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const kind = (entry as { readonly kind?: unknown }).kind;
    throw invalid(`${place}: an embedder of the kind ${kind} has no field ${issue.keys[0]}. Remove it.`);
  }
  const field = issue?.path.join(".") ?? "";
  if (field === "") throw invalid(`${place} needs fields, such as those in ${EMBEDDERS_EXAMPLE}.`);
  throw invalid(`${place}.${field} is missing or not allowed. Allowed: ${issue?.message}.`);
}

function toEmbedderSettings(
  place: string,
  entry: NamedEmbedder,
  values: ReadonlyMap<string, string>,
  variables: Variables,
): EmbedderSettings {
  if (entry.kind === "static") return { name: "static" };
  const floors = { floor: entry.floor, duplicateFloor: entry.duplicate_floor };
  if (entry.kind === "minilm")
    return dropUndefined({ name: entry.kind, model: entry.model, modelPath: entry.path, ...floors });
  if (entry.kind === "sentence-transformers") {
    if (entry.model === undefined && entry.path === undefined)
      throw invalid(`${place} needs model, the name of a model, or path, a folder.`);
    return dropUndefined({
      name: entry.kind,
      ...parseLocalModel(entry.model, entry.path),
      queryPrefix: entry.query_prefix,
      textPrefix: entry.text_prefix,
      ...floors,
    });
  }
  return toServerSettings(place, entry, values, variables);
}

function toServerSettings(
  place: string,
  entry: Extract<NamedEmbedder, { kind: "openai" }>,
  values: ReadonlyMap<string, string>,
  variables: Variables,
): EmbedderSettings {
  const floors = { floor: entry.floor, duplicateFloor: entry.duplicate_floor };
  const { base_url: baseUrl, key_variable: variable, api_version: apiVersion } = entry;
  const apiKey = variable === undefined ? undefined : variables[variable];
  if (variable !== undefined && (apiKey === undefined || apiKey === ""))
    throw invalid(`${place} needs the variable ${variable}, which is not set.`);
  return dropUndefined({
    name: entry.kind,
    model: entry.model,
    // The key of the settings belongs to their server, and is sent to no other.
    ...(baseUrl === undefined ? parseOpenaiServer(values) : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    dimensions: entry.dimensions,
    ...parseCalls(values),
    ...floors,
  });
}

function parseOpenaiServer(values: ReadonlyMap<string, string>) {
  return {
    apiKey: values.get("OPENAI_API_KEY"),
    baseUrl: values.get("OPENAI_BASE_URL"),
    apiVersion: values.get("OPENAI_API_VERSION"),
  };
}

function parseCalls(values: ReadonlyMap<string, string>) {
  return {
    batchSize: parseNumber(values, "BATCH_EMBEDDING_SIZE"),
    patienceMs: parseNumber(values, "RETRIEVAL_TIMEOUT_MS"),
  };
}

function parseNumber(values: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = values.get(name);
  return value === undefined ? undefined : Number(value);
}

/** Gives the object that a JSON text is, or undefined. */
function parseObject(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Removes fields without a value. */
function dropUndefined(
  fields: { readonly [name in keyof EmbedderSettings]: EmbedderSettings[name] | undefined },
): EmbedderSettings {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as EmbedderSettings;
}
