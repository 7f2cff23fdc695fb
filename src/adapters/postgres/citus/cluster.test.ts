import { Client, Pool, type QueryConfig } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import type { Scope } from "../../../domain/scope.ts";
import { createMemory } from "../../../index.ts";
import { makeAttachment } from "../../../testing/memory-store/attachment-cases.ts";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMessage,
  makeRecallReceipt,
} from "../../../testing/memory-store/change-sets.ts";
import { makeGrant } from "../../../testing/memory-store/sharing-cases.ts";
import { ANN, makeFullChangeSet } from "../../../testing/memory-store/store-contents.ts";
import { makeWebhook } from "../../../testing/memory-store/webhook-cases.ts";
import type { PostgresStore } from "../index.ts";
import { COORDINATOR_TABLES, USER_TABLES } from "./distribute-tables.ts";

const { KEEPSAKE_TEST_CITUS: url } = process.env;
const missing = url ? "" : " (needs KEEPSAKE_TEST_CITUS, the address of a coordinator with workers)";
const WORD = "kiwi";
const ERASE_MESSAGE = {
  messages: [{ id: "m", content: "", keepMetadata: false }],
  memories: [],
  rewrites: [],
  receipt: makeErasureReceipt("e"),
};

describe.skipIf(!url)(`a store on a Citus cluster${missing}`, () => {
  let place: PostgresPlace;
  let store: PostgresStore;
  let schema: string;
  beforeAll(async () => {
    place = testPlace(url ?? "", { pipeline: true, options: "-c citus.shard_count=4" });
    store = await place.open();
    schema = place.schemaOf(store);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => place.clear(), 60_000);

  async function rowsOf(sql: string, ...values: unknown[]): Promise<{ [column: string]: unknown }[]> {
    return (await place.pool.query(sql, values)).rows;
  }

  it("distributes every table, except for those of the coordinator", async () => {
    const rows = await rowsOf(
      "SELECT relname AS name, partmethod AS method FROM pg_class LEFT JOIN pg_dist_partition ON logicalrelid = pg_class.oid " +
        "WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') ORDER BY 1",
      schema,
    );
    const named = (method: string | null) =>
      rows.filter((row) => row.method === method).map(({ name }) => name);
    expect(named(null)).toEqual(COORDINATOR_TABLES);
    expect(named("n")).toEqual(["embedder_choices", "webhooks"]);
    expect(named("h")).toEqual([...USER_TABLES, "share_parties", "shares"].sort());
    const [places] = await rowsOf(
      "SELECT count(DISTINCT colocationid) AS found FROM pg_dist_partition WHERE logicalrelid = ANY ($1::regclass[])",
      USER_TABLES.map((name) => `${schema}.${name}`),
    );
    expect(places?.found).toBe("1");
  });

  it("has one node run each statement of remembering, recalling, answering, listing and forgetting", async () => {
    const sent = new Map<string, { readonly text: string; readonly values?: unknown[] }>();
    const reach = new WeakMap<object, string>();
    const { query } = Client.prototype;
    vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...given: unknown[]) {
      const { text, values } = given[0] as QueryConfig & { text: string };
      if (text.startsWith("SET LOCAL keepsake.reach")) reach.set(this, text);
      const isOfUser = reach.get(this)?.endsWith("E''") && /^(?:SELECT|INSERT|UPDATE|DELETE|WITH)/.test(text);
      if (isOfUser && !text.includes("set_config") && !text.includes("pg_notify")) {
        sent.set(text, { text, ...(values ? { values } : {}) });
      }
      return Reflect.apply(query, this, given);
    });
    const memory = await createMemory({
      record: async () => place.again(store),
      secret: "a secret for tests only",
    });
    const ana = memory.scope({ user: "ana" });
    await ana.remember("I use Shram and Magnet as productivity tools.");
    await ana.remember("I moved from Rome to Lisbon. My sister is called Eva.");
    await ana.remember("I don't use Magnet anymore.");
    await ana.recall("Which tools do I use?");
    expect((await ana.answer("What are the productivity tools that I use?")).text).toContain("Shram");
    await ana.list();
    expect((await ana.forget("Shram")).complete).toBe(true);
    await memory.close();
    await eraseWithAnswer({ ...ANN, user: "answered" });
    vi.restoreAllMocks();

    const plans = await explainAll([...sent.values()]);
    expect(plans.length).toBeGreaterThan(20);
    const spread = plans.filter(
      ({ text, plan }) =>
        !(plan.includes("Task Count: 1\n") && !plan.includes("INSERT ... SELECT")) &&
        !/ (?:FROM|INTO) names\b/.test(text),
    );
    expect(spread).toEqual([]);
  });

  /** Stores an answer of an idempotent request, and erases it with the message. */
  async function eraseWithAnswer(scope: Scope): Promise<void> {
    const begun = { key: "k", request: "r", at: "2026-01-02T00:00:00.000Z" };
    const limits = { outdated: "", abandoned: "" };
    await store.answers.beginAnswer(scope, begun, limits);
    await store.answers.releaseAnswer(scope, "k");
    await store.answers.beginAnswer(scope, begun, limits);
    await store.answers.endAnswer(scope, "k", { status: 200, headers: {}, body: WORD }, []);
    expect(await store.answers.beginAnswer(scope, begun, limits)).toMatchObject({ state: "done" });
    await store.commit(scope, makeChangeSet({ messages: [makeMessage("m", { content: WORD })] }));
    await store.commit(scope, makeChangeSet({ base: 1, erase: ERASE_MESSAGE }));
    expect(await store.answers.beginAnswer(scope, begun, limits)).toMatchObject({ state: "erased" });
  }

  async function explainAll(statements: readonly { readonly text: string; readonly values?: unknown[] }[]) {
    const client = await place.pool.connect();
    try {
      await client.query(`SET search_path = ${schema}`);
      const plans: { readonly text: string; readonly plan: string }[] = [];
      for (const { text, values = [] } of statements) {
        const { rows } = await client.query(`EXPLAIN (COSTS OFF) ${text}`, values);
        plans.push({ text, plan: rows.map((row) => `${row["QUERY PLAN"]}\n`).join("") });
      }
      return plans;
    } finally {
      await client.query("RESET search_path");
      client.release();
    }
  }

  it("separates projects on the nodes themselves", async () => {
    for (const project of ["ours", "theirs"]) await fill({ project, user: "ann" });
    const shards = await rowsOf(
      "SELECT table_name::text AS of, shard_name AS name, nodeport AS port FROM citus_shards " +
        "WHERE table_name IN (SELECT oid FROM pg_class WHERE relnamespace = $1::regnamespace) ORDER BY 1",
      schema,
    );
    const nodes = new Map([...new Set(shards.map(({ port }) => port))].map((port) => [port, openNode(port)]));
    const read = async (project: string): Promise<Set<string>> => {
      const found = new Set<string>();
      for (const { of, name, port } of shards) {
        const node = nodes.get(port);
        await node?.query("SELECT set_config('keepsake.project', $1, false)", [project]);
        for (const row of (await node?.query(`SELECT project FROM ${String(name)}`))?.rows ?? [])
          found.add(`${String(of).replace(/^.*\./, "")} of ${row.project}`);
      }
      return found;
    };
    try {
      expect(await read("")).toEqual(new Set());
      const tables = [...USER_TABLES, "embedder_choices", "share_parties", "shares", "webhooks"].sort();
      expect([...(await read("ours"))].sort()).toEqual(tables.map((table) => `${table} of ours`));
    } finally {
      await Promise.all([...nodes.values()].map((node) => node.end()));
    }
  });

  function openNode(port: unknown): Pool {
    const address = new URL(url ?? "");
    address.port = String(port);
    address.username = "keepsake_runtime";
    return new Pool({ connectionString: address.href, max: 1 });
  }

  /** Puts a row of the user into every table. */
  async function fill(scope: Scope): Promise<void> {
    await store.commit(scope, { ...makeFullChangeSet("0"), attachments: [makeAttachment("a")] });
    const changes = makeChangeSet({ base: 1, messages: [makeMessage("m")], dropUnits: ["memory-0"] });
    await store.commit(scope, changes);
    await store.sharing?.apply(scope.project, { put: [makeGrant("grant-1", { project: scope.project })] });
    const webhook = makeWebhook("hook-1", { project: scope.project });
    await store.embedders?.save({ ...scope, embedder: "large" });
    await store.webhooks?.save(webhook);
    await store.webhooks?.saveCursors(webhook, [{ scope, revision: 2 }]);
    const uses = [{ id: "other-0", count: 1, lastAt: "2026-01-02T00:00:00.000Z" }];
    await store.usage?.add([{ scope, uses }]);
    await store.recallReceipts.save([{ scope, receipts: [makeRecallReceipt("r")] }]);
    await store.searchIndexes.save(scope, { revision: 2, bytes: Uint8Array.of(1) });
    await store.jobs.saveProgress("decay", [{ scope, visit: { revision: 1 } }]);
    const begun = { key: "k", request: "r", at: "2026-01-02T00:00:00.000Z" };
    await store.answers.beginAnswer(scope, begun, { outdated: "", abandoned: "" });
  }

  it("continues after a program that ended when a user had a number only", async () => {
    await rowsOf(`INSERT INTO ${schema}.names (number, project, name) VALUES (9000, 'default', 'half')`);
    const scope = { ...ANN, user: "half" };
    expect(await store.revision(scope)).toBe(0);
    expect((await store.since(scope, 0)).messages).toEqual([]);
    await store.commit(scope, makeChangeSet({ messages: [makeMessage("m")] }));
    expect(await store.revision(scope)).toBe(1);
    expect(await rowsOf(`SELECT number FROM ${schema}.users WHERE name = 'half'`)).toEqual([
      { number: "9000" },
    ]);
  });

  it("distributes a table that an update adds, and keeps the rows of a schema from before it", async () => {
    const scope = { ...ANN, user: "before" };
    await store.commit(scope, makeChangeSet({ messages: [makeMessage("m")] }));
    await rowsOf(`DROP TABLE ${schema}.embedder_choices`);
    await rowsOf(`DELETE FROM ${schema}.migrations WHERE number >= 12`);
    const updated = await place.again(store);
    const sql = "SELECT partmethod AS method FROM pg_dist_partition WHERE logicalrelid = $1::regclass";
    expect(await rowsOf(sql, `${schema}.embedder_choices`)).toEqual([{ method: "n" }]);
    await updated.embedders?.save({ ...scope, embedder: "large" });
    expect(await store.embedders?.read(scope)).toBe("large");
    expect((await updated.since(scope, 0)).messages).toHaveLength(1);
    await updated.close();
  });

  it("refuses to create its tables for a login that is no superuser", async () => {
    const login = `${place.name}_login`;
    await rowsOf(`CREATE ROLE ${login} LOGIN`);
    const address = new URL(url ?? "");
    address.username = login;
    const other = testPlace(address.href);
    await rowsOf(`GRANT CREATE ON DATABASE "${address.pathname.slice(1)}" TO ${login}`);
    await expect(other.open()).rejects.toMatchObject({ code: "forbidden" });
    await other.clear();
    await rowsOf(`REVOKE CREATE ON DATABASE "${address.pathname.slice(1)}" FROM ${login}`);
    await rowsOf(`DROP ROLE ${login}`);
  });

  it("refuses a worker as the database", async () => {
    const address = new URL(url ?? "");
    const [node] = await rowsOf(
      "SELECT nodeport AS port FROM pg_dist_node WHERE groupid > 0 ORDER BY 1 LIMIT 1",
    );
    address.port = String(node?.port);
    const worker = testPlace(address.href);
    await expect(worker.open()).rejects.toMatchObject({ code: "unsupported" });
    await worker.clear();
  });
});
