import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { VectorIndex } from "../ports/follower.ts";
import { VECTOR_INDEX_CASES } from "./follower-cases.ts";
import {
  INDEX_ANN,
  makeEntry,
  makeUnitVector,
  readIds,
  SPACE,
  waitUntilPassing,
} from "./follower-entries.ts";

export interface VectorIndexHarness {
  /** Shown in the test output: "chroma", "pinecone". */
  readonly name: string;
  /** Starts what the follower needs, once. */
  setup?(): Promise<void>;
  /** A follower that holds nothing, in a place of its own (a collection, a prefix). It is prepared by the suite. */
  open(): Promise<VectorIndex>;
  /** Closes a follower and opens what it kept, as another process would; absent where it keeps nothing. */
  reopen?(follower: VectorIndex): Promise<VectorIndex>;
  /** A second handle on the same place, as another process would have; absent where there can be none. */
  second?(follower: VectorIndex): Promise<VectorIndex>;
  /** Takes the server away, and gives it back with what it had; absent where the suite may not do that. */
  readonly outage?: { begin(): Promise<void>; end(): Promise<void> };
  /** Frees what `open` took beyond the follower itself: its collection, its folder. */
  remove?(follower: VectorIndex): Promise<void>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** For one case, in ms (30,000). */
  readonly timeoutMs?: number;
  /** Case title -> why. Each runs and must fail; one that passes again breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** A server that is gone is said to be so within this time, in ms. */
const GONE_MS = 15_000;

/** Runs the whole contract of `ports/follower.ts` against one adapter. Call it at the top level of a test file. */
export function vectorIndexConformance(harness: VectorIndexHarness): void {
  const gaps = harness.knownGaps ?? {};
  const timeout = harness.timeoutMs ?? 30_000;
  describe(`Follower: ${harness.name}`, () => {
    let follower: VectorIndex;
    beforeAll(() => harness.setup?.(), 120_000);
    afterAll(() => harness.teardown?.(), 120_000);
    beforeEach(async () => {
      follower = await harness.open();
      await follower.prepare(SPACE);
    }, timeout);
    afterEach(async () => {
      await harness.remove?.(follower);
      await follower.close();
    }, timeout);

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in VECTOR_INDEX_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(VECTOR_INDEX_CASES)) {
      const test = title in gaps ? it.fails : it;
      const shown = title in gaps ? `${title} [known gap: ${gaps[title]}]` : title;
      test(shown, { timeout }, () => run(follower));
    }

    const { reopen, second, outage } = harness;
    if (reopen) {
      it("keeps everything over a reopening", { timeout }, async () => {
        await follower.put(INDEX_ANN, [makeEntry("east", [1]), makeEntry("north", [0, 1])]);
        await follower.drop(INDEX_ANN, ["north"]);
        follower = await reopen(follower);
        await follower.prepare(SPACE);
        await waitUntilPassing(async () => {
          expect(await readIds(follower, INDEX_ANN)).toEqual(["east"]);
          expect(await follower.nearest(INDEX_ANN, makeUnitVector([1]), { limit: 9 })).toHaveLength(1);
        });
      });
    }
    if (second) {
      it("shows what is put and dropped to every handle", { timeout }, async () => {
        const other = await second(follower);
        await other.prepare(SPACE);
        await follower.put(INDEX_ANN, [makeEntry("east", [1]), makeEntry("north", [0, 1])]);
        await waitUntilPassing(async () =>
          expect(await readIds(other, INDEX_ANN)).toEqual(["east", "north"]),
        );
        await other.drop(INDEX_ANN, ["east"]);
        await waitUntilPassing(async () =>
          expect(await follower.held(INDEX_ANN, ["east", "north"])).toEqual(["north"]),
        );
        await other.close();
        expect(await readIds(follower, INDEX_ANN)).toEqual(["north"]);
      });
    }
    if (outage) {
      it("says within its deadline that its server is gone, and goes on when it is back", {
        timeout: timeout + 4 * GONE_MS,
      }, async () => {
        await follower.put(INDEX_ANN, [makeEntry("east", [1])]);
        await outage.begin();
        try {
          for (const call of [
            () => follower.put(INDEX_ANN, [makeEntry("north", [0, 1])]),
            () => follower.nearest(INDEX_ANN, makeUnitVector([1]), { limit: 1 }),
            () => follower.held(INDEX_ANN, ["east"]),
          ]) {
            const begun = performance.now();
            await expect(call()).rejects.toMatchObject({ code: "unavailable" });
            expect(performance.now() - begun).toBeLessThan(GONE_MS);
          }
        } finally {
          await outage.end();
        }
        await waitUntilPassing(async () => {
          await follower.put(INDEX_ANN, [makeEntry("north", [0, 1])]);
          expect(await readIds(follower, INDEX_ANN)).toEqual(["east", "north"]);
        });
      });
    }
  });
}
