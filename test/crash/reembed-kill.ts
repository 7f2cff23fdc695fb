import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { extractTerms } from "../../src/domain/search/search-terms.ts";
import { spaceOf } from "../../src/engine/search-index/search-units.ts";
import { createMemory } from "../../src/memory.ts";
import { makeChangeSet, makeMemory } from "../../src/testing/memory-store/change-sets.ts";
import { killed, option, printFigures, random } from "./kill.ts";
import {
  BY_VECTOR,
  CHOSEN,
  type EmbedderChange,
  embedderOptions,
  INTO_TRAP,
  LANTERN,
  NEW,
  newEmbedder,
  OLD,
  TARGET,
  TRAP,
  USERS,
  vectorIn,
} from "./reembed-child.ts";

export interface Reembedded {
  readonly faults: readonly string[];
  readonly kills: number;
  readonly searches: number;
  /** Texts that the embedder was asked for, over all runs. */
  readonly asked: number;
  /** Milliseconds of three recalls at once, the median and the longest. */
  readonly searchMs: { readonly median: number; readonly longest: number };
}

/**
 * Fills a database with memories of an old embedder, opens it with a new one, and kills it again and again while it embeds
 * anew. Every search in between must find by words what it should, and nothing by a vector of the old space; in the end
 * every vector is the new embedder's, and nothing but what was under way at a kill has been embedded twice. `change` says whether
 * the new embedder replaces the old one, or the project of the users chooses it.
 */
export async function reembedKill(
  count: number,
  kills: number,
  seed: number,
  change: EmbedderChange = "replaced",
): Promise<Reembedded> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-reembed-"));
  const path = join(folder, "memory.db");
  const draw = random(seed);
  const faults: string[] = [];
  const words: string[] = [];
  let killCount = 0;
  try {
    await fill(path, count);
    if (!(await isTrapped(path)))
      faults.push("the old embedder does not find the trap: this test sees nothing");
    if (change === "choice") await choose(path);
    // Some milliseconds for each hundred, so that there is time for the kills.
    const awayMs = Math.ceil((kills * 1500) / (count / 100));
    for (let run = 0; words.at(-1) !== "done"; run += 1) {
      const afterMs = run < kills ? 100 + draw() * 1400 : 600_000;
      words.push(...(await killed([path, String(awayMs), change], afterMs, 1, "reembed-child.ts")));
      if (words.at(-1) !== "done") killCount += 1;
      if (run > kills) break;
    }
    if (words.at(-1) !== "done") faults.push("it never came to an end");
    faults.push(...(await inspect(path, count, change)));
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { ...told(words, count, killCount, faults), kills: killCount };
}

function told(
  words: readonly string[],
  count: number,
  kills: number,
  found: readonly string[],
): Omit<Reembedded, "kills"> {
  const faults = [...found, ...words.filter((word) => word.startsWith("fault"))];
  const numbers = (name: string): number[] =>
    words.filter((word) => word.startsWith(name)).map((word) => Number(word.split(" ")[1]));
  const asked = numbers("asked").reduce((sum, texts) => sum + texts, 0);
  if (asked > count + kills * 100) faults.push(`${asked} texts embedded for ${count}, with ${kills} kills`);
  if (asked < count) faults.push(`only ${asked} texts embedded of ${count}`);
  const took = numbers("searched").sort((one, other) => one - other);
  if (took.length <= kills) faults.push(`only ${took.length} searches`);
  const searchMs = { median: took[Math.floor(took.length / 2)] ?? 0, longest: took.at(-1) ?? 0 };
  return { faults, searches: 3 * took.length, asked, searchMs };
}

function textsOf(user: string, count: number): string[] {
  const own = Array.from(
    { length: count - 3 },
    (_, i) => `The user put object ${i * 7} of ${user} into drawer ${i}.`,
  );
  // In the middle, at the end and at the beginning, so that they are embedded at different times.
  own.splice(Math.floor(own.length / 2), 0, TRAP);
  return [LANTERN, ...own, TARGET];
}

async function fill(path: string, count: number): Promise<void> {
  const record = await openSqliteStore({ path });
  for (const user of USERS) {
    const texts = textsOf(user, count / USERS.length);
    for (let from = 0; from < texts.length; from += 500) {
      const some = texts.slice(from, from + 500).map((text, i) => ({ text, id: `f${from + i}` }));
      await record.commit(
        { project: "default", user },
        makeChangeSet({
          base: from / 500,
          memories: some.map(({ id, text }) => makeMemory(id, 1, { text })),
          units: some.map(({ id, text }) => ({
            id,
            type: "memory",
            owner: id,
            start: 0,
            end: text.length,
            terms: extractTerms(text).join(" "),
            space: spaceOf({ fingerprint: OLD }),
            vector: vectorIn(OLD, text),
          })),
        }),
      );
    }
  }
  await record.close();
}

/** Whether the question finds the trap in the old space, as it would in a mixture. */
async function isTrapped(path: string): Promise<boolean> {
  const embedder = { ...newEmbedder(() => undefined, 0), fingerprint: OLD };
  const keepsake = await createMemory({ path, embedder });
  const { items } = await keepsake.scope({ user: "ana" }).recall(INTO_TRAP);
  await keepsake.close();
  return items[0]?.text === TRAP;
}

/** The project of the users chooses the new embedder, while the memory runs. */
async function choose(path: string): Promise<void> {
  const options = embedderOptions(
    "choice",
    newEmbedder(() => undefined, 0),
  );
  const keepsake = await createMemory({ path, ...options, jobs: "elsewhere" });
  await keepsake.embedders.choose(CHOSEN);
  await keepsake.close();
}

async function inspect(path: string, count: number, change: EmbedderChange): Promise<string[]> {
  const faults: string[] = [];
  const record = await openSqliteStore({ path });
  let units = 0;
  for (const user of USERS) {
    const { units: own, memories } = await record.since({ project: "default", user }, 0);
    const texts = new Map(memories.map(({ id, text }) => [id, text]));
    const wrong = own.filter(({ id, space, vector }) => {
      const wanted = vectorIn(NEW, texts.get(id) ?? "");
      return (
        space !== spaceOf({ fingerprint: NEW }) ||
        vector.some((part, i) => Math.abs(part - (wanted[i] ?? 0)) > 1e-3)
      );
    });
    if (wrong.length > 0) faults.push(`${wrong.length} vectors of ${user} are not the new embedder's`);
    units += own.length;
  }
  if (units !== count) faults.push(`${units} units, ${count} were there`);
  faults.push(
    ...(await record.check()).map(({ place, problem, count: times }) => `${times} ${place} ${problem}`),
  );
  await record.close();
  const options = embedderOptions(
    change,
    newEmbedder(() => undefined, 0),
  );
  const keepsake = await createMemory({ path, ...options });
  for (const user of USERS) {
    const { items } = await keepsake.scope({ user }).recall(BY_VECTOR);
    if (items[0]?.text !== TARGET) faults.push(`${user} does not find by the new vectors`);
  }
  await keepsake.close();
  return faults;
}

if (import.meta.main) {
  const count = option("count", 20_000);
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const change = process.argv.includes("--choice") ? "choice" : "replaced";
  const { faults, kills, searches, asked, searchMs } = await reembedKill(
    count,
    option("kills", 20),
    seed,
    change,
  );
  for (const fault of faults.slice(0, 20)) console.error(fault);
  console.log(
    `${count} memories embedded anew with ${kills} kills (seed ${seed}): ${asked} texts asked for, ${searches} searches in ` +
      `between (three at once: median ${searchMs.median} ms, longest ${searchMs.longest} ms), ${faults.length} faults`,
  );
  const longestMs = Math.round(searchMs.longest);
  printFigures("R14", { count, kills, searches, longestMs, faults: faults.length, seed });
  process.exitCode = faults.length === 0 ? 0 : 1;
}
