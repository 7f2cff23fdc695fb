import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type OpenaiServer, openaiServer } from "../../src/testing/index.ts";
import { startPineconeServer } from "../../src/testing/pinecone/pinecone-server.ts";
import {
  callServer,
  endLeftovers,
  type FolderProgram,
  startInFolder,
  writeEnvFile,
} from "../e2e/folder-server.ts";
import { keepsakeWith, place } from "../e2e/shell.ts";
import { ownDatabase } from "../several/processes.ts";

/** A person comes from a system with these settings, files and calls, and has its servers. */

const {
  KEEPSAKE_TEST_POSTGRES: postgres,
  KEEPSAKE_TEST_REDIS: redis,
  KEEPSAKE_TEST_FAISS: python,
  KEEPSAKE_TEST_S3_VECTORS: s3Vectors,
} = process.env;
const why = [postgres, redis, python, s3Vectors].includes(undefined)
  ? ' (some left out: eval "$(test/services/up)" starts their servers)'
  : "";
const KEY = "a-key-for-this-test-only-1";
const user = "user_123";

/** An address without its password, and the password, as settings of their own. */
function splitPassword(address: string): { readonly address: string; readonly password: string } {
  const url = new URL(address);
  const { password } = url;
  url.password = "";
  return { address: url.href, password };
}

const call = (server: FolderProgram, method: string, path: string, body?: object) =>
  callServer(server, KEY, [method, path], body);

let model: OpenaiServer;
beforeAll(async () => {
  model = await openaiServer();
  model.reply = ({ turns }) => ((turns.at(-1)?.text ?? "").includes("\nTurns:") ? '{"items":[]}' : "Noted.");
});
afterAll(() => model.close());
afterEach(endLeftovers);

describe(`a person who starts with the settings of${why}`, { timeout: 180_000 }, () => {
  it.skipIf(!postgres || !redis)(
    "a service on PostgreSQL and Redis with a worker gets there by its calls",
    async () => {
      const database = await ownDatabase(postgres ?? "");
      await using pinecone = await startPineconeServer({ apiKey: "pc-1" });
      const [sql, cache] = [splitPassword(database.url), splitPassword(redis ?? "")];
      writeEnvFile(place, {
        OPENAI_API_KEY: "sk-1",
        OPENAI_BASE_URL: model.url,
        PINECONE_API_KEY: "pc-1",
        PINECONE_ENVIRONMENT: "us-east1-gcp",
        POSTGRES_PASSWORD: sql.password,
        REDIS_PASSWORD: cache.password,
        MEMORY_RETRIEVAL_TOP_K: "10",
        RETRIEVAL_TIMEOUT_MS: "50",
        MAX_CONTEXT_TOKENS: "4000",
        BATCH_EMBEDDING_SIZE: "100",
        MEMORY_CONFIDENCE_THRESHOLD: "0.7",
        MEMORY_DECAY_DAYS: "90",
        MEMORY_CACHE_HOT_THRESHOLD: "5",
        CONNECTION_POOL_SIZE: "10",
        REDIS_CACHE_TTL: "3600",
        // What the person adds.
        MEMORY_DB_URL: sql.address,
        REDIS_URL: cache.address,
        KEEPSAKE_API_KEY: KEY,
        KEEPSAKE_SECRET: "a secret for this test only",
        KEEPSAKE_PREFIX: `t${randomBytes(6).toString("hex")}`,
        KEEPSAKE_QUEUE: "bullmq",
        KEEPSAKE_JOBS: "workers",
        KEEPSAKE_EXTRACTOR: "rules",
      });
      try {
        // Where Pinecone's package looks for it; there is no server of Pinecone for tests.
        const env = { PINECONE_CONTROLLER_HOST: pinecone.url };
        const server = await startInFolder(place, env);
        const worker = await startInFolder(place, env, ["worker"]);
        expect(worker.printed()).toContain("Jobs arrive by bullmq");
        const talk = (turn_number: number, message: string) =>
          call(server, "POST", "/api/v1/conversation", {
            user_id: user,
            turn_number,
            message,
            include_memories: true,
          });
        expect((await talk(1, "I love espresso and prefer dark roast coffee.")).status).toBe(200);
        const later = await talk(500, "What kind of coffee should I buy?");
        expect(JSON.stringify(later.json.memories_used)).toMatch(/dark roast/);
        const made = await call(server, "POST", "/api/v1/memories", {
          user_id: user,
          type: "preference",
          content: "User prefers dark mode",
          source_turn: 10,
          confidence: 0.9,
        });
        expect(made.status).toBe(201);
        const found = await call(
          server,
          "POST",
          `/api/v1/memories/${user}/search?query=dark%20mode&top_k=10`,
        );
        expect(JSON.stringify(found.json.items)).toContain("dark mode");
        expect((await call(server, "GET", `/api/v1/memories/${user}/stats`)).status).toBe(200);
        expect(
          (await call(server, "POST", `/api/v1/memories/${user}/optimize?current_turn=500`)).status,
        ).toBe(200);
        const readStates = async (): Promise<string[]> =>
          (await call(server, "GET", "/api/v1/health")).json.dependencies
            // A hosted index is asked once a minute.
            .filter(({ kind }: { kind: string }) => kind !== "index")
            .map(({ kind, state }: { kind: string; state: string }) => `${kind} ${state}`)
            .sort();
        const up = ["cache up", "queue up", "record up", "sessions up"];
        await expect.poll(readStates, { timeout: 30_000 }).toEqual(up);
        const readPaths = (): string[] => pinecone.received.map(({ path }) => path);
        await expect.poll(readPaths, { timeout: 30_000 }).toContain("/vectors/upsert");
        const metrics = (await call(server, "GET", "/metrics")).text;
        for (const name of ["memory_api_requests_total", "memory_retrieval_duration_ms", "cache_hits_total"])
          expect(metrics).toContain(name);
        // The server has left the jobs to the worker.
        const lastRuns = async () =>
          (await call(server, "GET", "/api/v1/jobs")).json.items.filter(
            ({ last_run }: { last_run?: string }) => last_run !== undefined,
          );
        await expect.poll(lastRuns, { timeout: 60_000 }).not.toEqual([]);
        expect((await call(server, "DELETE", `/api/v1/memories/${user}/all`)).json.complete).toBe(true);
        expect([await server.end(), await worker.end()]).toEqual([0, 0]);
      } finally {
        endLeftovers();
        await database.drop();
      }
    },
  );

  it.skipIf(!s3Vectors)(
    "a service with vectors in S3 gets there once the bucket has its own name",
    async () => {
      const familiar = {
        OPENAI_API_KEY: "sk-1",
        AWS_REGION: "eu-central-1",
        AWS_ACCESS_KEY_ID: "id",
        AWS_SECRET_ACCESS_KEY: "secret",
      };
      writeEnvFile(place, { ...familiar, AWS_S3_BUCKET: "memories" });
      expect((await keepsakeWith({}, "serve", "--port", "0")).err).toContain("S3_VECTORS_BUCKET");
      const bucket = `vectors-${randomBytes(6).toString("hex")}`;
      writeEnvFile(place, {
        ...familiar,
        S3_VECTORS_BUCKET: bucket,
        AWS_ENDPOINT_URL_S3VECTORS: s3Vectors ?? "",
        KEEPSAKE_FOLLOWER_FROM: "0",
        RETRIEVAL_TIMEOUT_MS: "10000",
        KEEPSAKE_EXTRACTOR: "rules",
        KEEPSAKE_API_KEY: KEY,
      });
      const server = await startInFolder(place, {});
      const say = async (path: string, message: string): Promise<string> =>
        (await call(server, "POST", path, { userId: user, message })).json.reply;
      await say("/message", "I use Shram and Magnet as productivity tools.");
      expect(await say("/forget", "Forget that I use Magnet.")).toMatch(/^Forgotten: /);
      expect(await say("/message", "What productivity tools do I use?")).toBe("You use Shram.");
      // The vectors of the bucket answer.
      const readAnswered = async (): Promise<string> => {
        await call(server, "POST", `/api/v1/memories/${user}/search`, { query: "productivity tools" });
        return (await call(server, "GET", "/metrics")).text;
      };
      await expect
        .poll(readAnswered, { timeout: 30_000 })
        .toMatch(/^memory_index_searches_total\{[^}]*outcome="answered"[^}]*\} [1-9]/m);
      expect(await server.end()).toBe(0);
    },
  );

  it.skipIf(!redis)("an agent with a YAML file, SQLite and Redis gets there with that file", async () => {
    const { hostname, port, password } = new URL(redis ?? "redis://localhost");
    writeFileSync(
      join(place, "agent_config.yaml"),
      [
        "memory:",
        "  sqlite:",
        '    database: "storage/memory.db"',
        "    pragmas:",
        '      journal_mode: "WAL"',
        "      cache_size: -64000",
        "  chroma:",
        '    collection: "julep_memories"',
        '    persist_directory: "storage/chromadb"',
        '    embedding_model: "all-MiniLM-L6-v2"',
        "  redis:",
        `    host: "${hostname}"`,
        `    port: ${port}`,
        "    ttl: 86400",
        "",
      ].join("\n"),
    );
    const env = {
      KEEPSAKE_CONFIG: "agent_config.yaml",
      REDIS_PASSWORD: password,
      KEEPSAKE_API_KEY: KEY,
      KEEPSAKE_PREFIX: `t${randomBytes(6).toString("hex")}`,
    };
    const first = await startInFolder(place, env);
    await expect.poll(first.printed).toMatch(/EMBEDDING_MODEL cannot be used: .*npm install/);
    await expect.poll(first.printed).toContain("Chroma has no folder of its own here");
    expect(await first.end()).toBe(0);

    // Without that package, the built-in embedder does.
    const own = { ...env, KEEPSAKE_EMBEDDER: "static" };
    const server = await startInFolder(place, own);
    expect(existsSync(join(place, "storage/memory.db"))).toBe(true);
    const state = {
      session_id: "s1",
      topic: "Python frameworks",
      preferences: { technical_level: "expert" },
    };
    expect((await call(server, "POST", `/api/v1/sessions/${user}`, state)).status).toBe(201);
    const changed = await call(server, "PATCH", `/api/v1/sessions/${user}/s1/state`, { topic: "Databases" });
    expect(changed.json).toMatchObject({ topic: "Databases", preferences: { technical_level: "expert" } });
    await call(server, "POST", "/api/v1/messages", {
      user_id: user,
      session_id: "s1",
      messages: [{ role: "user", content: "I prefer working on backend systems." }],
    });
    expect(await server.end()).toBe(0);

    const again = await startInFolder(place, own);
    expect((await call(again, "GET", `/api/v1/sessions/${user}/s1/state`)).json).toMatchObject({
      topic: "Databases",
    });
    const found = await call(again, "POST", `/api/v1/memories/${user}/search`, { query: "backend systems" });
    expect(JSON.stringify(found.json.items)).toContain("backend");
    expect(await again.end()).toBe(0);
  });

  it.skipIf(!python)(
    "an assistant with SQLite and FAISS gets there with its types, associations and clean-up",
    async () => {
      writeEnvFile(place, {
        MEMORY_DB_URL: "sqlite:///memories.db",
        FAISS_INDEX_PATH: "memories.faiss",
        EMBEDDING_MODEL: "all-MiniLM-L6-v2",
        USE_GPU: "False",
      });
      const env = {
        KEEPSAKE_API_KEY: KEY,
        KEEPSAKE_PYTHON: python ?? "",
        KEEPSAKE_FOLLOWER_FROM: "0",
        RETRIEVAL_TIMEOUT_MS: "10000",
        KEEPSAKE_EMBEDDER: "static",
      };
      const server = await startInFolder(place, env);
      await expect
        .poll(server.printed)
        .toContain("FAISS keeps its indexes in memories.faiss (FAISS_INDEX_PATH) and searches on the CPU");
      const add = async (content: string, type: string): Promise<string> => {
        const added = await call(server, "POST", "/api/v1/memories", {
          user_id: user,
          content,
          type,
          importance: 0.7,
          metadata: { source: "user_input" },
        });
        expect(added.status).toBe(201);
        return added.json.id;
      };
      const blue = await add("The user's favorite color is blue", "semantic");
      const pizza = await add("I like pizza", "episodic");
      const found = await call(server, "POST", `/api/v1/memories/${user}/search`, {
        query: "What color does the user like?",
        kinds: ["semantic"],
        limit: 3,
      });
      expect(found.json.items.map(({ id }: { id: string }) => id)).toEqual([blue]);
      const linked = await call(server, "POST", `/api/v1/memories/${user}/links`, {
        from: blue,
        to: pizza,
        type: "related_to",
        strength: 0.8,
      });
      expect(linked.status).toBe(201);
      const related = await call(server, "GET", `/api/v1/memories/${user}/${blue}/related?type=related_to`);
      expect(related.json.items).toMatchObject([{ memory: { id: pizza }, strength: 0.8 }]);
      const cleaned = await call(
        server,
        "POST",
        `/api/v1/memories/${user}/optimize?max_age_days=30&min_importance=0.3&dry_run=true`,
      );
      expect(cleaned.status).toBe(200);
      await expect.poll(() => existsSync(join(place, "memories.faiss")), { timeout: 30_000 }).toBe(true);
      expect(await server.end()).toBe(0);
      expect(existsSync(join(place, "memories.db"))).toBe(true);
    },
  );
});
