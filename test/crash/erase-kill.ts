import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createMemory } from "../../src/memory.ts";
import { killed, option, printFigures, random } from "./kill.ts";

const ANA = { project: "default", user: "ana" };
/** Enough that the erasure is committed in parts. */
const MESSAGES = 2500;
const CANARY = "zqxcanary";
/** Kills after the acknowledgement are spread over this time, in ms. */
const AFTER_MS = 500;

/** What a series of kills during a large erasure came to. */
export interface EraseKills {
  /** Kills after which all was still there. */
  readonly untouched: number;
  /** Kills after which all was gone, acknowledged or not. */
  readonly erased: number;
  /** Kills before the erasure was acknowledged. */
  readonly unacknowledged: number;
  /** Kills after the erasure was acknowledged, while the file was still open. */
  readonly acknowledged: number;
  readonly faults: readonly string[];
}

/**
 * Kills a process again and again while it erases all of a user with 2,500 messages, and every other time just after it has
 * acknowledged that. On the next opening either all messages are there or none is, the check finds no fault, and where none is
 * there, no byte of their texts is left in any file. After an acknowledgement none is there.
 */
export async function eraseKills(times: number, seed: number): Promise<EraseKills> {
  const draw = random(seed);
  const faults: string[] = [];
  let untouched = 0;
  let erased = 0;
  let acknowledged = 0;
  const folder = mkdtempSync(join(tmpdir(), "keepsake-erase-kill-"));
  try {
    const full = join(folder, "full");
    await fill(full);
    const program = basename(import.meta.filename);
    const copyTo = (name: string): string => {
      const path = join(folder, name);
      for (const end of ["", ".secret"]) copyFileSync(`${full}${end}`, `${path}${end}`);
      return path;
    };
    const erasingMs = Number((await killed([copyTo("calm.db")], 0, 3, program))[2]);
    if (!(erasingMs > 0)) throw new Error("an undisturbed erasure did not say how long it took");
    for (let time = 0; time < times; time += 1) {
      const path = copyTo(`${time}.db`);
      const words = await (time % 2 === 0
        ? killed([path], draw() * erasingMs, 1, program)
        : killed([path], draw() * AFTER_MS, 2, program));
      const left = await leftAfter(path);
      if (left.messages === MESSAGES) untouched += 1;
      else erased += 1;
      if (words.includes("erased")) acknowledged += 1;
      const problems = [
        ...(left.messages === 0 || left.messages === MESSAGES ? [] : [`${left.messages} messages are left`]),
        ...(words.includes("erased") && left.messages > 0 ? ["an acknowledged erasure came back"] : []),
        ...(left.messages === 0 && left.bytes > 0 ? [`texts are left in ${left.bytes} files`] : []),
        ...left.faults,
      ];
      faults.push(...problems.map((problem) => `kill ${time}: ${problem}`));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { untouched, erased, unacknowledged: times - acknowledged, acknowledged, faults };
}

async function fill(path: string): Promise<void> {
  const memory = await createMemory({ path });
  const messages = Array.from({ length: MESSAGES }, (_, i) => ({
    role: "user" as const,
    content: `Note ${i}: ${CANARY}${i} is on the list.`,
  }));
  await memory.scope(ANA).remember(messages, { extract: "never" });
  await memory.close();
}

async function leftAfter(
  path: string,
): Promise<{ messages: number; bytes: number; faults: readonly string[] }> {
  // Opening ends what was cut off, and scans the files.
  await (await createMemory({ path })).close();
  const record = await openSqliteStore({ path });
  const { messages } = await record.since(ANA, 0, { units: false });
  const faults = (await record.check()).map(({ place, problem, count }) => `${count} ${place}: ${problem}`);
  await record.close();
  const own = readdirSync(join(path, "..")).filter((name) => name.startsWith(basename(path)));
  const bytes = own.filter((name) => readFileSync(join(path, "..", name), "latin1").includes(CANARY)).length;
  return { messages: messages.filter(({ content }) => content !== "").length, bytes, faults };
}

if (import.meta.main) {
  const [, , path = ""] = process.argv;
  if (path.startsWith("--") || path === "") {
    const seed = option("seed", Math.floor(Math.random() * 1e9));
    const kills = option("kills", 50);
    const { untouched, erased, unacknowledged, acknowledged, faults } = await eraseKills(kills, seed);
    for (const fault of faults.slice(0, 20)) console.error(fault);
    console.log(
      `${kills} kills during a large erasure (seed ${seed}): ${unacknowledged} before it was acknowledged, ${acknowledged} after, ${untouched} before it began, ${erased} completed, ${faults.length} faults`,
    );
    const figures = { kills, unacknowledged, acknowledged, untouched, erased };
    printFigures("S9", { ...figures, faults: faults.length, seed });
    // Kills on one side of the acknowledgement alone prove half of it.
    process.exitCode = faults.length === 0 && unacknowledged > 0 && acknowledged > 0 ? 0 : 1;
  } else {
    const memory = await createMemory({ path });
    console.log("begun");
    const begun = performance.now();
    await memory.scope(ANA).forget({ everything: true });
    console.log("erased");
    console.log(`${performance.now() - begun}`);
    // Until it is killed.
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    await memory.close();
  }
}
