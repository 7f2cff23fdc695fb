import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createMemory } from "../../src/memory.ts";
import { sentence } from "./child.ts";
import { killed, option, printFigures, random } from "./kill.ts";

/**
 * Kills a writer again and again at random moments. After each kill: every acknowledged message is there once, word
 * for word, with its passage; the write in doubt is repeated under its id and is there once; the memories are those
 * that the same messages give without any kill.
 */
export async function writerKill(
  kills: number,
  seed: number,
): Promise<{ acknowledged: number; faults: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-kill-"));
  const path = join(folder, "memory.db");
  const draw = random(seed);
  const faults: string[] = [];
  let next = 0;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      // Every fourth is killed while it starts: loading takes most of that time, opening the file the rest.
      const isEarly = kill % 4 === 0;
      const words = isEarly
        ? await killed(["write", path, String(next)], 150 + draw() * 500, "start")
        : await killed(["write", path, String(next)], 2 + draw() * 120, 1 + Math.floor(draw() * 4));
      const last = words.length > 0 ? Number(words.at(-1)) : next - 1;
      next = last + 1;
      faults.push(...(await inspect(path, next, kill % 10 === 9 || kill === kills - 1)));
    }
    faults.push(...(await compare(path)));
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { acknowledged: next, faults };
}

const SCOPE = { project: "default", user: "ana" };

async function inspect(path: string, acknowledged: number, thoroughly: boolean): Promise<string[]> {
  const faults: string[] = [];
  const record = await openSqliteStore({ path });
  const { messages, units } = await record.since(SCOPE, 0);
  const passages = new Set(units.filter(({ type }) => type === "passage").map(({ owner }) => owner));
  for (let number = 0; number < acknowledged; number += 1) {
    const found = messages.filter(({ id }) => id === `w-${number}`);
    if (found.length !== 1) faults.push(`message ${number} is there ${found.length} times`);
    if (found[0]?.content !== sentence(number)) faults.push(`message ${number} reads otherwise`);
    if (!passages.has(`w-${number}`)) faults.push(`message ${number} cannot be searched`);
  }
  if (messages.length > acknowledged + 1)
    faults.push(`${messages.length} messages, ${acknowledged} acknowledged`);
  if (thoroughly)
    faults.push(...(await record.check()).map(({ place, problem, count }) => `${count} ${place} ${problem}`));
  await record.close();
  return faults;
}

/** The same messages written in peace must come to the same memories. */
async function compare(path: string): Promise<string[]> {
  const [crashed, calm] = [await createMemory({ path }), await createMemory({ path: ":memory:" })];
  const held: string[] = [];
  for await (const line of crashed.scope({ user: "ana" }).export())
    if (line.type === "message") held.push(String((line.message as { content: string }).content));
  for (const [number, content] of held.entries())
    await calm.scope({ user: "ana" }).remember({ id: `w-${number}`, role: "user", content });
  const texts = async (memory: typeof calm): Promise<string> => {
    const all: string[] = [];
    for await (const { text, status, evidence } of memory
      .scope({ user: "ana" })
      .list({ status: "all", limit: 1000 }))
      all.push(`${status} ${evidence} ${text}`);
    return all.sort().join("\n");
  };
  const same = (await texts(crashed)) === (await texts(calm));
  await crashed.close();
  await calm.close();
  return same ? [] : ["the memories are not those that the same messages give in peace"];
}

if (import.meta.main) {
  const kills = option("kills", 200);
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const { acknowledged, faults } = await writerKill(kills, seed);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  console.log(`${kills} kills (seed ${seed}), ${acknowledged} writes acknowledged, ${faults.length} faults`);
  printFigures("R1", { kills, acknowledged, faults: faults.length, seed });
  process.exitCode = faults.length === 0 && acknowledged > 0 ? 0 : 1;
}
