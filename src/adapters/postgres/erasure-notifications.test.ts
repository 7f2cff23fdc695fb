import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type PostgresPlace, testPlace } from "../../../test/postgres/place.ts";
import type { Scope } from "../../domain/scope.ts";
import { makeChangeSet, makeErasureReceipt, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { ANN, BOB } from "../../testing/memory-store/store-contents.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const erase = (id: string) => ({ messages: [], memories: [], rewrites: [], receipt: makeErasureReceipt(id) });

describe.skipIf(!url)(`notifications between servers${missing}`, () => {
  for (const pipeline of [true, false]) {
    describe(pipeline ? "pipelined" : "one query after the other", () => {
      let place: PostgresPlace;
      beforeAll(() => {
        place = testPlace(url ?? "", { pipeline });
      });
      afterAll(() => place.clear(), 60_000);

      /** Two handles on one record, and what the second hears. */
      async function pair() {
        const one = await place.open();
        const other = await place.again(one);
        const heard: (Scope | undefined)[] = [];
        const stop = other.erasureFeed?.subscribe((scope) => heard.push(scope)) ?? (() => {});
        const sql = "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'";
        const listener = async (): Promise<number | undefined> =>
          (await place.pool.query<{ pid: number }>(sql, [place.name])).rows[0]?.pid;
        await vi.waitFor(async () => expect(await listener()).toBeDefined(), 5000);
        return { one, other, heard, stop, listener };
      }

      it("report erasures of known users only", async () => {
        const { one, other, heard, stop } = await pair();
        for (const scope of [ANN, BOB])
          await one.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
        await other.revision(ANN);
        await other.since(ANN, 0);
        await one.commit(BOB, makeChangeSet({ base: 1, erase: erase("b") }));
        await other.commit(ANN, makeChangeSet({ base: 1, erase: erase("own") }));
        await one.commit(ANN, makeChangeSet({ base: 2, erase: erase("a") }));
        await vi.waitFor(() => expect(heard).toEqual([ANN]), 5000);
        stop();
        await one.commit(ANN, makeChangeSet({ base: 3, erase: erase("late") }));
        expect(heard).toEqual([ANN]);
        await Promise.all([one.close(), other.close()]);
      });

      it("report a possible erasure of any user after the connection broke", async () => {
        const { one, other, heard, listener } = await pair();
        await one.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
        await other.since(ANN, 0);
        const before = await listener();
        await place.pool.query("SELECT pg_terminate_backend($1)", [before]);
        await vi.waitFor(() => expect(heard).toContain(undefined), 5000);
        await vi.waitFor(async () => expect([undefined, before]).not.toContain(await listener()), 10_000);
        await one.commit(ANN, makeChangeSet({ base: 1, erase: erase("a") }));
        await vi.waitFor(() => expect(heard).toContainEqual(ANN), 5000);
        await Promise.all([one.close(), other.close()]);
      });
    });
  }

  it("do not use the only connection of a pool", async () => {
    const place = testPlace(url ?? "", { max: 1 });
    const record = await place.open();
    record.erasureFeed?.subscribe(() => {});
    expect(await record.revision(ANN)).toBe(0);
    await record.close();
    await place.clear();
  });
});
