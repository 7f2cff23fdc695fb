import { randomBytes } from "node:crypto";
import type { PoolConfig } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PostgresPlace, testPlace } from "../../../../test/postgres/place.ts";
import { makeChangeSet, makeMessage } from "../../../testing/memory-store/change-sets.ts";
import { type PostgresStore, postgresStream } from "../index.ts";

const { KEEPSAKE_TEST_POSTGRES: url } = process.env;
const missing = url ? "" : ' (needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)")';
/** More than comes at once, and no whole number of pieces. */
const LARGE = 9_000_001;

describe.skipIf(!url)(`search indexes in pieces${missing}`, () => {
  const WAYS: [string, PoolConfig][] = [
    ["as bytes", { pipeline: true }],
    ["as bytes, over the earlier stream", { pipeline: true, stream: postgresStream }],
    ["as text, over a connection that is not pipelined", { pipeline: false }],
  ];
  for (const [way, options] of WAYS) {
    describe(way, () => {
      let place: PostgresPlace;
      let record: PostgresStore;
      beforeAll(() => {
        place = testPlace(url ?? "", options);
      });
      beforeEach(async () => {
        record = await place.open();
      });
      afterEach(() => record.close());
      afterAll(() => place.clear());

      const scopeOf = (i: number) => ({ project: `p${i % 2}`, user: `u${i}` });
      const filled = async (sizes: readonly number[]): Promise<Uint8Array[]> => {
        const all = sizes.map((size) => new Uint8Array(randomBytes(size)));
        for (const [i, bytes] of all.entries()) {
          await record.commit(scopeOf(i), makeChangeSet({ messages: [makeMessage("m")] }));
          await record.searchIndexes.save(scopeOf(i), { revision: 1, bytes });
        }
        return all;
      };

      it("are complete at any size, in parallel, and between other reads", async () => {
        const all = await filled([LARGE, 0, 1, 65_536, 65_537, 300_000]);
        const reads = all.map(async (bytes, i) => {
          const [found, revision] = await Promise.all([
            record.searchIndexes.read(scopeOf(i)),
            record.revision(scopeOf(i)),
          ]);
          expect(revision).toBe(1);
          expect(found?.revision).toBe(1);
          expect(found?.bytes.length).toBe(bytes.length);
          expect(Buffer.compare(found?.bytes ?? Buffer.alloc(0), bytes)).toBe(0);
        });
        await Promise.all(reads);
      });

      it("are passed on in parts, each once and in order", async () => {
        const [bytes = new Uint8Array(0)] = await filled([LARGE]);
        const parts: Buffer[] = [];
        const found = await record.searchIndexes.read(scopeOf(0), {
          begin: (revision, size) => expect([revision, size]).toEqual([1, LARGE]),
          take: (part) => void parts.push(Buffer.from(part)),
        });
        expect(found).toEqual({ revision: 1, bytes: Buffer.alloc(0) });
        expect(parts.length).toBeGreaterThan(100);
        expect(Buffer.compare(Buffer.concat(parts), bytes)).toBe(0);
      });

      it("never mix parts of two versions during a write", async () => {
        const [first = new Uint8Array(0)] = await filled([LARGE]);
        const second = new Uint8Array(randomBytes(LARGE - 100_000));
        let isOver = false;
        const keeping = (async () => {
          for (let i = 0; i < 4; i += 1) {
            await record.searchIndexes.save(scopeOf(0), { revision: 1, bytes: i % 2 === 0 ? second : first });
          }
          isOver = true;
        })();
        while (!isOver) {
          const found = await record.searchIndexes.read(scopeOf(0));
          const isOne = [first, second].some((one) => found && Buffer.compare(found.bytes, one) === 0);
          expect(found === undefined || isOne).toBe(true);
        }
        await keeping;
      });
    });
  }
});
