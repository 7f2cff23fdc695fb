import { createInMemoryVectorIndex } from "../adapters/memory/index.ts";
import { MemoryError } from "../errors.ts";
import type { VectorIndex } from "../ports/follower.ts";

/** A follower in memory that a test can take away, hold up, and spoil behind the engine's back. */
export interface FaultyVectorIndex extends VectorIndex {
  /** `down`: every call fails. `hung`: none comes back, whatever its signal says. */
  trouble: "none" | "down" | "hung";
  /** Names of the calls that came, in order. */
  readonly calls: string[];
  /** The same index without troubles. */
  readonly inner: VectorIndex;
}

export function createFaultyVectorIndex({
  name = "shaky",
}: {
  readonly name?: string;
} = {}): FaultyVectorIndex {
  const within = createInMemoryVectorIndex({ name });
  const asked: string[] = [];
  const through = async <Result>(call: string, run: () => Promise<Result>): Promise<Result> => {
    asked.push(call);
    if (follower.trouble === "hung") return new Promise(() => {});
    if (follower.trouble === "down") {
      throw new MemoryError("unavailable", `the index "${name}" cannot be reached.`);
    }
    return run();
  };
  const follower: FaultyVectorIndex = {
    name,
    trouble: "none",
    calls: asked,
    inner: within,
    prepare: (space, options) => through("prepare", () => within.prepare(space, options)),
    put: (of, entries, options) => through("put", () => within.put(of, entries, options)),
    drop: (of, ids, options) => through("drop", () => within.drop(of, ids, options)),
    dropUser: (of, options) => through("dropUser", () => within.dropUser(of, options)),
    nearest: (of, vector, options) => through("nearest", () => within.nearest(of, vector, options)),
    held: (of, ids, options) => through("held", () => within.held(of, ids, options)),
    async *entries(of, options) {
      const pages: (readonly string[])[] = [];
      await through("entries", async () => {
        for await (const page of within.entries(of, options)) pages.push(page);
      });
      yield* pages;
    },
    clear: (options) => through("clear", () => within.clear(options)),
    close: () => within.close(),
  };
  return follower;
}
