import * as z from "zod";
import type { RerankingOptions } from "../domain/recall.ts";
import { invalid, MemoryError } from "../errors.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import type { Reranker } from "../ports/language/reranker.ts";
import { toSettingError } from "./setting-names.ts";

/** What reorders the best items of recalls. */
export interface RerankerSettings {
  /** A server, or a cross-encoder in this process. */
  readonly kind: "server" | "cross-encoder";
  readonly url?: string;
  readonly model?: string;
  readonly apiKey?: string;
  readonly modelPath?: string;
  readonly reranking: RerankingOptions;
}

const createCountSchema = (least: number, most: number): z.ZodType =>
  z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .pipe(z.number().min(least).max(most));

/** The settings of the reranker, by name, with the allowed values. */
export const RERANKER_SETTINGS: {
  readonly [name: string]: {
    readonly schema: z.ZodType;
    readonly allowed: string;
    readonly isSecret?: boolean;
  };
} = {
  KEEPSAKE_RERANKER: {
    schema: z.enum(["off", "server", "cross-encoder"]),
    allowed: "off, server or cross-encoder",
  },
  // Addresses may contain passwords, so the value is not shown.
  KEEPSAKE_RERANKER_URL: {
    schema: z.string().regex(/^https?:\/\/[^\s@?#]+$/),
    allowed: "an address such as https://api.jina.ai/v1",
    isSecret: true,
  },
  KEEPSAKE_RERANKER_MODEL: {
    schema: z.string().regex(/^[\x21-\x7e]{1,200}$/),
    allowed: "the name of a model, such as rerank-v3.5",
  },
  KEEPSAKE_RERANKER_API_KEY: {
    schema: z.string().regex(/^[\x21-\x7e]{1,512}$/),
    allowed: "visible ASCII characters",
    isSecret: true,
  },
  KEEPSAKE_RERANKER_MODEL_PATH: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a folder" },
  KEEPSAKE_RERANKER_CANDIDATES: { schema: createCountSchema(1, 200), allowed: "a number from 1 to 200" },
  KEEPSAKE_RERANKER_TIMEOUT_MS: {
    schema: createCountSchema(1, 60_000),
    allowed: "a number from 1 to 60000",
  },
};

/**
 * Parses the reranker's settings. An address names a server, and a folder a cross-encoder. Throws `invalid_input` for
 * settings that do not fit together.
 */
export function parseRerankerSettings(values: ReadonlyMap<string, string>): RerankerSettings | undefined {
  const url = values.get("KEEPSAKE_RERANKER_URL");
  const modelPath = values.get("KEEPSAKE_RERANKER_MODEL_PATH");
  const kind = values.get("KEEPSAKE_RERANKER") ?? chooseKind(url, modelPath);
  if (kind === "off") return undefined;
  if (kind === "server" && url === undefined)
    throw new MemoryError("invalid_input", 'KEEPSAKE_RERANKER: "server" needs KEEPSAKE_RERANKER_URL.');
  if (kind === "server" && modelPath !== undefined)
    throw new MemoryError(
      "invalid_input",
      "KEEPSAKE_RERANKER_MODEL_PATH belongs to KEEPSAKE_RERANKER=cross-encoder. Remove one of the two.",
    );
  const number = (name: string): number | undefined => {
    const value = values.get(name);
    return value === undefined ? undefined : Number(value);
  };
  const candidates = number("KEEPSAKE_RERANKER_CANDIDATES");
  const timeoutMs = number("KEEPSAKE_RERANKER_TIMEOUT_MS");
  const model = values.get("KEEPSAKE_RERANKER_MODEL");
  const apiKey = values.get("KEEPSAKE_RERANKER_API_KEY");
  return {
    kind: kind === "server" ? "server" : "cross-encoder",
    ...(url === undefined ? {} : { url }),
    ...(model === undefined ? {} : { model }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(modelPath === undefined ? {} : { modelPath }),
    reranking: {
      ...(candidates === undefined ? {} : { candidates }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
  };
}

function chooseKind(url: string | undefined, modelPath: string | undefined): string {
  if (url !== undefined) return "server";
  return modelPath === undefined ? "off" : "cross-encoder";
}

/** Maps an adapter's option to its setting. */
const RERANKER_SETTING_NAMES: { readonly [option: string]: string } = {
  baseUrl: "KEEPSAKE_RERANKER_URL",
  model: "KEEPSAKE_RERANKER_MODEL",
  apiKey: "KEEPSAKE_RERANKER_API_KEY",
  modelPath: "KEEPSAKE_RERANKER_MODEL_PATH",
};

/** Gives the options of `createMemory` for the reranker. Its code is loaded when the memory opens. */
export function toRerankerOptions(settings: RerankerSettings): {
  readonly reranker: (hooks: CallHooks) => Promise<Reranker>;
  readonly reranking: RerankingOptions;
} {
  return { reranker: (hooks) => openReranker(settings, hooks), reranking: settings.reranking };
}

/** Loads and opens the configured reranker. Throws `invalid_input` with the name of a wrong setting. */
async function openReranker(
  { kind, url, model, apiKey, modelPath }: RerankerSettings,
  hooks: CallHooks,
): Promise<Reranker> {
  const named = model === undefined ? {} : { model };
  try {
    if (kind === "cross-encoder") {
      const { crossEncoderReranker } = await import("../adapters/cross-encoder/index.ts");
      return crossEncoderReranker({ ...named, ...(modelPath === undefined ? {} : { modelPath }) });
    }
    if (url === undefined) throw invalid("baseUrl: set the address of the reranker.");
    const { serverReranker } = await import("../adapters/rerank-server/index.ts");
    return serverReranker({
      baseUrl: url,
      ...named,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...hooks,
    });
  } catch (error) {
    throw toSettingError(error, RERANKER_SETTING_NAMES);
  }
}
