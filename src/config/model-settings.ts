import * as z from "zod";
import { MemoryError } from "../errors.ts";

/** The model that understands and answers, and who understands. */
export interface ModelSettings {
  /** `both`: the rules at once, and the model later. */
  readonly extractor: "model" | "both";
  readonly model: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly apiVersion?: string;
  readonly timeoutMs?: number;
  /** How long a message waits for others that are read with it, in ms. */
  readonly lingerMs?: number;
}

const DEFAULT_MODEL = "gpt-4o-mini";

const createMillisecondsSchema = (least: number, most: number): z.ZodType =>
  z
    .string()
    .regex(/^\d{1,8}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

/** Every setting of the model, by name, with what it may be. */
export const MODEL_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_EXTRACTOR: { schema: z.enum(["rules", "model", "both"]), allowed: "rules, model or both" },
  OPENAI_MODEL: {
    schema: z.string().regex(/^[\x21-\x7e]{1,200}$/),
    allowed: "the name of a model, such as gpt-4o-mini",
  },
  OPENAI_API_VERSION: { schema: z.string().regex(/^[\w-]{1,40}$/), allowed: "a version, such as 2024-10-21" },
  KEEPSAKE_MODEL_TIMEOUT_MS: {
    schema: createMillisecondsSchema(100, 600_000),
    allowed: "a number from 100 to 600000",
  },
  KEEPSAKE_UNDERSTAND_AFTER_MS: {
    schema: createMillisecondsSchema(0, 3_600_000),
    allowed: "a number from 0 to 3600000",
  },
};

/**
 * The model that the settings switch on: where `KEEPSAKE_EXTRACTOR` asks for one, or says nothing and there is a key, or a
 * server and a model. With `rules`, nothing that anybody says or knows leaves this machine for a model.
 */
export function parseModelSettings(values: ReadonlyMap<string, string>): ModelSettings | undefined {
  const who = values.get("KEEPSAKE_EXTRACTOR");
  const [apiKey, baseUrl, named] = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"].map((name) =>
    values.get(name),
  );
  const isThere = apiKey !== undefined || (baseUrl !== undefined && named !== undefined);
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
  return dropUndefined({
    extractor: who === "model" ? ("model" as const) : ("both" as const),
    model: named ?? DEFAULT_MODEL,
    apiKey,
    baseUrl,
    apiVersion: values.get("OPENAI_API_VERSION"),
    timeoutMs: number("KEEPSAKE_MODEL_TIMEOUT_MS"),
    lingerMs: number("KEEPSAKE_UNDERSTAND_AFTER_MS"),
  }) as ModelSettings;
}

/** The fields that have a value. */
function dropUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
