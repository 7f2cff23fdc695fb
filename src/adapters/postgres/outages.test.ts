import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FaultyLine, faultyLine } from "../../../test/postgres/faulty-line.ts";
import { type PostgresPlace, testPlace } from "../../../test/postgres/place.ts";
import { makeChangeSet, makeMemory, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { ANN, BOB } from "../../testing/memory-store/store-contents.ts";
import type { PostgresStore } from "./index.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
const first = makeChangeSet({ messages: [makeMessage("m1")], memories: [makeMemory("a")] });

describe.skipIf(!url)(`failures of the server or the connection${missing}`, () => {
  for (const pipeline of [true, false]) {
    describe(pipeline ? "pipelined" : "one query after the other", () => {
      let line: FaultyLine;
      let place: PostgresPlace;
      let record: PostgresStore;
      beforeAll(async () => {
        line = await faultyLine(url ?? "");
        place = testPlace(line.url, { pipeline });
      });
      beforeEach(async () => {
        record = await place.open({ timeoutMs: 1500, connectMs: 1000, patienceMs: 700 });
      });
      afterEach(async () => {
        line.become("none");
        await record.close();
      });
      afterAll(async () => {
        await place.clear();
        await line.close();
      });

      it("finds a commit whose answer was lost, and stores it once", async () => {
        const before = line.broke;
        line.become("loses the answer to COMMIT");
        expect(await record.commit(ANN, first)).toBe(1);
        expect(line.broke).toBe(before + 1);
        line.become("loses the answer to COMMIT");
        expect(await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }))).toBe(2);
        expect((await record.since(ANN, 0)).messages.map(({ id }) => id)).toEqual(["m1", "m2"]);
        expect(await record.log(ANN, { limit: 9 })).toHaveLength(2);
      });

      it("retries a commit that did not arrive", async () => {
        line.become("loses COMMIT");
        expect(await record.commit(ANN, first)).toBe(1);
        expect(await record.log(ANN, { limit: 9 })).toHaveLength(1);
      });

      it("gives no revision to a commit that another writer has overtaken", async () => {
        await record.commit(ANN, first);
        const other = await place.again(record);
        line.become("loses COMMIT");
        const lost = record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("lost")] }));
        const won = other.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("won")] }));
        const ends = await Promise.allSettled([lost, won]);
        expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        const [failed] = ends.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
        expect(failed).toMatchObject({ code: "conflict" });
        expect((await record.since(ANN, 0)).messages).toHaveLength(2);
        await other.close();
      });

      it("begins an answer once if the reply to that was lost", async () => {
        const begun = { key: "k", request: "r", at: "2026-01-02T00:00:00.000Z" };
        const limits = { outdated: "2026-01-01T00:00:00.000Z", abandoned: "2026-01-01T00:00:00.000Z" };
        line.become("loses the answer to COMMIT");
        expect(await record.answers.beginAnswer(ANN, begun, limits)).toBeUndefined();
        expect(await record.answers.beginAnswer(ANN, begun, limits)).toMatchObject({ state: "begun" });
      });

      it("continues after idle connections broke", async () => {
        await record.commit(ANN, first);
        line.cut();
        expect(await record.revision(ANN)).toBe(1);
      });

      it("continues if a connection ends just when it is ready", async () => {
        await record.commit(ANN, first);
        for (let i = 0; i < 3; i += 1) {
          const before = line.broke;
          line.cut();
          line.become("ends what has begun");
          expect(await record.revision(ANN)).toBe(1);
          expect(line.broke).toBe(before + 1);
        }
      });

      it("waits for a server that comes back, and fails in time if it does not", async () => {
        await record.commit(ANN, first);
        line.become("refuses");
        setTimeout(() => line.become("none"), 300);
        expect(await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }))).toBe(2);
        line.become("refuses");
        const begun = performance.now();
        await expect(record.revision(ANN)).rejects.toMatchObject({ code: "unavailable" });
        await expect(record.commit(BOB, first)).rejects.toMatchObject({ code: "unavailable" });
        expect(performance.now() - begun).toBeLessThan(5000);
        line.become("none");
        expect(await record.revision(BOB)).toBe(0);
      });

      it("does not wait forever for a silent server", async () => {
        await record.commit(ANN, first);
        line.become("silent");
        const begun = performance.now();
        await expect(record.revision(ANN)).rejects.toMatchObject({ code: "unavailable" });
        expect(performance.now() - begun).toBeLessThan(6000);
        line.become("none");
        expect(await record.revision(ANN)).toBe(1);
      });

      it("keeps each acknowledged write once while its connections are ended repeatedly", async () => {
        const patient = await place.again(record, { patienceMs: 10_000 });
        const acknowledged: string[] = [];
        let isOver = false;
        const write = async (user: string): Promise<void> => {
          for (let base = 0; base < 25; ) {
            const id = `${user}-${base}`;
            base = await patient.commit(
              { project: "p", user },
              makeChangeSet({ base, messages: [makeMessage(id)] }),
            );
            acknowledged.push(id);
          }
        };
        const end = async (): Promise<void> => {
          while (!isOver) {
            const sql =
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()";
            await place.pool.query(sql, [place.name]).catch(() => undefined);
            await new Promise((resolve) => setTimeout(resolve, 100));
          }
        };
        const ending = end();
        await Promise.all(["a", "b", "c"].map(write));
        isOver = true;
        await ending;
        for (const user of ["a", "b", "c"]) {
          const { messages } = await record.since({ project: "p", user }, 0);
          expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 25 }, (_, i) => `${user}-${i}`));
        }
        expect(acknowledged).toHaveLength(75);
        await patient.close();
      });
    });
  }

  it("shows neither the password nor texts of users in errors", async () => {
    const place = testPlace((url ?? "").replace(/:[^:@/]+@/, ":not-the-password@"));
    const refused = await place.open().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "forbidden" });
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toContain("not-the-password");
    await place.clear();
  });
});
