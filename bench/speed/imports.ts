import { join } from "node:path";
import { createMemory } from "../../src/index.ts";
import { person } from "./made-up.ts";
import { rounded, timeOf } from "./measure.ts";

const READ = 2000;
const VERBATIM = 10_000;

export interface Imported {
  /** Messages a second with the rules reading each, and what they read. */
  readonly perSecond: number;
  /** Messages a second stored and made searchable only. */
  readonly verbatimPerSecond: number;
  readonly messages: number;
  readonly memories: number;
}

/** Imports into files of their own: with understanding, and word for word. */
export async function imports(folder: string): Promise<Imported> {
  const read = await importInto(join(folder, "read.db"), READ, "now");
  const verbatim = await importInto(join(folder, "verbatim.db"), VERBATIM, "never");
  return {
    perSecond: Math.round(read.perSecond),
    verbatimPerSecond: Math.round(verbatim.perSecond),
    messages: READ,
    memories: read.memories,
  };
}

async function importInto(path: string, count: number, extract: "now" | "never") {
  const memory = await createMemory({ path });
  const one = person(1_000_003);
  const messages = Array.from({ length: count + 1 }, (_, i) => one.turn(i));
  const scope = memory.scope({ user: one.name });
  // The first message loads the grammar and the embedder's table.
  await scope.remember(messages.slice(0, 1), { extract });
  let memories = 0;
  const taken = await timeOf(async () => {
    for await (const progress of scope.import(messages.slice(1), { extract })) memories = progress.memories;
  });
  await memory.close();
  return { perSecond: rounded((count / taken) * 1000), memories };
}
