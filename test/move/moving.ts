import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askers } from "../../bench/speed/asked.ts";
import { filled } from "../../bench/speed/filling.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const { PATH = "" } = process.env;

/** A server on which a database can be made for the move. */
export interface MoveTarget {
  /** For people. */
  readonly name: string;
  /** Makes an empty database, lends its address, and takes it away. */
  withDatabase(work: (address: string) => Promise<void>): Promise<void>;
}

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly ms: number;
}

/** Runs the command line; `at` sees each line of its progress, and may end it. */
function keepsake(
  words: readonly string[],
  secret: string | undefined,
  at: (line: string, child: ChildProcess) => void = () => {},
): Promise<Ran> {
  const env = { PATH, ...(secret === undefined ? {} : { KEEPSAKE_SECRET: secret }) };
  const child = spawn(process.execPath, [MAIN, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  const began = performance.now();
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    process.stderr.write(text);
    for (const line of text.split("\n")) at(line, child);
  });
  return new Promise((resolve) => {
    child.once("close", (status) => resolve({ status, out, ms: performance.now() - began }));
  });
}

/** The digest that a move tells. */
interface Told {
  readonly digest: string;
  readonly resumed: number;
  readonly seconds: number;
}

/**
 * Moves, and kills it on the way: while it copies, and while it checks; then lets it end. The shares are of all that it reads: a
 * third of that is copying.
 */
async function moved(from: string, to: string, secret: string, kills: readonly number[]): Promise<Told> {
  const words = ["move", "--db", from, "--to", to];
  let ms = 0;
  let killed = 0;
  for (const share of kills) {
    const ran = await keepsake(words, secret, (line, child) => {
      if (Number(/^ *(\d+) %/.exec(line)?.[1] ?? -1) >= share) child.kill("SIGKILL");
    });
    ms += ran.ms;
    killed += ran.status === null ? 1 : 0;
  }
  if (killed < kills.length)
    throw new Error(`only ${killed} of ${kills.length} were killed: take more memories`);
  const ran = await keepsake(words, secret);
  const digest = /Digest of both: ([0-9a-f]{64})/.exec(ran.out)?.[1];
  if (ran.status !== 0 || digest === undefined)
    throw new Error(`the move ended with ${ran.status}: ${ran.out}`);
  return { digest, resumed: killed, seconds: Math.round((ms + ran.ms) / 1000) };
}

/** How old something is counts in a recall. */
const AT = "2026-06-01T00:00:00Z";

/** What the two files answer to the same questions. */
async function same(files: readonly string[], secret: string, users: number, perUser: number): Promise<void> {
  const asker = askers(perUser);
  for (let user = 1; user <= Math.min(users, 5); user += 1) {
    const { person, ask } = asker(user);
    const question = ask();
    const found = await Promise.all(
      files.map((db) =>
        keepsake(["recall", question, "--user", person.name, "--at", AT, "--db", db, "--json"], secret),
      ),
    );
    // But for the receipt's own id.
    const bare = found.map(({ out }) => JSON.stringify(JSON.parse(out).items));
    if (bare[0] !== bare[1])
      throw new Error(
        `${person.name}: the two files answer differently: ${found.map(({ out }) => out.slice(0, 900)).join(" ")}`,
      );
  }
}

/**
 * From SQLite to a server and back, killed on each way: the digests must be equal, and the file that comes back sound. Gives the
 * figures.
 */
export async function moveThereAndBack(
  { name, withDatabase }: MoveTarget,
  { users, perUser }: { readonly users: number; readonly perUser: number },
): Promise<{ readonly [name: string]: number }> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-move-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const [first, back] = [join(folder, "first.db"), join(folder, "back.db")];
  await filled(first, { users, perUser });
  const secret = readFileSync(`${first}.secret`, "utf8").trim();
  for (const words of [
    ["forget", "Porto", "--user", "user-1", "--yes"],
    ["recall", "Who sold something?", "--user", "user-1"],
    ["keys", "create"],
  ]) {
    await keepsake([...words, "--db", first], secret);
  }
  let kills = 0;
  await withDatabase(async (url) => {
    const there = await moved(first, url, secret, [10, 24, 50]);
    console.log(`to ${name} in ${there.seconds} s, killed ${there.resumed} times: ${there.digest}`);
    const again = await moved(url, back, secret, [10, 24, 50]);
    console.log(`and back in ${again.seconds} s, killed ${again.resumed} times: ${again.digest}`);
    if (there.digest !== again.digest) throw new Error("the digests differ");
    kills = there.resumed + again.resumed;
  });
  const doctor = await keepsake(["doctor", "--db", back], secret);
  const audit = await keepsake(["audit", "--db", back], secret);
  if (doctor.status !== 0 || audit.status !== 0) throw new Error("the file that came back is not sound");
  await same([first, back], secret, users, perUser);
  console.log(`${users * perUser} memories: the same there and back`);
  return { memories: users * perUser, kills, faults: 0 };
}
