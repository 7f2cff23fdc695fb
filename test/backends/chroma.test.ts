import { execFileSync } from "node:child_process";
import { ChromaClient } from "chromadb";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ChromaVectorIndex, createChromaVectorIndex } from "../../src/adapters/chroma/index.ts";
import type { VectorIndexEntry } from "../../src/ports/vector-index.ts";
import {
  INDEX_ANN,
  INDEX_BOB,
  makeEntry,
  makeRandomVectors,
  readIds,
  waitUntilPassing,
} from "../../src/testing/vector-index/index-fixtures.ts";
import { type OwnServer, ownServer } from "../services/own-server.ts";
import { hasSmallDisks, smallDisk } from "../services/small-disk.ts";
import { filesWith, filesWithVectors } from "./places.ts";

const isThere = process.env.KEEPSAKE_TEST_CHROMA !== undefined;
const why = 'needs KEEPSAKE_TEST_CHROMA: eval "$(test/services/up chroma)"';

const DIMENSIONS = 64;
const SPACE = { fingerprint: `test/${DIMENSIONS}`, dimensions: DIMENSIONS };
const VECTORS = makeRandomVectors(1200, DIMENSIONS, 3);
const ENTRIES: readonly VectorIndexEntry[] = VECTORS.map((vector, i) => ({
  ...makeEntry(`unit ${i};`, vector, { owner: `owner-of-${i};` }),
  text: `zqx${i}canary and more`,
}));
const mayMount = isThere && hasSmallDisks();
const GONE = [7, 8, 500, 1199] as const;
const KEPT = 9;
const entryOf = (i: number): VectorIndexEntry => ENTRIES[i] ?? makeEntry("none", [1]);

describe.skipIf(!isThere)(`Chroma, on a server that is treated badly (${isThere ? "its own" : why})`, () => {
  let server: OwnServer;
  let follower: ChromaVectorIndex;
  const open = async (options: { texts?: boolean; timeoutMs?: number } = {}): Promise<ChromaVectorIndex> => {
    const { hostname, port } = new URL(server.address);
    const opened = createChromaVectorIndex({
      client: new ChromaClient({ host: hostname, port: Number(port) }),
      ...options,
    });
    await opened.prepare(SPACE);
    return opened;
  };
  beforeAll(async () => {
    server = await ownServer("chroma");
  }, 120_000);
  afterAll(() => server?.remove());
  afterEach(async () => {
    // One that was prepared for another space takes away those of this one.
    await follower.clear();
    await follower.close();
  }, 60_000);

  it("leaves no vector of what was dropped in the files of its index", { timeout: 60_000 }, async () => {
    follower = await open({ texts: true });
    await follower.put(INDEX_ANN, ENTRIES);
    const gone = GONE.map((i) => entryOf(i));
    const ids = gone.map(({ id }) => id);
    expect(vectorsIn(server.data, gone)).toEqual([expect.stringMatching(/data_level0\.bin: 4$/)]);
    await follower.drop(INDEX_ANN, ids);
    await waitUntilPassing(async () => expect(vectorsIn(server.data, gone)).toEqual([]));
    expect(vectorsIn(server.data, [entryOf(KEPT)])).toHaveLength(1);
    expect(await follower.held(INDEX_ANN, ids)).toEqual([]);
    // What does stay is told of.
    const places = gone.flatMap(({ text = "" }) => filesWith(server.data, Buffer.from(text)));
    expect([...new Set(places)]).toEqual(["chroma.sqlite3"]);
    expect(follower.remains?.map(({ place }) => place).join()).toContain("chroma.sqlite3");
    // Until its own remedy is taken, which wants the server stopped.
    await server.kill();
    vacuum(server);
    expect(
      filesWithVectors(
        server.data,
        gone.map(({ vector }) => vector),
      ),
    ).toEqual([]);
    expect(gone.flatMap(({ text = "" }) => filesWith(server.data, Buffer.from(text)))).toEqual([]);
    const names = gone.flatMap(({ id, metadata }) => [id, metadata.owner]);
    expect(names.flatMap((name) => filesWith(server.data, Buffer.from(name)))).toEqual([]);
    await server.start();
    expect(await readIds(follower, INDEX_ANN)).toHaveLength(ENTRIES.length - GONE.length);
  });

  it("leaves no vector of a user who was dropped whole, nor of a space that was left", {
    timeout: 60_000,
  }, async () => {
    follower = await open();
    const [ofAnn, ofBob] = [ENTRIES.slice(0, 100), ENTRIES.slice(600, 700)];
    await follower.put(INDEX_ANN, ofAnn);
    await follower.put(INDEX_BOB, ofBob);
    expect(vectorsIn(server.data, ofAnn)).toEqual([expect.stringMatching(/data_level0\.bin: 100$/)]);
    await follower.dropUser(INDEX_ANN);
    await waitUntilPassing(async () => expect(vectorsIn(server.data, ofAnn)).toEqual([]));
    expect(vectorsIn(server.data, ofBob)).toEqual([expect.stringMatching(/data_level0\.bin: 100$/)]);
    await follower.prepare({ ...SPACE, fingerprint: "another" });
    await waitUntilPassing(async () => expect(vectorsIn(server.data, ofBob)).toEqual([]));
  });

  it("still has what it was told when it is killed, and says meanwhile that it is gone", {
    timeout: 60_000,
  }, async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES);
    await follower.drop(INDEX_ANN, ["unit 5;"]);
    await server.kill();
    const begun = performance.now();
    await expect(follower.put(INDEX_ANN, [entryOf(5)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.nearest(INDEX_ANN, entryOf(1).vector, { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(performance.now() - begun).toBeLessThan(2000);
    await server.start();
    expect(await readIds(follower, INDEX_ANN)).toEqual(
      ENTRIES.map(({ id }) => id)
        .filter((id) => id !== "unit 5;")
        .sort(),
    );
    await follower.put(INDEX_ANN, [entryOf(5)]);
    expect((await follower.nearest(INDEX_ANN, entryOf(5).vector, { limit: 1 }))[0]?.id).toBe("unit 5;");
  });

  it("lets no write arrive late behind another when the server stood still", {
    timeout: 60_000,
  }, async () => {
    follower = await open({ timeoutMs: 1000 });
    await follower.put(INDEX_ANN, [entryOf(1)]);
    server.pause();
    const begun = performance.now();
    await expect(follower.put(INDEX_ANN, [entryOf(2)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.held(INDEX_ANN, ["unit 1;"])).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.drop(INDEX_ANN, ["unit 2;"])).rejects.toMatchObject({ code: "unavailable" });
    expect(performance.now() - begun).toBeLessThan(5000);
    const later = new Promise((resolve) => setTimeout(resolve, 300)).then(() => server.goOn());
    await follower.drop(INDEX_ANN, ["unit 2;"]);
    await later;
    expect(await readIds(follower, INDEX_ANN)).toEqual(["unit 1;"]);
  });

  it("does not pass off a server that came back with nothing as an empty one, and takes in anew", {
    timeout: 60_000,
  }, async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 3));
    await server.empty();
    await server.start();
    await expect(follower.nearest(INDEX_ANN, entryOf(1).vector, { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    await expect(follower.put(INDEX_ANN, [entryOf(1)])).rejects.toMatchObject({ code: "unavailable" });
    expect(await follower.held(INDEX_ANN, ["unit 1;"])).toEqual([]);
    await follower.drop(INDEX_ANN, ["unit 1;"]);
    await follower.prepare(SPACE);
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 2));
    expect(await readIds(follower, INDEX_ANN)).toEqual(["unit 0;", "unit 1;"]);
  });

  it.skipIf(!mayMount)(
    "says that it cannot be used when the disk is full, and goes on when there is room (needs root)",
    { timeout: 60_000 },
    async () => {
      await server.empty();
      const disk = smallDisk(server.data, 2_000_000);
      try {
        await server.start();
        follower = await open();
        let acknowledged = 0;
        const fill = async (): Promise<void> => {
          for (; acknowledged < ENTRIES.length * 4; acknowledged += 300)
            await follower.put(INDEX_ANN, more(acknowledged));
        };
        await expect(fill()).rejects.toMatchObject({ code: "unavailable" });
        disk.grow(50_000_000);
        await follower.put(INDEX_ANN, more(acknowledged));
        expect((await readIds(follower, INDEX_ANN)).length).toBe(acknowledged + 300);
        expect(await follower.nearest(INDEX_ANN, entryOf(1).vector, { limit: 5 })).toHaveLength(5);
      } finally {
        await server.kill();
        disk.remove();
        await server.start();
      }
    },
  );
});

/** The database of the server has free pages, which keep what stood in them; they are told of, and looked at by themselves. */
const vectorsIn = (folder: string, entries: readonly VectorIndexEntry[]): string[] =>
  filesWithVectors(
    folder,
    entries.map(({ vector }) => vector),
  ).filter((place) => !place.startsWith("chroma.sqlite3"));

function vacuum(server: OwnServer): void {
  const { command, data } = server;
  const [python = "", ...given] = command().slice(0, 3);
  execFileSync(python, [...given, "vacuum", "--path", data, "--force"], { stdio: "ignore" });
}

/** Entries that fill a disk: 300 at a time, under ids of their own. */
function more(from: number): VectorIndexEntry[] {
  return ENTRIES.slice(0, 300).map((one, i) => ({ ...one, id: `more ${from + i}` }));
}
