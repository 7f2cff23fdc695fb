import { prometheusMeter } from "../../src/adapters/prometheus/index.ts";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";

/**
 * node bench/metering/main.ts: what counting costs a recall. Two memories of the same content are asked in turn, one of them with
 * a meter; prints the median of each, and of the ratios of neighbours. A third, without one too, shows the noise.
 */

const MEMORIES = 500;
const ROUNDS = 3000;

const open = (more: object = {}): Promise<Keepsake> => createMemory({ path: ":memory:", ...more });

async function filled(keepsake: Keepsake): Promise<ScopedMemory> {
  const memory = keepsake.scope({ user: "ana" });
  for (let i = 0; i < MEMORIES; i += 1)
    await memory.add({ text: `The user keeps tool number ${i} in drawer ${i % 50}.` });
  return memory;
}

async function timed(memory: ScopedMemory, query: string): Promise<number> {
  const from = performance.now();
  await memory.recall(query);
  return performance.now() - from;
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const all = [await open(), await open({ meter: prometheusMeter() }), await open()];
const memories = await Promise.all(all.map(filled));
const times: number[][] = memories.map(() => []);
for (let i = -200; i < ROUNDS; i += 1) {
  // Each takes its turn at being first.
  for (let k = 0; k < memories.length; k += 1) {
    const which = (i + 200 + k) % memories.length;
    const memory = memories[which];
    if (!memory) continue;
    const ms = await timed(memory, `Where is tool number ${(i + 200) % MEMORIES}?`);
    if (i >= 0) times[which]?.push(ms);
  }
}
const [plain = [], counted = [], again = []] = times;
const ratio = (one: readonly number[]): number => middle(one.map((ms, i) => ms / (plain[i] ?? Number.NaN)));
console.log(
  JSON.stringify({
    recalls: ROUNDS,
    plain_ms: Number(middle(plain).toFixed(3)),
    counted_ms: Number(middle(counted).toFixed(3)),
    counted_to_plain: Number(ratio(counted).toFixed(3)),
    plain_to_plain: Number(ratio(again).toFixed(3)),
  }),
);
for (const one of all) await one.close();
