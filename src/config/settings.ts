import * as z from "zod";
import { MemoryError } from "../errors.ts";

/** What the environment sets. Options of a command win over it. */
export interface Settings {
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly apiKey?: string;
  readonly secret?: string;
}

type Environment = { readonly [name: string]: string | undefined };

interface Setting {
  readonly schema: z.ZodType;
  /** What is allowed, for people. */
  readonly allowed: string;
  /** Its value is never shown. */
  readonly isSecret?: boolean;
}

/** Every name that is ours, with what it may be. A name that begins with KEEPSAKE_ and is not here is a slip. */
export const SETTINGS: { readonly [name: string]: Setting } = {
  KEEPSAKE_DB: { schema: z.string().min(1), allowed: "a path of a file" },
  MEMORY_DB_URL: { schema: z.string().regex(/^sqlite:\/\/\/./), allowed: "sqlite:///FILE" },
  KEEPSAKE_HOST: { schema: z.string().min(1), allowed: "a name or an address of this machine" },
  KEEPSAKE_PORT: { schema: z.coerce.number().int().min(0).max(65_535), allowed: "a number from 0 to 65535" },
  KEEPSAKE_API_KEY: {
    schema: z.string().regex(/^[\x21-\x7e]{8,512}$/),
    allowed: "8 to 512 visible ASCII characters",
    isSecret: true,
  },
  KEEPSAKE_SECRET: { schema: z.string().min(16), allowed: "at least 16 characters", isSecret: true },
};

/**
 * Reads the settings. `invalid_input` for a misspelt or impossible one, with its name, its value (never a secret's)
 * and what is allowed; `unsupported` for a database that this version cannot use.
 */
export function readSettings(environment: Environment = process.env): Settings {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === "") continue;
    const known = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (known) values.set(name, checked(name, value, known));
    else if (name.startsWith("KEEPSAKE_")) throw misspelt(name);
  }
  const url = values.get("MEMORY_DB_URL");
  const apiKey = values.get("KEEPSAKE_API_KEY");
  const secret = values.get("KEEPSAKE_SECRET");
  return {
    path: values.get("KEEPSAKE_DB") ?? url?.slice("sqlite:///".length) ?? "keepsake.db",
    host: values.get("KEEPSAKE_HOST") ?? "127.0.0.1",
    port: Number(values.get("KEEPSAKE_PORT") ?? 7420),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(secret === undefined ? {} : { secret }),
  };
}

function checked(name: string, value: string, { schema, allowed, isSecret }: Setting): string {
  if (schema.safeParse(value).success) return value;
  if (name === "MEMORY_DB_URL" && /^[a-z+]+:\/\//.test(value) && !value.startsWith("sqlite:")) {
    const kind = value.slice(0, value.indexOf(":"));
    throw new MemoryError(
      "unsupported",
      `MEMORY_DB_URL: ${kind} is not supported by this version. Use sqlite:///FILE.`,
    );
  }
  const shown = isSecret ? "its value" : JSON.stringify(value);
  throw new MemoryError("invalid_input", `${name}: ${shown} is not allowed. Allowed: ${allowed}.`);
}

function misspelt(name: string): MemoryError {
  const known = Object.keys(SETTINGS).filter((one) => one.startsWith("KEEPSAKE_"));
  return new MemoryError("invalid_input", `${name} is no setting. Known: ${known.join(", ")}.`);
}
