import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemory } from "../../src/memory.ts";
import { killed, option, printFigures, random } from "./kill.ts";

/** What a memory holds, without what differs from run to run: ids of memories, times of storing. */
async function contents(path: string): Promise<{ text: string; faults: string[] }> {
  const memory = await createMemory({ path });
  const lines: string[] = [];
  for await (const line of memory.scope({ user: "ana" }).export()) {
    if (line.type === "message") {
      const { id, content, at, session, digest } = line.message as { [field: string]: unknown };
      lines.push(JSON.stringify([id, content, at, session, digest]));
    }
    if (line.type === "memory") {
      const { text, status, evidence, at, validFrom, validTo, sources } = line.memory as {
        [field: string]: unknown;
      };
      lines.push(JSON.stringify([text, status, evidence, at, validFrom, validTo, sources]));
    }
  }
  const faults = (await memory.check()).map(({ place, problem, count }) => `${count} ${place} ${problem}`);
  await memory.close();
  return { text: lines.sort().join("\n"), faults };
}

/** Kills an import at random moments; run again to its end, it must hold exactly what an undisturbed one holds. */
export async function importKill(kills: number, seed: number, count = 300): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-import-kill-"));
  const draw = random(seed);
  const faults: string[] = [];
  try {
    const calm = join(folder, "calm.db");
    await killed(["import", calm, String(count)], 60_000);
    const wanted = await contents(calm);
    let lastedMs = 1500;
    for (let kill = 0; kill < kills; kill += 1) {
      const path = join(folder, `${kill}.db`);
      await killed(["import", path, String(count)], draw() * lastedMs);
      const begun = performance.now();
      const words = await killed(["import", path, String(count)], 60_000);
      lastedMs = Math.max(100, performance.now() - begun - 250);
      if (words.at(-1) !== "done") faults.push(`import ${kill} did not end`);
      const held = await contents(path);
      faults.push(...held.faults);
      if (held.text !== wanted.text)
        faults.push(`import ${kill} holds something else than an undisturbed one`);
      for (const end of ["", "-wal", "-shm", ".secret"]) rmSync(path + end, { force: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return faults;
}

if (import.meta.main) {
  const kills = option("kills", 50);
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const faults = await importKill(kills, seed);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  console.log(`${kills} kills of an import (seed ${seed}), ${faults.length} faults`);
  printFigures("R1", { kills, faults: faults.length, seed });
  process.exitCode = faults.length === 0 ? 0 : 1;
}
