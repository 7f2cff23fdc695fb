import { fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import type { Asker } from "./asked.ts";
import { askers } from "./asked.ts";
import { settle, spreadOf, timeOf } from "./measure.ts";

// What counting the use of memories costs a recall: two memories on copies of one file, one that counts and one that does
// not, asked the same questions by turns. `node bench/speed/use.ts [memories] [pairs]`

const [memories = 10_000, pairs = 60] = process.argv.slice(2).map(Number);
const CALLS = 20;
/** The first pairs are not counted: code is compiled, and files are read. */
const WARM = 5;

interface Side {
  readonly memory: Keepsake;
  readonly asker: Asker;
  /** Writes of uses so far. */
  readonly writes: () => number;
}

async function open(path: string, counts: boolean): Promise<Side> {
  let writes = 0;
  const memory = await createMemory({
    secret: "a secret for this measurement",
    record: async () => {
      const { usage, ...store } = await openSqliteStore({ path });
      const counted: typeof usage = {
        ...usage,
        add: (uses) => {
          writes += 1;
          return usage.add(uses);
        },
      };
      return counts ? { ...store, usage: counted } : store;
    },
  });
  return { memory, asker: askers(memories)(1), writes: () => writes };
}

/** The medians of both sides, asked the same questions by turns, so that what else the machine does weighs on both. */
async function measurePair(on: Side, off: Side): Promise<readonly [number, number]> {
  settle();
  const taken = { on: [] as number[], off: [] as number[] };
  const ask = async ({ memory, asker }: Side, into: number[]): Promise<void> => {
    const one = memory.scope({ user: asker.person.name });
    const question = asker.ask();
    into.push(await timeOf(() => one.recall(question)));
  };
  for (let call = 0; call < CALLS; call += 1) {
    const turns = [() => ask(on, taken.on), () => ask(off, taken.off)];
    if (call % 2 === 1) turns.reverse();
    for (const turn of turns) {
      await turn();
      // Writes of uses wait for a timer, which would never come between recalls that wait for nothing.
      await setImmediate();
    }
  }
  return [spreadOf(taken.on).p50, spreadOf(taken.off).p50];
}

const folder = mkdtempSync(join(tmpdir(), "keepsake-use-"));
try {
  const paths = ["on.db", "off.db"].map((name) => join(folder, name)) as [string, string];
  await (await createMemory({ path: paths[0] })).close();
  await once(fork(join(import.meta.dirname, "fill.ts"), [paths[0], "1", "1", String(memories)]), "exit");
  copyFileSync(...paths);
  const on = await open(paths[0], true);
  const off = await open(paths[1], false);
  const ratios: number[] = [];
  const taken = { on: [] as number[], off: [] as number[] };
  for (let pair = 0; pair < pairs + WARM; pair += 1) {
    const [counting, plain] = await measurePair(on, off);
    if (pair < WARM) continue;
    taken.on.push(counting);
    taken.off.push(plain);
    ratios.push(counting / plain);
  }
  const recalls = (pairs + WARM) * CALLS;
  const spread = [...ratios].sort((one, other) => one - other);
  const at = (share: number): string => (spread[Math.floor(share * spread.length)] ?? 0).toFixed(3);
  process.stdout.write(
    `${memories} memories, ${pairs} pairs of ${CALLS} recalls: p50 ${spreadOf(taken.on).p50} ms with counting, ` +
      `${spreadOf(taken.off).p50} ms without; ratio of a pair: median ${at(0.5)}, quartiles ${at(0.25)} to ${at(0.75)}; ` +
      `${on.writes()} writes of uses in ${recalls} recalls\n`,
  );
  await on.memory.close();
  await off.memory.close();
} finally {
  rmSync(folder, { recursive: true });
}
