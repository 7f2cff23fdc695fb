import * as z from "zod";

/** What the settings say of the proxy of OpenAI's protocol. */
export interface ProxySettings {
  /** Where conversations are passed on to; absent where neither a key nor an address is set. */
  readonly upstream?: { readonly baseUrl: string; readonly apiKey?: string };
  /** How long a conversation waits for the memory, in ms. */
  readonly retrievalMs?: number;
  /** How long the upstream may take for all of an answer, in ms. */
  readonly deadlineMs?: number;
}

const OPENAI = "https://api.openai.com/v1";

const milliseconds: z.ZodType = z
  .string()
  .regex(/^\d{1,8}$/)
  .transform(Number)
  .pipe(z.number().min(100).max(86_400_000));

/** Every setting of the proxy alone, by name, with what it may be. */
export const PROXY_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_UPSTREAM_TIMEOUT_MS: { schema: milliseconds, allowed: "a number from 100 to 86400000" },
};

/** What checked values say of it; nothing where they say nothing. */
export function proxyIn(values: ReadonlyMap<string, string>): ProxySettings | undefined {
  const baseUrl = values.get("OPENAI_BASE_URL");
  const apiKey = values.get("OPENAI_API_KEY");
  const retrieval = values.get("RETRIEVAL_TIMEOUT_MS");
  const deadline = values.get("KEEPSAKE_UPSTREAM_TIMEOUT_MS");
  const settings: ProxySettings = {
    ...(baseUrl === undefined && apiKey === undefined
      ? {}
      : { upstream: { baseUrl: baseUrl ?? OPENAI, ...(apiKey === undefined ? {} : { apiKey }) } }),
    ...(retrieval === undefined ? {} : { retrievalMs: Number(retrieval) }),
    ...(deadline === undefined ? {} : { deadlineMs: Number(deadline) }),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}
