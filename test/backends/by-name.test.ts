import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPineconeServer } from "../../src/testing/pinecone/pinecone-server.ts";
import { keepsakeWith, place, type Ran } from "../e2e/shell.ts";

/** The command line on real servers, by settings alone: what `keepsake serve` reads, too. */

const {
  KEEPSAKE_TEST_POSTGRES: postgres,
  KEEPSAKE_TEST_REDIS: redis,
  KEEPSAKE_TEST_CHROMA: chroma,
  KEEPSAKE_TEST_FAISS: python,
  KEEPSAKE_TEST_S3_VECTORS: s3Vectors,
} = process.env;
const needs = (...servers: readonly (string | undefined)[]): string =>
  servers.includes(undefined) ? ' (left out: eval "$(test/services/up)" starts the server)' : "";

function freshPrefix(): string {
  return `t${randomBytes(6).toString("hex")}`;
}

type Environment = { readonly [name: string]: string };
const FOLLOWED = {
  KEEPSAKE_PREFIX: freshPrefix(),
  KEEPSAKE_FOLLOWER_FROM: "0",
  RETRIEVAL_TIMEOUT_MS: "10000",
};
const user = `u${randomBytes(6).toString("hex")}`;

const using =
  (env: Environment) =>
  (...words: readonly string[]): Promise<Ran> =>
    keepsakeWith({ env }, ...words, "--user", user);

interface Receipt {
  readonly complete: boolean;
  readonly verified: readonly { readonly place: string; readonly why?: string }[];
}

/** On a machine that does other things as well an index may be late; then it is said, and put right by whoever looks. */
async function isGone(keepsake: ReturnType<typeof using>, { complete, verified }: Receipt): Promise<void> {
  const late = verified.filter(({ why }) => why !== undefined).map(({ place: name }) => name);
  expect(late.filter((name) => !name.startsWith("index: "))).toEqual([]);
  expect(complete).toBe(late.length === 0);
  if (!complete) expect((await keepsake("doctor")).status).toBe(0);
}

/** Remembers, answers, forgets, and asks whether it is gone; gives the places that the receipt says were asked. */
async function story(environment: Environment): Promise<string> {
  const keepsake = using(environment);
  expect((await keepsake("remember", "I use Shram and Magnet as productivity tools.")).err).toBe("");
  const asked = await keepsake("answer", "What productivity tools do I use?", "--json");
  expect(asked.json.text).toBe("You use Shram and Magnet.");
  const { json: receipt } = await keepsake("forget", "Magnet", "--yes", "--json");
  await isGone(keepsake, receipt);
  expect((await keepsake("answer", "What productivity tools do I use?", "--json")).json.text).toBe(
    "You use Shram.",
  );
  await isGone(keepsake, (await keepsake("forget", "--everything", "--yes", "--json")).json);
  return (receipt as Receipt).verified.map(({ place: name }) => name).join(", ");
}

describe("by settings", { timeout: 60_000 }, () => {
  it.skipIf(!chroma)(`CHROMA_URL has Chroma follow${needs(chroma)}`, async () => {
    expect(await story({ ...FOLLOWED, CHROMA_URL: chroma ?? "" })).toMatch(/index: chroma/);
  });

  it.skipIf(!python)(`FAISS_INDEX_PATH has FAISS follow, in that folder${needs(python)}`, async () => {
    const faiss = { FAISS_INDEX_PATH: "vectors", KEEPSAKE_PYTHON: python ?? "" };
    expect(await story({ ...FOLLOWED, ...faiss })).toMatch(/index: faiss/);
    expect(readdirSync(`${place}/vectors`).length).toBeGreaterThan(0);
  });

  it("PINECONE_API_KEY and KEEPSAKE_FOLLOWER have Pinecone follow", async () => {
    await using server = await startPineconeServer({ apiKey: "pc-1" });
    const pinecone = { PINECONE_API_KEY: "pc-1", PINECONE_CONTROLLER_HOST: server.url };
    expect(await story({ ...FOLLOWED, ...pinecone, KEEPSAKE_FOLLOWER: "pinecone" })).toMatch(
      /index: pinecone/,
    );
    expect(server.received.some(({ path }) => path === "/query")).toBe(true);
  });

  it.skipIf(!s3Vectors)(`S3_VECTORS_BUCKET has S3 Vectors follow${needs(s3Vectors)}`, async () => {
    const bucket = {
      S3_VECTORS_BUCKET: `keepsake-${user}`,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "any",
      AWS_SECRET_ACCESS_KEY: "any",
      AWS_ENDPOINT_URL_S3VECTORS: s3Vectors ?? "",
    };
    expect(await story({ ...FOLLOWED, ...bucket })).toMatch(/index: s3-vectors/);
  });

  it.skipIf(!redis)(`KEEPSAKE_FOLLOWER has Redis follow${needs(redis)}`, async () => {
    expect(await story({ ...FOLLOWED, REDIS_URL: redis ?? "", KEEPSAKE_FOLLOWER: "redis" })).toMatch(
      /index: redis/,
    );
  });

  it.skipIf(!postgres)(`KEEPSAKE_FOLLOWER has pgvector follow${needs(postgres)}`, async () => {
    const pgvector = { KEEPSAKE_FOLLOWER: "pgvector", KEEPSAKE_PGVECTOR_URL: postgres ?? "" };
    expect(await story({ ...FOLLOWED, ...pgvector })).toMatch(/index: pgvector/);
  });

  it.skipIf(!redis)(`REDIS_URL has sessions and the cache in Redis${needs(redis)}`, async () => {
    const asked = await story({ ...FOLLOWED, REDIS_URL: redis ?? "" });
    expect(asked).toMatch(/sessions: redis/);
    expect(asked).toMatch(/cache: redis/);
  });

  it.skipIf(!redis)(`REDIS_URL has commands share the state of a session${needs(redis)}`, async () => {
    // Each test has a database of its own. What another one erased in Redis is ahead of it.
    const keepsake = using({ ...FOLLOWED, KEEPSAKE_PREFIX: freshPrefix(), REDIS_URL: redis ?? "" });
    const context = { stepNr: 2 };
    const started = await keepsake("session", "start", "trip", "--topic", "Porto", "--json");
    expect(started.json).toMatchObject({ id: "trip", topic: "Porto" });
    expect((await keepsake("session", "start", "trip")).status).toBe(1);
    await keepsake("session", "update", "trip", "--context", JSON.stringify(context), "--drop", "topic");
    const shown = await keepsake("session", "show", "trip");
    expect(shown.out).toMatch(/^session {2}trip\ncontext {2}\{"stepNr":2\}\nexpires {2}\S+Z\n$/);
    expect((await keepsake("session", "show", "trip", "--json")).json.context).toEqual(context);
    expect(await keepsake("session", "update", "trip")).toMatchObject({ status: 2, out: "" });
    expect((await keepsake("session", "end", "trip")).out).toMatch(/^Ended\./);
    expect(await keepsake("session", "show", "trip")).toMatchObject({ status: 3, out: "" });
    expect(await keepsake("session", "end", "trip")).toMatchObject({ status: 3, out: "" });
  });

  it("a Redis that is down is said, and everything goes on without it", async () => {
    const keepsake = using({ REDIS_URL: "redis://:geheim@127.0.0.1:1" });
    const { status, out, err } = await keepsake("remember", "I use Shram.");
    expect({ status, out }).toMatchObject({ status: 0, out: expect.stringContaining("Shram") });
    expect(err).toContain("Redis does not answer");
    expect(err).not.toContain("geheim");
  });
});

describe.skipIf(!postgres || !redis)(`MEMORY_DB_URL${needs(postgres, redis)}`, { timeout: 60_000 }, () => {
  const name = `by_name_${randomBytes(6).toString("hex")}`;
  let url: string;
  const on = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: postgres });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  beforeAll(async () => {
    await on(`CREATE DATABASE ${name}`);
    url = Object.assign(new URL(postgres ?? ""), { pathname: `/${name}` }).href;
  });
  afterAll(() => on(`DROP DATABASE ${name} WITH (FORCE)`));
  const secret = { KEEPSAKE_SECRET: "a secret of all servers" };

  it("keeps the record in PostgreSQL, and no file here", async () => {
    const keepsake = using({
      MEMORY_DB_URL: url,
      REDIS_URL: redis ?? "",
      KEEPSAKE_QUEUE: "bullmq",
      ...secret,
    });
    expect((await keepsake("remember", "I use Shram.")).out).toContain("Shram");
    expect((await keepsake("answer", "What do I use?", "--json")).json.text).toBe("You use Shram.");
    expect(readdirSync(place)).toEqual([]);
  });

  it("is backed up with the server's own means: nothing else is advised, and `backup` says so", async () => {
    const keepsake = using({ MEMORY_DB_URL: url, ...secret });
    await keepsake("remember", "I use Shram.");
    const looked = await keepsake("doctor");
    expect(looked.status).toBe(0);
    expect(looked.err).not.toContain("backup");
    const refused = await keepsake("backup", "copy.db");
    expect(refused.status).not.toBe(0);
    expect(refused.err).toMatch(/its server's own backups, or move it into a file/);
  });

  it("is another database where --db names one, and shows no password", async () => {
    const { out, err } = await using(secret)("doctor", "--db", url);
    expect(out).toMatch(/No damage found in postgresql:\/\/\w+@127\.0\.0\.1:\d+\/by_name_/);
    expect(out + err).not.toContain(`:${new URL(url).password}@`);
  });

  it("says what is wrong with a database that cannot be opened, without its password", async () => {
    const wrong = Object.assign(new URL(url), { password: "geheim" }).href;
    for (const [environment, expected] of [
      [{ MEMORY_DB_URL: wrong, ...secret }, /rejects this name and password/],
      [{ MEMORY_DB_URL: url, KEEPSAKE_SECRET: "the secret of others" }, /another KEEPSAKE_SECRET/],
      [{ MEMORY_DB_URL: url }, /PostgreSQL needs KEEPSAKE_SECRET/],
      [{ MEMORY_DB_URL: "postgresql://me:geheim@127.0.0.1:1/x", ...secret }, /cannot be reached/],
    ] as const) {
      const { status, err } = await using(environment)("list");
      expect(status).not.toBe(0);
      expect(err).toMatch(expected);
      expect(err).not.toContain("geheim");
    }
  });
});
