import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

let folder: string;
let config: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-env-"));
  config = join(folder, "keepsake.yaml");
  writeFileSync(config, "port: 1\ndb: file.db\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

function settings(env: string, environment: { readonly [name: string]: string } = {}) {
  writeFileSync(join(folder, ".env"), env, { mode: 0o600 });
  return readSettings({ KEEPSAKE_CONFIG: config, ...environment });
}

describe("the .env file", () => {
  it("lies beside the settings file, wins over it, and loses to the environment", () => {
    expect(settings("KEEPSAKE_PORT=2\nKEEPSAKE_HOST=localhost\n")).toMatchObject({
      port: 2,
      host: "localhost",
    });
    expect(settings("KEEPSAKE_PORT=2\n", { KEEPSAKE_PORT: "3" }).port).toBe(3);
    expect(settings("# no settings\n").port).toBe(1);
  });

  it("is read with quotes, comments, `export` and empty values", () => {
    const text = "export KEEPSAKE_PORT='2' # a port\nKEEPSAKE_HOST=\"localhost\"\nKEEPSAKE_DB=\n";
    expect(settings(text)).toMatchObject({ port: 2, host: "localhost", path: "file.db" });
  });

  it("ignores the variables of other programs, and refuses a misspelt setting", () => {
    expect(settings("DATABASE_PASSWORD=x\nGRAFANA_PASSWORD=y\n").envFile).toBeUndefined();
    expect(() => settings("KEEPSAKE_PROT=2\n")).toThrow("Did you mean KEEPSAKE_PORT?");
  });

  it("is named at the start with its settings, and never with their values", () => {
    const { envFile, notices, apiKey } = settings(
      "KEEPSAKE_API_KEY=geheimgeheimgeheimgeheim1\nOTHER=geheim\n",
    );
    expect(apiKey).toBe("geheimgeheimgeheimgeheim1");
    expect(envFile).toMatch(/\.env was read for KEEPSAKE_API_KEY\./);
    expect(notices).toBeUndefined();
    expect(envFile).not.toContain("geheim");
    expect(() => settings("KEEPSAKE_API_KEY=geheim\n")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("geheim") }),
    );
  });

  it.skipIf(process.platform === "win32")("asks for other permissions if others can read it", () => {
    settings("KEEPSAKE_PORT=2\n");
    chmodSync(join(folder, ".env"), 0o644);
    expect(readSettings({ KEEPSAKE_CONFIG: config }).notices).toEqual([
      expect.stringMatching(/Other users .* chmod 600/),
    ]);
  });

  it("is another one or none if KEEPSAKE_ENV_FILE says so, and a missing one stops the start", () => {
    const other = join(folder, "other.env");
    writeFileSync(other, "KEEPSAKE_PORT=4\n", { mode: 0o600 });
    expect(settings("KEEPSAKE_PORT=2\n", { KEEPSAKE_ENV_FILE: other }).port).toBe(4);
    expect(settings("KEEPSAKE_PORT=2\n", { KEEPSAKE_ENV_FILE: "off" }).port).toBe(1);
    expect(() => settings("", { KEEPSAKE_ENV_FILE: join(folder, "none") })).toThrow(/cannot be read/);
  });

  it("may name a database by an address, which a file in the settings file does not replace", () => {
    const address =
      "MEMORY_DB_URL=postgresql://ana@db/memory\nPOSTGRES_PASSWORD=p@ss\nKEEPSAKE_SECRET=0123456789abcdef\n";
    expect(settings(address).backends?.postgres).toMatchObject({
      url: "postgresql://ana:p%40ss@db/memory",
    });
  });
});

describe("a password without a use", () => {
  it("is said at the start", () => {
    expect(readSettings({ POSTGRES_PASSWORD: "x", REDIS_PASSWORD: "y" }).notices).toEqual([
      expect.stringMatching(/^POSTGRES_PASSWORD is set, but/),
      expect.stringMatching(/^REDIS_PASSWORD is set, but/),
    ]);
  });

  it("does not replace a password in the address", () => {
    const { backends } = readSettings({
      MEMORY_DB_URL: "postgresql://ana:own@db/memory",
      POSTGRES_PASSWORD: "x",
      KEEPSAKE_SECRET: "0123456789abcdef",
    });
    expect(backends?.postgres?.url).toBe("postgresql://ana:own@db/memory");
  });
});

describe("the settings of Pinecone's earlier environments", () => {
  const pinecone = (environment: { readonly [name: string]: string }) =>
    readSettings({ PINECONE_API_KEY: "k", ...environment }).backends?.pinecone;

  it("give the cloud and the region, which their own settings replace", () => {
    expect(pinecone({ PINECONE_ENVIRONMENT: "us-east1-gcp" })).toMatchObject({
      cloud: "gcp",
      region: "us-east1",
    });
    expect(pinecone({ PINECONE_ENVIRONMENT: "us-east1-gcp", PINECONE_REGION: "eu-west4" })).toMatchObject({
      cloud: "gcp",
      region: "eu-west4",
    });
  });

  it("take the address of another server from the .env file", () => {
    const text =
      "KEEPSAKE_FOLLOWER=pinecone\nPINECONE_API_KEY=k\nPINECONE_CONTROLLER_HOST=http://127.0.0.1:9\n";
    expect(settings(text).backends?.pinecone).toMatchObject({ controller: "http://127.0.0.1:9" });
  });

  it("are refused without a cloud, with the settings to use", () => {
    expect(() => pinecone({ PINECONE_ENVIRONMENT: "gcp-starter" })).toThrow(
      /PINECONE_CLOUD and PINECONE_REGION/,
    );
  });
});
