import * as z from "zod";

/** What the settings say of the proxy of OpenAI's protocol. */
export interface ProxySettings {
  /** Where conversations are passed on to; absent where neither a key nor an address is set. */
  readonly upstream?: { readonly baseUrl: string; readonly apiKey?: string };
  /** How long a conversation waits for the memory, in ms. */
  readonly retrievalMs?: number;
  /** How long the upstream may take for all of an answer, in ms. */
  readonly deadlineMs?: number;
  /** Headers that name the user, in small letters; empty where none but `x-keepsake-user` does. */
  readonly userHeaders?: readonly string[];
  /** Whether a chat that names no user is refused. */
  readonly isUserRequired?: boolean;
  /** Whether clients reach all of the upstream's API with keys of their own. */
  readonly mayPassThrough?: boolean;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";

const timeoutSchema: z.ZodType = z
  .string()
  .regex(/^\d{1,8}$/)
  .transform(Number)
  .pipe(z.number().min(100).max(86_400_000));

/** Headers that hold credentials, or belong to the connection: none of them names a user. */
const CREDENTIAL_HEADER =
  /^(?:(?:proxy-)?authorization|cookie|host|(?:x-)?api-key|content-.*|transfer-encoding|connection|x-keepsake-.*)$/i;

const userHeadersSchema: z.ZodType = z
  .string()
  .regex(/^(?:off|[a-z0-9-]{1,64}(?: *, *[a-z0-9-]{1,64}){0,19})$/i)
  .refine((text) => !splitNames(text).some((name) => CREDENTIAL_HEADER.test(name)));

const TRUE_WORDS: readonly string[] = ["on", "true", "1"];
const FALSE_WORDS: readonly string[] = ["off", "false", "0"];

/** Every setting of the proxy alone, by name, with what it may be. */
export const PROXY_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_UPSTREAM_TIMEOUT_MS: { schema: timeoutSchema, allowed: "a number from 100 to 86400000" },
  KEEPSAKE_USER_HEADERS: {
    schema: userHeadersSchema,
    allowed: "off, or up to 20 names of headers that hold no credentials, with commas between them",
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

/** What checked values say of it; nothing where they say nothing. */
export function parseProxySettings(values: ReadonlyMap<string, string>): ProxySettings | undefined {
  const baseUrl = values.get("OPENAI_BASE_URL");
  const apiKey = values.get("OPENAI_API_KEY");
  const retrieval = values.get("RETRIEVAL_TIMEOUT_MS");
  const deadline = values.get("KEEPSAKE_UPSTREAM_TIMEOUT_MS");
  const named = values.get("KEEPSAKE_USER_HEADERS");
  const through = values.get("KEEPSAKE_PASS_THROUGH");
  const required = values.get("KEEPSAKE_REQUIRE_USER");
  const settings: ProxySettings = {
    ...(baseUrl === undefined && apiKey === undefined
      ? {}
      : { upstream: { baseUrl: baseUrl ?? OPENAI_BASE_URL, ...(apiKey === undefined ? {} : { apiKey }) } }),
    ...(retrieval === undefined ? {} : { retrievalMs: Number(retrieval) }),
    ...(deadline === undefined ? {} : { deadlineMs: Number(deadline) }),
    ...(named === undefined ? {} : { userHeaders: named.toLowerCase() === "off" ? [] : splitNames(named) }),
    ...(required === undefined ? {} : { isUserRequired: TRUE_WORDS.includes(required) }),
    ...(through === undefined ? {} : { mayPassThrough: TRUE_WORDS.includes(through) }),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

function splitNames(text: string): string[] {
  return text.toLowerCase().split(/ *, */);
}
