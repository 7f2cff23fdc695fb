import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ClusterNode, formsOf, openNode } from "../../../../test/postgres/nodes.ts";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import type { Scope } from "../../../domain/scope.ts";
import { makeAttachment } from "../../../testing/memory-store/attachment-cases.ts";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeUnit,
} from "../../../testing/memory-store/change-sets.ts";
import { ANN } from "../../../testing/memory-store/store-contents.ts";
import type { PostgresStore } from "../index.ts";

const { KEEPSAKE_TEST_CITUS: url = "" } = process.env;
const missing = url ? "" : " (needs KEEPSAKE_TEST_CITUS, the address of a coordinator with workers)";
const FREED_SPACE = "PostgreSQL: freed space of its tables";
const WIPED = { place: FREED_SPACE, found: 0 };
const WEEK_MS = 7 * 86_400_000;
const SOON = { timeout: 60_000, interval: 200 };

describe.skipIf(!url)(`an erasure on a Citus cluster${missing}`, () => {
  let place: PostgresPlace;
  let store: PostgresStore;
  let schema: string;
  let nodes: readonly ClusterNode[];
  let word: string;
  let scope: Scope;
  beforeAll(async () => {
    place = testPlace(url, { pipeline: true, options: "-c citus.shard_count=4" });
    store = await place.open();
    schema = place.schemaOf(store);
    const { rows } = await place.pool.query<{ port: number }>("SELECT nodeport AS port FROM pg_dist_node");
    nodes = await Promise.all(rows.map(({ port }) => openNode(url, port)));
  });
  beforeEach(() => {
    word = `w${randomBytes(12).toString("hex")}`;
    scope = { ...ANN, user: `of-${word.slice(0, 6)}` };
  });
  afterAll(async () => {
    await Promise.all((nodes ?? []).map((node) => node.close()));
    await place.clear();
  }, 60_000);

  /** Stores the word in every kind of row that may contain a user's words. */
  async function storeWord(): Promise<void> {
    await store.commit(
      scope,
      makeChangeSet({
        messages: [makeMessage("m", { content: `I keep a ${word}.` })],
        attachments: [makeAttachment("d", [...Buffer.from(word)])],
        memories: [makeMemory("a", 1, { text: `The user keeps a ${word}.` })],
        units: [makeUnit("a", "memory", "a", word), makeUnit("m#0", "passage", "m", word)],
      }),
    );
    await store.searchIndexes.save(scope, { revision: 1, bytes: Buffer.from(word) });
  }

  async function eraseWord(): Promise<void> {
    const erase = {
      messages: [{ id: "m", content: "", keepMetadata: false }],
      memories: ["a"],
      rewrites: [],
      attachments: ["d"],
      receipt: makeErasureReceipt("e"),
    };
    await store.commit(scope, makeChangeSet({ base: 1, cause: "forget", dropUnits: ["m#0"], erase }));
  }

  const scrub = () => store.erasures.scrub(scope, [word]);
  /** The ports of the nodes whose files contain the word. */
  async function findNodes(): Promise<number[]> {
    const found = await Promise.all(
      nodes.map(async (node) => ((await node.findFiles(formsOf(word))).length > 0 ? [node.port] : [])),
    );
    return found.flat();
  }

  /** The shard with the user's messages, and the ports of its node and of another worker. */
  async function findShard(): Promise<{ id: number; name: string; from: ClusterNode; to: ClusterNode }> {
    const { rows } = await place.pool.query<{ id: number; port: number }>(
      "SELECT shardid AS id, nodeport AS port FROM pg_dist_placement JOIN pg_dist_node USING (groupid) WHERE shardid = " +
        `get_shard_id_for_distribution_column('${schema}.messages', (SELECT number FROM ${schema}.names WHERE name = $1))`,
      [scope.user],
    );
    const [{ id, port } = { id: 0, port: 0 }] = rows;
    const from = nodes.find((node) => node.port === port);
    const to = nodes.find((node) => node.port !== port && String(node.port) !== new URL(url).port);
    if (!from || !to) throw new Error("The cluster has fewer than two workers.");
    return { id, name: `${schema}.messages_${id}`, from, to };
  }

  it("is not complete before the node has rewritten the shards, and leaves the word in no file of any node", async () => {
    await storeWord();
    await eraseWord();
    const { from } = await findShard();
    // The control: without the rewrite, it is in the files of its node, and of no other.
    expect(await findNodes()).toEqual([from.port]);
    await expect.poll(scrub, SOON).toContainEqual(WIPED);
    expect(await findNodes()).toEqual([]);
    const { rows } = await place.pool.query(`SELECT name FROM ${schema}.freed WHERE name <> ''`);
    expect(rows).toEqual([]);
    expect(await store.maintenance?.remains()).toEqual([
      { place: FREED_SPACE, forMs: WEEK_MS },
      { place: "PostgreSQL: write-ahead log" },
    ]);
  });

  it("is not complete while a shard moves, nor before the shard that the move left is dropped", async () => {
    await storeWord();
    const { id, name, from, to } = await findShard();
    const [holder, mover] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
    await Promise.all([holder.connect(), mover.connect()]);
    await holder.query("ALTER SYSTEM SET citus.defer_shard_delete_interval = -1");
    await holder.query("SELECT pg_reload_conf()");
    try {
      // A move of Citus's own tests waits for this lock: after it has copied, before it follows up and switches.
      await holder.query("SELECT pg_advisory_lock(44000, 55152)");
      await mover.query("SET citus.running_under_citus_test_suite = on");
      const move = mover.query("SELECT citus_move_shard_placement($1, $2, $3, $4, $5)", [
        id,
        from.host,
        from.port,
        to.host,
        to.port,
      ]);
      const countWaiting =
        "SELECT count(*)::int AS found FROM pg_locks WHERE classid = 44000 AND NOT granted";
      await Promise.race([
        move.then(() => Promise.reject(new Error("The move did not wait."))),
        expect.poll(async () => (await holder.query(countWaiting)).rows, SOON).toEqual([{ found: 1 }]),
      ]);
      expect((await findNodes()).toSorted()).toEqual([from.port, to.port].toSorted());
      await eraseWord();
      expect(await scrub()).not.toContainEqual(WIPED);
      expect((await store.maintenance?.remains())?.[0]).toEqual({ place: FREED_SPACE });
      await holder.query("SELECT pg_advisory_unlock(44000, 55152)");
      await move;
      expect((await findShard()).from.port).toBe(to.port);
      // The rows are erased on both; their bytes are not.
      expect((await findNodes()).toSorted()).toEqual([from.port, to.port].toSorted());
      expect(await scrub()).not.toContainEqual(WIPED);
      await holder.query("CALL citus_cleanup_orphaned_resources()");
      await expect.poll(scrub, SOON).toContainEqual(WIPED);
      expect(await findNodes()).toEqual([]);
    } finally {
      await holder.query("ALTER SYSTEM RESET citus.defer_shard_delete_interval");
      await holder.query("SELECT pg_reload_conf()");
      await Promise.all([holder.end(), mover.end()]);
    }
    // The new placement separates projects like the one before.
    const reader = await openNode(url, to.port, "keepsake_runtime");
    expect(await reader.rows(`SELECT count(*)::int AS found FROM ${name}`)).toEqual([{ found: 0 }]);
    await reader.rows("SELECT set_config('keepsake.project', $1, false)", scope.project);
    expect(await reader.rows(`SELECT count(*)::int AS found FROM ${name}`)).not.toEqual([{ found: 0 }]);
    await reader.close();
  });

  it("is not complete while a transaction that is prepared on the node keeps the rows", async () => {
    await storeWord();
    const { from } = await findShard();
    await from.rows("BEGIN");
    await from.rows("SELECT pg_current_xact_id()");
    await from.rows(`PREPARE TRANSACTION '${word}'`);
    try {
      await eraseWord();
      expect(await scrub()).not.toContainEqual(WIPED);
    } finally {
      await from.rows(`ROLLBACK PREPARED '${word}'`);
    }
    await expect.poll(scrub, SOON).toContainEqual(WIPED);
    expect(await findNodes()).toEqual([]);
  });

  it("is complete while a logical slot of the node is unused, which keeps no rows of users", async () => {
    await storeWord();
    const { from } = await findShard();
    const slot = `slot_${place.name}`;
    await from.rows("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", slot);
    try {
      await eraseWord();
      await expect.poll(scrub, SOON).toContainEqual(WIPED);
      expect(await findNodes()).toEqual([]);
    } finally {
      await from.rows("SELECT pg_drop_replication_slot($1)", slot);
    }
  });

  it("does not take a shard that is nowhere for rewritten, and rewrites all shards of its table instead", async () => {
    await place.pool.query(
      `INSERT INTO ${schema}.freed (name, since) VALUES ('messages_1', now() - interval '4 days')`,
    );
    const marked = async () => {
      const { rows } = await place.pool.query<{ name: string }>(
        `SELECT name FROM ${schema}.freed WHERE name LIKE 'messages%' ORDER BY 1`,
      );
      return rows.map(({ name }) => name);
    };
    await store.maintenance?.tidy();
    const { rows } = await place.pool.query<{ name: string }>(
      `SELECT 'messages_' || shardid AS name FROM pg_dist_shard WHERE logicalrelid = '${schema}.messages'::regclass ORDER BY 1`,
    );
    expect(rows).toHaveLength(4);
    expect(await marked()).toEqual(rows.map(({ name }) => name));
    const tidy = async () => {
      await store.maintenance?.tidy();
      return marked();
    };
    await expect.poll(tidy, SOON).toEqual([]);
  });
});
