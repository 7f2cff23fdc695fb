import * as z from "zod";
import { invalid } from "../errors.ts";

/** OAuth for MCP clients at `/mcp`. */
export interface OAuthSettings {
  /** The origin by which clients reach the server. */
  readonly publicUrl: string;
  /** The identity provider whose tokens are accepted. Absent if this server issues them. */
  readonly external?: ExternalProviderSettings;
  /** Hosts whose clients are accepted. Default: all public ones. */
  readonly clientHosts?: readonly string[];
}

interface ExternalProviderSettings {
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly audience?: string;
  readonly userClaim?: string;
}

/** Whether a URL is one that credentials may go to: with TLS, or on this machine. */
function isSafeUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s@?#]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

const urlSchema: z.ZodType = z.string().refine(isSafeUrl);

/** The settings of OAuth, by name, with the allowed values. */
export const OAUTH_SETTINGS: {
  readonly [name: string]: { readonly schema: z.ZodType; readonly allowed: string };
} = {
  KEEPSAKE_PUBLIC_URL: {
    schema: z.string().refine((text) => isSafeUrl(text) && new URL(text).origin === text),
    allowed: "an origin such as https://memory.example.com; http only for this machine",
  },
  KEEPSAKE_OAUTH: { schema: z.enum(["off", "on", "external"]), allowed: "off, on or external" },
  KEEPSAKE_OAUTH_CLIENTS: {
    schema: z.string().regex(/^[\w.-]{1,253}(?: *, *[\w.-]{1,253}){0,99}$/),
    allowed: "host names without ports, separated by commas",
  },
  KEEPSAKE_OAUTH_ISSUER: { schema: urlSchema, allowed: "an address such as https://login.example.com" },
  KEEPSAKE_OAUTH_JWKS_URL: {
    schema: urlSchema,
    allowed: "an address such as https://login.example.com/jwks.json",
  },
  KEEPSAKE_OAUTH_AUDIENCE: {
    schema: z.string().regex(/^[\x21-\x7e]{1,500}$/),
    allowed: "visible ASCII characters",
  },
  KEEPSAKE_OAUTH_USER_CLAIM: {
    schema: z.string().regex(/^[\x21-\x7e]{1,100}$/),
    allowed: "the name of a claim, such as sub or email",
  },
};

const EXTERNAL_NAMES = ["ISSUER", "JWKS_URL", "AUDIENCE", "USER_CLAIM"].map(
  (name) => `KEEPSAKE_OAUTH_${name}`,
);

/** Parses the settings of OAuth; undefined if it is off. Throws `invalid_input` for settings that do not fit together. */
export function parseOAuthSettings(values: ReadonlyMap<string, string>): OAuthSettings | undefined {
  const mode = values.get("KEEPSAKE_OAUTH") ?? "off";
  if (mode !== "external") {
    const [stray] = EXTERNAL_NAMES.filter((name) => values.has(name));
    if (stray !== undefined) throw invalid(`${stray} has no effect without KEEPSAKE_OAUTH=external.`);
  }
  const hosts = values.get("KEEPSAKE_OAUTH_CLIENTS");
  if (mode !== "on" && hosts !== undefined)
    throw invalid("KEEPSAKE_OAUTH_CLIENTS has no effect without KEEPSAKE_OAUTH=on.");
  if (mode === "off") return undefined;
  const publicUrl = requireSetting(values, "KEEPSAKE_PUBLIC_URL");
  if (mode === "on")
    return { publicUrl, ...(hosts === undefined ? {} : { clientHosts: hosts.toLowerCase().split(/ *, */) }) };
  const audience = values.get("KEEPSAKE_OAUTH_AUDIENCE");
  const userClaim = values.get("KEEPSAKE_OAUTH_USER_CLAIM");
  return {
    publicUrl,
    external: {
      issuer: requireSetting(values, "KEEPSAKE_OAUTH_ISSUER"),
      jwksUrl: requireSetting(values, "KEEPSAKE_OAUTH_JWKS_URL"),
      ...(audience === undefined ? {} : { audience }),
      ...(userClaim === undefined ? {} : { userClaim }),
    },
  };
}

function requireSetting(values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name);
  if (value === undefined) throw invalid(`KEEPSAKE_OAUTH=${values.get("KEEPSAKE_OAUTH")} needs ${name}.`);
  return value;
}
