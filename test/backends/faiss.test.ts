import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFaissVectorIndex, type FaissVectorIndexOptions } from "../../src/adapters/faiss/index.ts";
import type { VectorIndex, VectorIndexEntry } from "../../src/ports/vector-index.ts";
import {
  INDEX_ANN,
  INDEX_BOB,
  makeEntry,
  makeRandomVectors,
  readIds,
} from "../../src/testing/vector-index/index-fixtures.ts";
import { hasSmallDisks, smallDisk } from "../services/small-disk.ts";
import { filesWith, filesWithVectors } from "./places.ts";
import { signalWorkers, workersOf } from "./workers.ts";

const python = process.env.KEEPSAKE_TEST_FAISS;
const why = 'needs KEEPSAKE_TEST_FAISS: eval "$(test/services/up faiss)"';
const mayMount = python !== undefined && hasSmallDisks();

const DIMENSIONS = 64;
const SPACE = { fingerprint: `test/${DIMENSIONS}`, dimensions: DIMENSIONS };
const ENTRIES: readonly VectorIndexEntry[] = makeRandomVectors(1200, DIMENSIONS, 3).map((vector, i) =>
  makeEntry(`unit ${i};`, vector, { owner: `owner-of-${i};` }),
);
const idOf = (i: number): string => `unit ${i};`;
const entryOf = (i: number): VectorIndexEntry => ENTRIES[i] ?? makeEntry("none", [1]);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!python)(`FAISS, treated badly (${python ? "a real one" : why})`, { timeout: 60_000 }, () => {
  let folder: string;
  let follower: VectorIndex;
  const opened: VectorIndex[] = [];
  const open = async (options: Partial<FaissVectorIndexOptions> = {}): Promise<VectorIndex> => {
    const one = createFaissVectorIndex({ path: folder, python: python ?? "", ...options });
    opened.push(one);
    // Python and FAISS need longer to start than some of these give a call.
    if (options.timeoutMs === undefined) await one.prepare(SPACE);
    else await until(() => one.prepare(SPACE));
    return one;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keepsake-faiss-"));
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Where anything of these entries stands: vectors, ids, owners. */
  const tracesOf = (entries: readonly VectorIndexEntry[]): string[] => [
    ...filesWithVectors(
      folder,
      entries.map(({ vector }) => vector),
    ),
    ...entries.flatMap(({ id, metadata }) => [
      ...filesWith(folder, Buffer.from(id)),
      ...filesWith(folder, Buffer.from(metadata.owner)),
    ]),
  ];

  it("leaves no byte of what was dropped, and none of what was replaced, in any file", async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 600));
    await follower.put(INDEX_ANN, ENTRIES.slice(600));
    const gone = [7, 8, 500, 1199].map(entryOf);
    expect(tracesOf(gone).length).toBeGreaterThanOrEqual(9);
    await follower.drop(
      INDEX_ANN,
      gone.map(({ id }) => id),
    );
    expect(tracesOf(gone)).toEqual([]);
    expect(tracesOf([entryOf(9)])).toHaveLength(3);
    await follower.put(INDEX_ANN, [{ ...entryOf(9), vector: entryOf(7).vector }]);
    expect(filesWithVectors(folder, [entryOf(9).vector])).toEqual([]);
    await follower.put(INDEX_BOB, ENTRIES.slice(0, 5));
    await follower.dropUser(INDEX_ANN);
    expect(readdirSync(folder).filter((name) => name.length === 64)).toHaveLength(1);
    expect(tracesOf([entryOf(9), entryOf(1000)])).toEqual([]);
    await follower.drop(
      INDEX_BOB,
      ENTRIES.slice(0, 5).map(({ id }) => id),
    );
    expect(readdirSync(folder).filter((name) => name.length === 64)).toEqual([]);
  });

  it("keeps an index that any program with FAISS can read", async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 10));
    await follower.drop(INDEX_ANN, [idOf(3)]);
    const [file] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".faiss"),
    );
    const script = "import faiss, sys; print(faiss.read_index(sys.argv[1]).ntotal)";
    const said = execFileSync(python ?? "", ["-c", script, join(folder, file ?? "")], { encoding: "utf8" });
    expect(said.trim()).toBe("9");
  });

  it("loses nothing that was acknowledged, and brings nothing back, when its worker is killed again and again", async () => {
    follower = await open({ timeoutMs: 10_000 });
    const there = new Set<string>();
    const unsure = new Set<string>();
    let failed = 0;
    const tried = async (
      ids: readonly string[],
      work: () => Promise<void>,
      done: () => void,
    ): Promise<void> => {
      try {
        await work();
        for (const id of ids) unsure.delete(id);
        done();
      } catch (error) {
        expect(error).toMatchObject({ code: "unavailable" });
        failed += 1;
        for (const id of ids) unsure.add(id);
      }
    };
    for (let round = 0; round < 12; round += 1) {
      const some = ENTRIES.slice(round * 100, round * 100 + 100);
      const ids = some.map(({ id }) => id);
      const killer = wait(round * 3).then(() => signalWorkers(folder, "SIGKILL"));
      await tried(
        ids,
        () => follower.put(INDEX_ANN, some),
        () => ids.forEach((id) => void there.add(id)),
      );
      const half = ids.slice(0, 50);
      await tried(
        half,
        () => follower.drop(INDEX_ANN, half),
        () => half.forEach((id) => void there.delete(id)),
      );
      await killer;
      // One that ends again and again is started less and less often.
      await wait(50);
    }
    await until(async () => {
      const held = new Set(await readIds(follower, INDEX_ANN));
      const sure = ENTRIES.map(({ id }) => id).filter((id) => !unsure.has(id));
      expect(sure.filter((id) => held.has(id) !== there.has(id))).toEqual([]);
    });
    expect(failed).toBeGreaterThan(0);
    const gone = ENTRIES.filter(({ id }) => !unsure.has(id) && !there.has(id));
    expect(gone.length).toBeGreaterThan(0);
    await until(async () => {
      // A write that is whole removes what a broken-off one left.
      await follower.put(INDEX_ANN, [makeEntry("last", entryOf(0).vector)]);
      await follower.drop(INDEX_ANN, ["last"]);
    });
    expect(
      filesWithVectors(
        folder,
        gone.slice(0, 40).map(({ vector }) => vector),
      ),
    ).toEqual([]);
  });

  it("rejects all that is open when its worker dies, and goes on with another", async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 10));
    signalWorkers(folder, "SIGSTOP");
    const calls = [
      follower.held(INDEX_ANN, [idOf(1)]),
      follower.put(INDEX_ANN, [entryOf(11)]),
      readIds(follower, INDEX_ANN),
    ];
    await wait(100);
    signalWorkers(folder, "SIGKILL");
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "unavailable" });
    expect(await follower.held(INDEX_ANN, [idOf(1)])).toEqual([idOf(1)]);
  });

  it("says within its deadline that its worker stands still, and ends it when it does so for long", async () => {
    follower = await open({ timeoutMs: 300, stuckMs: 5000 });
    await until(() => follower.put(INDEX_ANN, [entryOf(1)]));
    const [before] = workersOf(folder);
    signalWorkers(folder, "SIGSTOP");
    const begun = performance.now();
    await expect(follower.nearest(INDEX_ANN, entryOf(1).vector, { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(performance.now() - begun).toBeLessThan(4000);
    await until(() => follower.put(INDEX_ANN, [entryOf(2)]));
    expect(workersOf(folder)).not.toContain(before);
    expect(await readIds(follower, INDEX_ANN)).toEqual([idOf(1), idOf(2)]);
  });

  it("stands still for a while and then goes on where it was", async () => {
    follower = await open({ timeoutMs: 300 });
    await until(() => follower.put(INDEX_ANN, [entryOf(1)]));
    signalWorkers(folder, "SIGSTOP");
    await expect(follower.put(INDEX_ANN, [entryOf(2)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(follower.drop(INDEX_ANN, [idOf(2)])).rejects.toMatchObject({ code: "unavailable" });
    signalWorkers(folder, "SIGCONT");
    // What was asked is done in its order: nothing comes in behind.
    await until(async () => expect(await readIds(follower, INDEX_ANN)).toEqual([idOf(1)]));
    await wait(300);
    expect(await readIds(follower, INDEX_ANN)).toEqual([idOf(1)]);
  });

  it("does not pass an emptied folder off as an empty index, and takes in anew", async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 3));
    rmSync(folder, { recursive: true });
    await expect(follower.nearest(INDEX_ANN, entryOf(1).vector, { limit: 1 })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await follower.held(INDEX_ANN, [idOf(1)])).toEqual([]);
    await follower.drop(INDEX_ANN, [idOf(1)]);
    await expect(follower.put(INDEX_ANN, [entryOf(2)])).rejects.toMatchObject({ code: "unavailable" });
    await follower.prepare(SPACE);
    await follower.put(INDEX_ANN, [entryOf(2)]);
    expect(await readIds(follower, INDEX_ANN)).toEqual([idOf(2)]);
  });

  it("passes over a record that was broken off, and says of a damaged index that it is", async () => {
    follower = await open();
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 3));
    const [log = ""] = filesWith(folder, Buffer.from(idOf(1)));
    const whole = readFileSync(join(folder, log));
    appendFileSync(join(folder, log), whole.subarray(16, 60));
    expect(await readIds(follower, INDEX_ANN)).toEqual([0, 1, 2].map(idOf));
    await follower.put(INDEX_ANN, [entryOf(3)]);
    expect(await follower.held(INDEX_ANN, [2, 3].map(idOf))).toEqual([2, 3].map(idOf));
    await follower.drop(INDEX_ANN, [idOf(0)]);
    const [main = ""] = filesWith(folder, Buffer.from(idOf(1)));
    for (const spoil of [
      () => truncateSync(join(folder, main), 200),
      () => writeFileSync(join(folder, main), "not an index"),
    ]) {
      spoil();
      await expect(follower.held(INDEX_ANN, [idOf(1)])).rejects.toMatchObject({ code: "unavailable" });
      await expect(follower.put(INDEX_ANN, [entryOf(1)])).rejects.toThrow("damaged");
    }
    await follower.dropUser(INDEX_ANN);
    await follower.put(INDEX_ANN, [entryOf(1)]);
    expect(await readIds(follower, INDEX_ANN)).toEqual([idOf(1)]);
  });

  it("lets two programs write at once", async () => {
    const [one, other] = [await open(), await open()];
    for (let round = 0; round < 10; round += 1) {
      const [a, b] = [round * 20, round * 20 + 10];
      await Promise.all([
        one.put(INDEX_ANN, ENTRIES.slice(a, a + 10)).then(() => one.drop(INDEX_ANN, [idOf(a)])),
        other.put(INDEX_ANN, ENTRIES.slice(b, b + 10)).then(() => other.drop(INDEX_ANN, [idOf(b)])),
      ]);
    }
    const wanted = ENTRIES.slice(0, 200)
      .map(({ id }) => id)
      .filter((_id, i) => i % 10 !== 0);
    expect(await readIds(one, INDEX_ANN)).toEqual(wanted.sort());
    expect(await readIds(other, INDEX_ANN)).toEqual(wanted);
  });

  it("leaves alone what else lies in its folder", async () => {
    writeFileSync(join(folder, "letters.txt"), "not ours");
    follower = await open();
    await follower.put(INDEX_ANN, [entryOf(1)]);
    await follower.clear();
    expect(readFileSync(join(folder, "letters.txt"), "utf8")).toBe("not ours");
    await expect(open({ path: join(folder, "letters.txt") })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it.skipIf(!mayMount)(
    "says that the disk is full, and goes on when there is room (needs root)",
    async () => {
      const disk = smallDisk(folder, 200_000);
      try {
        follower = await open();
        let acknowledged = 0;
        const fill = async (): Promise<void> => {
          for (; acknowledged < 1200; acknowledged += 100) {
            await follower.put(INDEX_ANN, ENTRIES.slice(acknowledged, acknowledged + 100));
          }
        };
        await expect(fill()).rejects.toMatchObject({
          code: "unavailable",
          message: expect.stringContaining("space"),
        });
        expect(await readIds(follower, INDEX_ANN)).toHaveLength(acknowledged);
        disk.grow(50_000_000);
        await fill();
        expect(await readIds(follower, INDEX_ANN)).toHaveLength(1200);
        await follower.close();
      } finally {
        disk.remove();
      }
    },
  );

  it("searches on a GPU what it keeps for all of them, and knows what has changed", async () => {
    // A GPU is not to be had for tests: this one is the processor, and what it cannot do is refused as a GPU refuses it.
    writeFileSync(join(folder, "sitecustomize.py"), GPU);
    const wrapped = join(folder, "python");
    writeFileSync(wrapped, `#!/bin/sh\nPYTHONPATH=${folder} exec ${python} "$@"\n`, { mode: 0o755 });
    follower = await open({ python: wrapped, gpu: true });
    const nearest = async (i: number): Promise<string | undefined> =>
      (await follower.nearest(INDEX_ANN, entryOf(i).vector, { limit: 1 }))[0]?.id;
    await follower.put(INDEX_ANN, ENTRIES.slice(0, 100));
    expect(await nearest(7)).toBe(idOf(7));
    await follower.drop(INDEX_ANN, [idOf(7), idOf(8)]);
    expect(await nearest(7)).not.toBe(idOf(7));
    await follower.put(INDEX_ANN, [entryOf(200)]);
    expect([await nearest(200), await nearest(99)]).toEqual([idOf(200), idOf(99)]);
    const where = { owner: "owner-of-50;" };
    expect(await follower.nearest(INDEX_ANN, entryOf(1).vector, { limit: 9, where })).toHaveLength(1);
    expect(readFileSync(join(folder, "asked"), "utf8").length).toBe(4);
  });

  it("says what is missing, and the command that brings it", async () => {
    const bare = join(folder, "bare");
    execFileSync(python ?? "", ["-m", "venv", "--without-pip", bare]);
    await expect(open({ python: join(bare, "bin/python") })).rejects.toThrow("-m pip install faiss-cpu");
    await expect(open({ python: join(folder, "nowhere") })).rejects.toThrow("was not found");
    await expect(open({ gpu: true })).rejects.toThrow("no GPU");
  });
});

/** FAISS with a GPU that is none: its indexes can only be searched, and leave a mark for each search. */
const GPU = `
import os
import faiss

class Copy:
    def __init__(self, index):
        self.index = faiss.clone_index(index)

    def search(self, query, count):
        with open(os.path.join(os.path.dirname(__file__), "asked"), "a") as file:
            file.write(".")
        return self.index.search(query, count)

faiss.StandardGpuResources = object
faiss.get_num_gpus = lambda: 1
faiss.index_cpu_to_gpu = lambda resources, device, index: Copy(index)
`;

async function until(assertion: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await assertion();
    } catch (error) {
      if (tries > 100) throw error;
      await wait(200);
    }
  }
}
