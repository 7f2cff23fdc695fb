import { createMemory, type Keepsake, type MemoryOptions, type ScopedMemory } from "../../src/index.ts";
import type { Asker } from "./asked.ts";
import { rounded, type Spread, settle, spreadOf, timeOf } from "./measure.ts";
import { seeded } from "./vocabulary.ts";

export interface Crowd {
  readonly users: number;
  readonly asker: (user: number) => Asker;
}

/** One user at a time, who is in memory already. */
export interface Hot {
  readonly memory: ScopedMemory;
  readonly asker: Asker;
}

const CALLS = 20;

/**
 * Calls in blocks of 20, each for a user picked at random. Before a block the same is called for the user unmeasured, so
 * that what is known of them is in memory; then garbage is collected, and it is called once more. `before` is done
 * before each call and not measured.
 */
export async function hot(
  memory: Keepsake,
  { users, asker: askerOf }: Crowd,
  blocks: number,
  call: (hot: Hot) => Promise<unknown>,
  before?: (hot: Hot) => Promise<unknown>,
): Promise<Spread> {
  const random = seeded(users);
  const taken: number[] = [];
  let cpu = 0;
  for (let block = 0; block < blocks; block += 1) {
    const asker = askerOf(1 + Math.floor(random() * users));
    const now = { memory: memory.scope({ user: asker.person.name }), asker };
    for (const isLast of [false, true]) {
      if (isLast) settle();
      await before?.(now);
      await call(now);
    }
    const spent = process.cpuUsage();
    for (let i = 0; i < CALLS; i += 1) {
      await before?.(now);
      taken.push(await timeOf(() => call(now)));
    }
    const { user, system } = process.cpuUsage(spent);
    cpu += (user + system) / 1000;
  }
  // What came before the calls is in the processor's time, too.
  return before ? spreadOf(taken) : { ...spreadOf(taken), cpu: rounded(cpu / taken.length) };
}

/** Reopened so often with few users; a large user takes seconds. */
const LEAST_COLD = 5;
const COLD = 60;
const LONGEST_COLD_MS = 30_000;

/**
 * The first recall of users that the process has not touched since it opened the file. The system has the file in its
 * cache, and the process has read its embedder's table. With few users the file is opened anew for each.
 */
export async function cold(options: MemoryOptions, { users, asker }: Crowd): Promise<Spread> {
  const taken: number[] = [];
  const began = performance.now();
  const first = await createMemory(options);
  await first.scope({ user: "nobody" }).recall("Is anybody there?");
  let memory: Keepsake = first;
  for (let i = 0; i < COLD; i += 1) {
    if (i >= LEAST_COLD && performance.now() - began > LONGEST_COLD_MS) break;
    if (i > 0 && i % users === 0) {
      await memory.close();
      settle();
      memory = await createMemory(options);
    }
    const { person, ask } = asker(1 + (i % users));
    const one = memory.scope({ user: person.name });
    const question = ask();
    taken.push(await timeOf(() => one.recall(question)));
  }
  await memory.close();
  return spreadOf(taken);
}
