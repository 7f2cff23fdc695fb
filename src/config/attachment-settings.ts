import * as z from "zod";
import { MAX_ATTACHMENT_BYTES } from "../domain/attachment.ts";
import { MemoryError } from "../errors.ts";
import type { AttachmentDescriber } from "../ports/language/attachment-describer.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import { toSettingError } from "./setting-names.ts";

/** Limits on images and recordings, and the models that describe them. */
export interface AttachmentSettings {
  readonly maxBytes?: number;
  readonly maxUserBytes?: number;
  /** Absent if no model describes anything. */
  readonly describer?: {
    readonly visionModel?: string;
    readonly transcriptionModel?: string;
    readonly apiKey?: string;
    readonly baseUrl?: string;
    readonly apiVersion?: string;
  };
}

const createBytesSchema = (most: number): z.ZodType =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().max(most));

const modelSchema = z.string().regex(/^[\x21-\x7e]{1,200}$/);

/** The settings of attachments, by name, with the allowed values. */
export const ATTACHMENT_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_ATTACHMENT_MAX_BYTES: {
    schema: createBytesSchema(MAX_ATTACHMENT_BYTES),
    allowed: `a number of bytes up to ${MAX_ATTACHMENT_BYTES}`,
  },
  KEEPSAKE_ATTACHMENT_USER_BYTES: {
    schema: createBytesSchema(Number.MAX_SAFE_INTEGER),
    allowed: "a number of bytes",
  },
  KEEPSAKE_VISION_MODEL: { schema: modelSchema, allowed: "the name of a model, such as gpt-4o-mini" },
  KEEPSAKE_TRANSCRIPTION_MODEL: { schema: modelSchema, allowed: "the name of a model, such as whisper-1" },
};

/**
 * Parses the settings of attachments. Bytes leave this machine only if a model is named. Throws `invalid_input` if a model is
 * named and no server.
 */
export function parseAttachmentSettings(values: ReadonlyMap<string, string>): AttachmentSettings | undefined {
  const number = (name: string): number | undefined =>
    values.has(name) ? Number(values.get(name)) : undefined;
  const maxBytes = number("KEEPSAKE_ATTACHMENT_MAX_BYTES");
  const maxUserBytes = number("KEEPSAKE_ATTACHMENT_USER_BYTES");
  const describer = parseDescriber(values);
  if (maxBytes === undefined && maxUserBytes === undefined && !describer) return undefined;
  return {
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxUserBytes === undefined ? {} : { maxUserBytes }),
    ...(describer ? { describer } : {}),
  };
}

function parseDescriber(values: ReadonlyMap<string, string>): AttachmentSettings["describer"] {
  const visionModel = values.get("KEEPSAKE_VISION_MODEL");
  const transcriptionModel = values.get("KEEPSAKE_TRANSCRIPTION_MODEL");
  if (visionModel === undefined && transcriptionModel === undefined) return undefined;
  const [apiKey, baseUrl, apiVersion] = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION"].map(
    (name) => values.get(name),
  );
  if (apiKey === undefined && baseUrl === undefined) {
    const name = visionModel === undefined ? "KEEPSAKE_TRANSCRIPTION_MODEL" : "KEEPSAKE_VISION_MODEL";
    throw new MemoryError("invalid_input", `${name} needs OPENAI_API_KEY or OPENAI_BASE_URL.`);
  }
  return {
    ...(visionModel === undefined ? {} : { visionModel }),
    ...(transcriptionModel === undefined ? {} : { transcriptionModel }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  };
}

/** Gives the options of `createMemory`. The adapter's code is loaded when the memory opens. */
export function toAttachmentOptions({ describer, ...limits }: AttachmentSettings): {
  readonly attachments: Omit<AttachmentSettings, "describer">;
  readonly describer?: (hooks: CallHooks) => Promise<AttachmentDescriber>;
} {
  if (!describer) return { attachments: limits };
  return { attachments: limits, describer: (hooks) => openDescriber(describer, hooks) };
}

/** Maps an adapter's option to its setting. */
const SETTING_NAMES: { readonly [option: string]: string } = {
  apiKey: "OPENAI_API_KEY",
  baseUrl: "OPENAI_BASE_URL",
  apiVersion: "OPENAI_API_VERSION",
  visionModel: "KEEPSAKE_VISION_MODEL",
};

async function openDescriber(
  options: NonNullable<AttachmentSettings["describer"]>,
  hooks: CallHooks,
): Promise<AttachmentDescriber> {
  const { openaiDescriber } = await import("../adapters/openai/index.ts");
  try {
    return openaiDescriber({ ...options, ...hooks });
  } catch (error) {
    throw toSettingError(error, SETTING_NAMES);
  }
}
