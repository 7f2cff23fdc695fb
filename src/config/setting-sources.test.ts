import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listSettingsInForce } from "./setting-sources.ts";
import { SETTINGS } from "./settings.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-in-force-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const find = (name: string, ...given: Parameters<typeof listSettingsInForce>) =>
  listSettingsInForce(...given).find((one) => one.name === name);

describe("listSettingsInForce", () => {
  it("says for each value whether the environment, the .env file, the settings file or the command line gave it", () => {
    const [config, env] = [join(folder, "keepsake.yaml"), join(folder, ".env")];
    writeFileSync(config, "KEEPSAKE_PORT: 7001\nKEEPSAKE_CACHE_MB: 32\nKEEPSAKE_REDACT: off\n");
    writeFileSync(env, "KEEPSAKE_PORT=7002\nMEMORY_DECAY_DAYS=30\n", { mode: 0o600 });
    const around = { KEEPSAKE_CONFIG: config, KEEPSAKE_CACHE_MB: "64", KEEPSAKE_ENV_FILE: env };
    const of = (name: string) => find(name, SETTINGS, { KEEPSAKE_HOST: "::1" }, around);
    expect(of("KEEPSAKE_HOST")).toEqual({ name: "KEEPSAKE_HOST", from: "command_line", value: "::1" });
    expect(of("KEEPSAKE_CACHE_MB")).toEqual({ name: "KEEPSAKE_CACHE_MB", from: "environment", value: "64" });
    expect(of("KEEPSAKE_PORT")).toEqual({ name: "KEEPSAKE_PORT", from: "env_file", value: "7002" });
    expect(of("MEMORY_DECAY_DAYS")?.from).toBe("env_file");
    expect(of("KEEPSAKE_REDACT")?.from).toBe("settings_file");
    expect(of("KEEPSAKE_JOBS")).toEqual({ name: "KEEPSAKE_JOBS", from: "default" });
  });

  it("shows no secret, whatever it is in: keys, passwords and addresses", () => {
    const secret = "geheim-0123456789-geheim";
    const around = {
      KEEPSAKE_API_KEY: secret,
      KEEPSAKE_SECRET: secret,
      OPENAI_API_KEY: secret,
      POSTGRES_PASSWORD: secret,
      REDIS_PASSWORD: secret,
      REDIS_URL: `redis://ana:${secret}@redis.example`,
      MEMORY_DB_URL: `postgresql://ana:${secret}@db.example/keepsake`,
      OPENAI_BASE_URL: `https://models.example/${secret}`,
    };
    const all = listSettingsInForce(SETTINGS, {}, around);
    expect(JSON.stringify(all)).not.toContain("geheim");
    expect(all.filter(({ hidden }) => hidden).map(({ name }) => name)).toEqual(
      Object.keys(around).toSorted(),
    );
  });

  it.each(["api-key", "KEY", "token", "access_token", "client_secret", "password", "sig", "X-Amz-Signature"])(
    "shows no address with %s in its query",
    (name) => {
      for (const before of ["?", "?version=2&"]) {
        const around = { KEEPSAKE_OAUTH_JWKS_URL: `https://x.example/v1${before}${name}=geheim` };
        expect(find("KEEPSAKE_OAUTH_JWKS_URL", SETTINGS, {}, around)).toEqual({
          name: "KEEPSAKE_OAUTH_JWKS_URL",
          from: "environment",
          hidden: true,
        });
      }
    },
  );

  it("shows an address whose query has no secret", () => {
    const value = "https://x.example/key?version=2";
    const around = { KEEPSAKE_OAUTH_JWKS_URL: value };
    expect(find("KEEPSAKE_OAUTH_JWKS_URL", SETTINGS, {}, around)?.value).toBe(value);
  });

  it("leaves out an address of a database if the command line names a file", () => {
    const around = { MEMORY_DB_URL: "sqlite:///other.db" };
    expect(find("MEMORY_DB_URL", SETTINGS, { KEEPSAKE_DB: "mine.db" }, around)).toEqual({
      name: "MEMORY_DB_URL",
      from: "default",
    });
    expect(find("KEEPSAKE_DB", SETTINGS, { KEEPSAKE_DB: "mine.db" }, around)?.value).toBe("mine.db");
  });
});
