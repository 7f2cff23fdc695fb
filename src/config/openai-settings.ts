import * as z from "zod";
import { MemoryError } from "../errors.ts";

/** The model for extraction and answers, and who extracts. */
export interface ModelSettings {
  /** `both`: rules at once, and the model later. */
  readonly extractor: "model" | "both";
  readonly model: string;
  /** The model for extraction, instead of `model`. */
  readonly extractionModel?: string;
  /** The model for answers, instead of `model`. */
  readonly answerModel?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly apiVersion?: string;
  readonly timeoutMs?: number;
  /** How long a message waits for others to be extracted together, in ms. */
  readonly lingerMs?: number;
  /** Whether the model names associations between memories. */
  readonly links?: boolean;
}

const DEFAULT_MODEL = "gpt-4o-mini";
/** The settings that name a model for one use each. */
const ROLE_MODELS: readonly string[] = ["KEEPSAKE_EXTRACTION_MODEL", "KEEPSAKE_ANSWER_MODEL"];

const createMillisecondsSchema = (least: number, most: number): z.ZodType =>
  z
    .string()
    .regex(/^\d{1,8}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

const modelName = {
  schema: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  allowed: "the name of a model, such as gpt-4o-mini",
};

/** The settings of the model, by name, with the allowed values. */
export const MODEL_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_EXTRACTOR: { schema: z.enum(["rules", "model", "both"]), allowed: "rules, model or both" },
  OPENAI_MODEL: modelName,
  KEEPSAKE_EXTRACTION_MODEL: modelName,
  KEEPSAKE_ANSWER_MODEL: modelName,
  OPENAI_API_VERSION: { schema: z.string().regex(/^[\w-]{1,40}$/), allowed: "a version, such as 2024-10-21" },
  KEEPSAKE_MODEL_TIMEOUT_MS: {
    schema: createMillisecondsSchema(100, 600_000),
    allowed: "a number from 100 to 600000",
  },
  KEEPSAKE_UNDERSTAND_AFTER_MS: {
    schema: createMillisecondsSchema(0, 3_600_000),
    allowed: "a number from 0 to 3600000",
  },
  KEEPSAKE_EXTRACT_LINKS: {
    schema: z.enum(["on", "off", "true", "false", "1", "0"]),
    allowed: "on, off, true, false, 1 or 0",
  },
};

/**
 * Parses the model's settings. A model is on if `KEEPSAKE_EXTRACTOR` names it, or if that is not set and there is a key, or a
 * server and a model. With `rules`, no message or memory leaves this machine for a model.
 */
export function parseModelSettings(values: ReadonlyMap<string, string>): ModelSettings | undefined {
  const who = values.get("KEEPSAKE_EXTRACTOR");
  const [apiKey, baseUrl, named] = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"].map((name) =>
    values.get(name),
  );
  const isNamed = named !== undefined || ROLE_MODELS.every((name) => values.has(name));
  const isThere = apiKey !== undefined || (baseUrl !== undefined && isNamed);
  if (who === "rules" || (who === undefined && !isThere)) return undefined;
  if (!isThere) {
    throw new MemoryError(
      "invalid_input",
      `KEEPSAKE_EXTRACTOR: "${who}" needs OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL.`,
    );
  }
  const number = (name: string): number | undefined => {
    const value = values.get(name);
    return value === undefined ? undefined : Number(value);
  };
  const links = values.get("KEEPSAKE_EXTRACT_LINKS");
  return dropUndefined({
    extractor: who === "model" ? ("model" as const) : ("both" as const),
    model: named ?? DEFAULT_MODEL,
    extractionModel: values.get("KEEPSAKE_EXTRACTION_MODEL"),
    answerModel: values.get("KEEPSAKE_ANSWER_MODEL"),
    apiKey,
    baseUrl,
    apiVersion: values.get("OPENAI_API_VERSION"),
    timeoutMs: number("KEEPSAKE_MODEL_TIMEOUT_MS"),
    lingerMs: number("KEEPSAKE_UNDERSTAND_AFTER_MS"),
    links: links === undefined ? undefined : TRUE_WORDS.includes(links),
  }) as ModelSettings;
}

/** Removes fields without a value. */
function dropUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The settings of the proxy for clients of OpenAI and Anthropic. */
export interface ProxySettings {
  /** The server to forward chats to; absent if neither a key nor an address is set. */
  readonly upstream?: UpstreamSettings;
  /** The same for Anthropic's Messages API. */
  readonly anthropic?: UpstreamSettings;
  /** How long a chat waits for memory, in ms. */
  readonly retrievalMs?: number;
  /** Time limit of the upstream for a whole answer, in ms. */
  readonly deadlineMs?: number;
  /** Headers that name the user, in lowercase; empty if only `x-keepsake-user` does. */
  readonly userHeaders?: readonly string[];
  /** Whether to refuse a chat that names no user. */
  readonly isUserRequired?: boolean;
  /** How many texts that models were given are kept for each user. */
  readonly keptPrompts?: number;
  /** Whether clients can use the upstream's whole API with their own keys. */
  readonly mayPassThrough?: boolean;
}

/** A server that requests are forwarded to. */
interface UpstreamSettings {
  readonly baseUrl: string;
  readonly apiKey?: string;
}

/** Gives the server that two settings name; `undefined` if neither is set. */
function parseUpstream(
  baseUrl: string | undefined,
  apiKey: string | undefined,
  usual: string,
): UpstreamSettings | undefined {
  if (baseUrl === undefined && apiKey === undefined) return undefined;
  return { baseUrl: baseUrl ?? usual, ...(apiKey === undefined ? {} : { apiKey }) };
}

const timeoutSchema: z.ZodType = z
  .string()
  .regex(/^\d{1,8}$/)
  .transform(Number)
  .pipe(z.number().min(100).max(86_400_000));

/** Headers that contain credentials or belong to the connection. They cannot name a user. */
const CREDENTIAL_HEADER =
  /^(?:(?:proxy-)?authorization|cookie|host|(?:x-)?api-key|content-.*|transfer-encoding|connection|x-keepsake-.*)$/i;

const userHeadersSchema: z.ZodType = z
  .string()
  .regex(/^(?:off|[a-z0-9-]{1,64}(?: *, *[a-z0-9-]{1,64}){0,19})$/i)
  .refine((text) => !splitNames(text).some((name) => CREDENTIAL_HEADER.test(name)));

const TRUE_WORDS: readonly string[] = ["on", "true", "1"];
const FALSE_WORDS: readonly string[] = ["off", "false", "0"];

/** The settings of the proxy alone, by name, with the allowed values. */
export const PROXY_SETTINGS: {
  readonly [name: string]: {
    readonly schema: z.ZodType;
    readonly allowed: string;
    readonly isSecret?: boolean;
  };
} = {
  ANTHROPIC_API_KEY: {
    schema: z.string().regex(/^(?!ks[ar]?_[0-9a-f]{12}_)[\x21-\x7e]{1,512}$/),
    allowed: "visible ASCII characters, and no key of Keepsake",
    isSecret: true,
  },
  // Addresses may contain passwords, so the value is not shown.
  ANTHROPIC_BASE_URL: {
    schema: z.string().regex(/^https?:\/\/[^\s@?#]+$/),
    allowed: "an address such as https://api.anthropic.com",
    isSecret: true,
  },
  KEEPSAKE_UPSTREAM_TIMEOUT_MS: { schema: timeoutSchema, allowed: "a number from 100 to 86400000" },
  KEEPSAKE_USER_HEADERS: {
    schema: userHeadersSchema,
    allowed: "off, or up to 20 header names that contain no credentials, separated by commas",
  },
  KEEPSAKE_KEPT_PROMPTS: {
    schema: z
      .string()
      .regex(/^\d{1,4}$/)
      .transform(Number)
      .pipe(z.number().max(1000)),
    allowed: "a number from 0 to 1000",
  },
  KEEPSAKE_REQUIRE_USER: {
    schema: z.enum([...TRUE_WORDS, ...FALSE_WORDS]),
    allowed: "on, off, true, false, 1 or 0",
  },
  KEEPSAKE_PASS_THROUGH: {
    schema: z.enum([...TRUE_WORDS, ...FALSE_WORDS]),
    allowed: "on, off, true, false, 1 or 0",
  },
};

/** Parses the proxy's settings; `undefined` if none is set. */
export function parseProxySettings(values: ReadonlyMap<string, string>): ProxySettings | undefined {
  const [openai, anthropic] = [
    parseUpstream(values.get("OPENAI_BASE_URL"), values.get("OPENAI_API_KEY"), "https://api.openai.com/v1"),
    parseUpstream(
      values.get("ANTHROPIC_BASE_URL"),
      values.get("ANTHROPIC_API_KEY"),
      "https://api.anthropic.com",
    ),
  ];
  const retrieval = values.get("RETRIEVAL_TIMEOUT_MS");
  const deadline = values.get("KEEPSAKE_UPSTREAM_TIMEOUT_MS");
  const named = values.get("KEEPSAKE_USER_HEADERS");
  const through = values.get("KEEPSAKE_PASS_THROUGH");
  const required = values.get("KEEPSAKE_REQUIRE_USER");
  const kept = values.get("KEEPSAKE_KEPT_PROMPTS");
  const settings: ProxySettings = {
    ...(openai ? { upstream: openai } : {}),
    ...(anthropic ? { anthropic } : {}),
    ...(retrieval === undefined ? {} : { retrievalMs: Number(retrieval) }),
    ...(deadline === undefined ? {} : { deadlineMs: Number(deadline) }),
    ...(named === undefined ? {} : { userHeaders: named.toLowerCase() === "off" ? [] : splitNames(named) }),
    ...(kept === undefined ? {} : { keptPrompts: Number(kept) }),
    ...(required === undefined ? {} : { isUserRequired: TRUE_WORDS.includes(required) }),
    ...(through === undefined ? {} : { mayPassThrough: TRUE_WORDS.includes(through) }),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

function splitNames(text: string): string[] {
  return text.toLowerCase().split(/ *, */);
}
