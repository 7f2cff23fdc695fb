import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createMemory } from "../../src/memory.ts";
import { rotateMasterKey } from "../../src/rotate-master-key.ts";
import { killed, option, printFigures, random } from "./kill.ts";

const USERS = Array.from({ length: 40 }, (_, i) => `user ${i}`);

/** What a series of kills during a change of the master key came to: after how many each master key opened the file, or none. */
export interface RotationKills {
  readonly before: number;
  readonly between: number;
  readonly after: number;
  readonly faults: readonly string[];
}

/**
 * Kills a process again and again while it gives the keys of a file another master key. Afterwards the file opens with the
 * earlier master key, with the new one, or with none and says that the change was interrupted. The next change ends it: all is read
 * with the new master key, the earlier one is refused, and no key that it wrapped is left beside the file.
 */
export async function rotationKills(times: number, seed: number): Promise<RotationKills> {
  const draw = random(seed);
  const folder = mkdtempSync(join(tmpdir(), "keepsake-rotation-kill-"));
  const sum = { before: 0, between: 0, after: 0 };
  const faults: string[] = [];
  try {
    const full = join(folder, "full");
    await fill(full);
    const wrapped = listTexts(join(full, "memory.db.keys")).map((text) => JSON.parse(text).wrapped as string);
    const copyTo = (name: string): string => {
      cpSync(full, join(folder, name), { recursive: true });
      return join(folder, name);
    };
    const program = basename(import.meta.filename);
    const calmMs = Number((await killed([copyTo("calm")], 0, 3, program))[1]);
    if (!(calmMs > 0)) throw new Error("an undisturbed change did not say how long it took");
    for (let time = 0; time < times; time += 1) {
      const place = copyTo(`${time}`);
      await killed([place], draw() * calmMs, 1, program);
      const found = await inspect(place, wrapped);
      sum[found.state] += 1;
      faults.push(...found.faults.map((fault) => `kill ${time} (${found.state}): ${fault}`));
      rmSync(place, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { ...sum, faults };
}

async function fill(folder: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(toMaster(folder).masterKeyFile, "ab".repeat(32));
  const memory = await createMemory({ path: join(folder, "memory.db"), encryption: true });
  for (const user of USERS) await memory.scope({ user }).remember(`Note of ${user}.`, { extract: "never" });
  await memory.close();
}

const toMaster = (folder: string): { readonly masterKeyFile: string } => ({
  masterKeyFile: join(folder, "new.key"),
});

const rotate = (folder: string) =>
  rotateMasterKey({ path: join(folder, "memory.db"), from: true, to: toMaster(folder) });

async function inspect(
  folder: string,
  wrapped: readonly string[],
): Promise<{ readonly state: "before" | "between" | "after"; readonly faults: readonly string[] }> {
  const [earlier, later] = [await countNotes(folder, true), await countNotes(folder, toMaster(folder))];
  const state = earlier !== undefined ? "before" : later !== undefined ? "after" : "between";
  const faults: string[] = [];
  if (earlier !== undefined && later !== undefined) faults.push("both master keys open it");
  if (state !== "between" && (earlier ?? later) !== USERS.length)
    faults.push("notes are missing after the kill");
  const { unreadable, otherFolders } = await rotate(folder);
  if (unreadable + otherFolders > 0) faults.push("the next change could not open all keys");
  if ((await countNotes(folder, toMaster(folder))) !== USERS.length)
    faults.push("notes are missing after the next change");
  if ((await countNotes(folder, true)) !== undefined) faults.push("the earlier master key still opens it");
  const left = listTexts(join(folder, "memory.db.keys"));
  if (wrapped.some((one) => left.some((text) => text.includes(one))))
    faults.push("a key of the earlier master key is left");
  if (left.length !== USERS.length + 1) faults.push(`${left.length} files of keys`);
  return { state, faults };
}

function listTexts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
}

/** The notes that can be read, word for word. Undefined if the master key is refused. */
async function countNotes(
  folder: string,
  encryption: true | { readonly masterKeyFile: string },
): Promise<number | undefined> {
  const path = join(folder, "memory.db");
  const memory = await createMemory({ path, encryption }).catch((error: Error & { code?: string }) => {
    if (error.code === "forbidden") return undefined;
    throw error;
  });
  if (!memory) return undefined;
  let count = 0;
  for (const user of USERS) {
    for await (const line of memory.scope({ user }).export())
      if (JSON.stringify(line).includes(`Note of ${user}.`)) count += 1;
  }
  await memory.close();
  return count;
}

if (import.meta.main) {
  const [, , folder = ""] = process.argv;
  if (folder.startsWith("--") || folder === "") {
    const seed = option("seed", Math.floor(Math.random() * 1e9));
    const kills = option("kills", 20);
    const { faults, ...sum } = await rotationKills(kills, seed);
    for (const fault of faults.slice(0, 20)) console.error(fault);
    console.log(
      `${kills} kills of a change of the master key (seed ${seed}): ${JSON.stringify(sum)}, ${faults.length} faults`,
    );
    printFigures("R1", { kills, ...sum, faults: faults.length, seed });
    process.exitCode = faults.length === 0 && sum.between > 0 ? 0 : 1;
  } else {
    writeSync(1, "begun\n");
    const begun = performance.now();
    await rotate(folder);
    writeSync(1, `${performance.now() - begun}\ndone\n`);
  }
}
