import fs, {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { encryptDatabase } from "../../src/encrypt.ts";
import { createMemory } from "../../src/memory.ts";
import { killed, option, printFigures, random } from "./kill.ts";

const MESSAGES = 300;
const CANARY = "zqxcanary";
const USERS = ["ana", "ben"];

/** What a series of kills during a conversion came to. */
export interface ConversionKills {
  /** Kills after which the file was as before, and those after which it was encrypted. */
  readonly plain: number;
  readonly encrypted: number;
  readonly faults: readonly string[];
}

/**
 * Kills a process again and again while it encrypts a database file: at random moments, just before the copy takes the place of the
 * file, and just after it. The file is as before or encrypted, whole; the next conversion ends it, and then no file holds a text.
 */
export async function conversionKills(times: number, seed: number): Promise<ConversionKills> {
  const draw = random(seed);
  const folder = mkdtempSync(join(tmpdir(), "keepsake-encryption-kill-"));
  const sum = { plain: 0, encrypted: 0 };
  const faults: string[] = [];
  try {
    const full = join(folder, "full.db");
    await fill(full);
    const copyTo = (name: string): string => {
      mkdirSync(join(folder, name));
      const path = join(folder, name, "memory.db");
      for (const end of ["", ".secret"]) copyFileSync(`${full}${end}`, `${path}${end}`);
      return path;
    };
    const program = basename(import.meta.filename);
    const calmMs = Number((await killed([copyTo("calm")], 0, 3, program))[1]);
    if (!(calmMs > 0)) throw new Error("an undisturbed conversion did not say how long it took");
    for (let time = 0; time < times; time += 1) {
      const path = copyTo(`${time}`);
      const moment = ["before", "after"][time % 4];
      // A kill at the renaming comes from the process itself.
      if (moment) await killed([path, moment], 60_000, 1, program);
      else await killed([path], draw() * calmMs, 1, program);
      const found = await inspect(path);
      sum[found.state] += 1;
      faults.push(...found.faults.map((fault) => `kill ${time} (${moment ?? "random"}): ${fault}`));
      rmSync(join(folder, `${time}`), { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { ...sum, faults };
}

async function fill(path: string): Promise<void> {
  const memory = await createMemory({ path });
  for (const user of USERS) {
    const messages = Array.from({ length: MESSAGES }, (_, i) => ({
      role: "user" as const,
      content: `Note ${i}: ${CANARY}${i} is on the list.`,
    }));
    await memory.scope({ user }).remember(messages, { extract: "never" });
  }
  await memory.close();
}

async function inspect(
  path: string,
): Promise<{ readonly state: "plain" | "encrypted"; readonly faults: readonly string[] }> {
  const plain = await countMessages(path, false);
  const first = plain ?? (await countMessages(path, true));
  await encryptDatabase({ path, encryption: true });
  const second = await countMessages(path, true);
  const own = readdirSync(join(path, ".."), { recursive: true, withFileTypes: true });
  const leaks = own
    .filter((entry) => entry.isFile())
    .filter(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1").includes(CANARY));
  const drafts = own.filter(({ name }) => /encrypting|\.new$/.test(name));
  return {
    state: plain === undefined ? "encrypted" : "plain",
    faults: [
      ...(first === USERS.length * MESSAGES ? [] : [`${first} messages after the kill`]),
      ...(second === USERS.length * MESSAGES ? [] : [`${second} messages after the next conversion`]),
      ...leaks.map(({ name }) => `texts are left in ${name}`),
      ...drafts.map(({ name }) => `${name} is left`),
    ],
  };
}

/** The messages that the memory holds, word for word, and without faults. Undefined if the file is refused. */
async function countMessages(path: string, encryption: boolean): Promise<number | undefined> {
  const memory = await createMemory({ path, encryption }).catch((error: Error & { code?: string }) => {
    if (error.code === "forbidden" || error.code === "conflict") return undefined;
    throw error;
  });
  if (!memory) return undefined;
  let count = 0;
  for (const user of USERS) {
    for await (const line of memory.scope({ user }).export()) {
      if (
        line.type === "message" &&
        /^Note \d+: zqxcanary\d+ is/.test((line.message as { readonly content: string }).content)
      )
        count += 1;
    }
  }
  const faults = await memory.check();
  await memory.close();
  return faults.length === 0 ? count : -1;
}

/** Ends the process just before or after the copy takes its place. */
function killAtRename(moment: string): void {
  const { renameSync } = fs;
  fs.renameSync = (from, to) => {
    if (moment === "after") renameSync(from, to);
    process.kill(process.pid, "SIGKILL");
  };
  syncBuiltinESMExports();
}

if (import.meta.main) {
  const [, , path = "", moment] = process.argv;
  if (path.startsWith("--") || path === "") {
    const seed = option("seed", Math.floor(Math.random() * 1e9));
    const kills = option("kills", 20);
    const { faults, ...sum } = await conversionKills(kills, seed);
    for (const fault of faults.slice(0, 20)) console.error(fault);
    console.log(
      `${kills} kills of a conversion (seed ${seed}): ${JSON.stringify(sum)}, ${faults.length} faults`,
    );
    printFigures("R1", { kills, ...sum, faults: faults.length, seed });
    process.exitCode = faults.length === 0 && sum.plain > 0 && sum.encrypted > 0 ? 0 : 1;
  } else {
    if (moment !== undefined) killAtRename(moment);
    writeSync(1, "begun\n");
    const begun = performance.now();
    await encryptDatabase({ path, encryption: true });
    writeSync(1, `${performance.now() - begun}\ndone\n`);
  }
}
