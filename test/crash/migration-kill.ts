import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sqlite/migrations/index.ts";
import { type FileFormat, FORMATS } from "../formats/formats.ts";
import { digestRows, growFile, type RowDigests } from "../formats/grow.ts";
import { unpackFormat, versionOf } from "../formats/unpack.ts";
import { killed, option, random } from "./kill.ts";

const NEWEST = SQLITE_MIGRATIONS.length;
const OLDER = FORMATS.filter(({ version }) => version < NEWEST);
/** So many users more, for some megabytes. */
const USERS = 15;
/** The name of a file is made anew in each, and the counters of SQLite are its own. */
const OWN = ["identity"];

/** What a series of kills came to. */
export interface MigrationKills {
  readonly kills: number;
  /** Kills before the copy was whole, between the copy and the last commit, and after it. */
  readonly beforeCopy: number;
  readonly between: number;
  readonly updated: number;
  /** Files that did not hold what they had held, and files that were neither of the old version nor of the new one. */
  readonly lost: number;
  readonly half: number;
  /** Files of a newer version that were refused and stayed as they were. */
  readonly refused: number;
  readonly faults: readonly string[];
}

interface Pristine {
  readonly format: FileFormat;
  readonly path: string;
  readonly before: RowDigests;
  readonly after: RowDigests;
  readonly openingMs: number;
}

/**
 * Kills a process again and again while it opens a file of an older version: at random moments, and at each statement of the
 * migrations in turn. The file is of the old version or of the new one, whole; the copy, once it has its name, is what the file
 * was; and the next opening brings it to where an undisturbed one does.
 */
export async function migrationKills(kills: number, seed: number): Promise<MigrationKills> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-migration-kill-"));
  const draw = random(seed);
  const pristine = new Map<string, Pristine>();
  const sum = { kills, beforeCopy: 0, between: 0, updated: 0, lost: 0, half: 0, refused: 0 };
  const faults: string[] = [];
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const format = OLDER[Math.floor(draw() * OLDER.length)];
      if (!format) throw new Error("no older format");
      const from = pristine.get(format.name) ?? (await prepare(format, folder));
      pristine.set(format.name, from);
      // Every other one by the clock, the rest at a statement.
      const moment =
        kill % 2 === 0 ? { afterMs: draw() * from.openingMs } : { statement: Math.floor(draw() * 40) };
      const found = await killOnce(join(folder, "killed.db"), from, moment);
      sum[found.state] += 1;
      for (const what of ["lost", "half", "refused"] as const) sum[what] += Number(found[what]);
      const where = `kill ${kill} (${format.name}, ${JSON.stringify(moment)})`;
      faults.push(...found.faults.map((fault) => `${where}: ${fault}`));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { ...sum, faults };
}

/** A grown file of a format, what it holds, and what it holds after an undisturbed update. */
async function prepare(format: FileFormat, folder: string): Promise<Pristine> {
  const own = mkdtempSync(join(folder, "pristine-"));
  const path = unpackFormat(format, own);
  growFile(path, USERS);
  const before = digestRows(path);
  const calm = join(own, "calm.db");
  copyFileSync(path, calm);
  const begun = performance.now();
  await (await openSqliteStore({ path: calm })).close();
  const openingMs = performance.now() - begun;
  return { format, path, before, after: digestRows(calm, OWN), openingMs };
}

type Moment = { readonly afterMs: number } | { readonly statement: number };

/** Kills an opening of a copy of the file, and looks at what is left. */
async function killOnce(path: string, from: Pristine, moment: Moment): Promise<Found> {
  copyFileSync(from.path, path);
  const program = basename(import.meta.filename);
  if ("afterMs" in moment) await killed([path], moment.afterMs, 1, program);
  // A file that needs fewer statements is opened, and comes to its end.
  else await killed([path, `${moment.statement}`], 60_000, 1, program);
  const found = await inspect(path, from);
  for (const name of readdirSync(join(path, ".."))) {
    if (name.startsWith(basename(path))) rmSync(join(path, "..", name));
  }
  return found;
}

interface Found {
  readonly state: "beforeCopy" | "between" | "updated";
  readonly lost: boolean;
  readonly half: boolean;
  readonly refused: boolean;
  readonly faults: readonly string[];
}

async function inspect(path: string, from: Pristine): Promise<Found> {
  const version = versionOf(path);
  const isUpdated = version === NEWEST;
  const half = !isUpdated && version !== from.format.version;
  const hasCopy = existsSync(copyOf(path));
  // What the next program meets.
  const isKept = isSame(digestRows(path, OWN), isUpdated ? from.after : withoutOwn(from.before));
  const copyFaults = [
    ...(isUpdated && !hasCopy ? ["it was updated without a copy"] : []),
    ...(hasCopy && !isSame(digestRows(copyOf(path)), from.before)
      ? ["the copy is not what the file was"]
      : []),
  ];
  const again = await openAgain(path, from);
  const refused = await isRefused(path);
  return {
    state: stateOf(isUpdated, hasCopy),
    lost: !isKept || !again.isKept,
    half,
    refused,
    faults: [
      ...(half ? [`it is of version ${version}`] : []),
      ...(isKept ? [] : ["it does not hold what it held"]),
      ...copyFaults,
      ...again.faults,
      ...(refused ? [] : ["a newer version was not refused, or not left as it was"]),
    ],
  };
}

function stateOf(isUpdated: boolean, hasCopy: boolean): Found["state"] {
  if (isUpdated) return "updated";
  return hasCopy ? "between" : "beforeCopy";
}

function copyOf(path: string): string {
  return `${path}.before-v${NEWEST}`;
}

/** Opens it to the end, as somebody would after the kill. */
async function openAgain(
  path: string,
  { before, after }: Pristine,
): Promise<{ isKept: boolean; faults: string[] }> {
  const record = await openSqliteStore({ path }).catch((error: Error) => error);
  if (record instanceof Error) return { isKept: false, faults: [`it cannot be opened: ${record.message}`] };
  const faults = (await record.check()).map(({ place, problem, count }) => `${count} ${place}: ${problem}`);
  await record.close();
  const isKept = isSame(digestRows(path, OWN), after);
  if (!isKept) faults.push("opened again, it holds something else than after an undisturbed update");
  const drafts = readdirSync(join(path, "..")).filter((name) => /\.part(-|$)/.test(name));
  if (drafts.length > 0) faults.push(`${drafts.length} drafts are left`);
  const hasCopy = existsSync(copyOf(path)) && isSame(digestRows(copyOf(path)), before);
  if (!hasCopy) faults.push("after the update the copy is not there, or not whole");
  return { isKept, faults };
}

/** Whether the file, made one of a newer version, is refused and left as it is. */
async function isRefused(path: string): Promise<boolean> {
  const handle = new DatabaseSync(path);
  handle.exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${NEWEST + 1}`);
  handle.close();
  const before = readFileSync(path);
  try {
    await (await openSqliteStore({ path })).close();
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "unsupported" && readFileSync(path).equals(before);
  }
}

function isSame(one: RowDigests, other: RowDigests): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function withoutOwn(digests: RowDigests): RowDigests {
  return Object.fromEntries(Object.entries(digests).filter(([table]) => !OWN.includes(table)));
}

/** From now on each statement that changes the schema, and the commit, is counted; at one of them the process ends. */
function killAt(statement: number): void {
  const { exec } = DatabaseSync.prototype;
  let count = 0;
  DatabaseSync.prototype.exec = function (sql: string): void {
    if (!/^\s*(CREATE|ALTER|INSERT|PRAGMA application_id|COMMIT)/.test(sql)) {
      exec.call(this, sql);
      return;
    }
    // The body of a trigger holds semicolons of its own.
    const statements = /\bTRIGGER\b/.test(sql) ? [sql] : sql.split(/;\s*/);
    for (const one of statements.filter((text) => text.trim() !== "")) {
      if (count === statement) process.kill(process.pid, "SIGKILL");
      count += 1;
      exec.call(this, one);
    }
  };
}

if (import.meta.main) {
  const [, , path = "", statement] = process.argv;
  if (path.startsWith("--") || path === "") {
    const seed = option("seed", Math.floor(Math.random() * 1e9));
    const { faults, ...sum } = await migrationKills(option("kills", 20), seed);
    for (const fault of faults.slice(0, 20)) console.error(fault);
    console.log(JSON.stringify({ test: "R14", ...sum, faults: faults.length, seed }));
    process.exitCode = faults.length === 0 ? 0 : 1;
  } else {
    if (statement !== undefined) killAt(Number(statement));
    writeSync(1, "begun\n");
    await (await openSqliteStore({ path })).close();
  }
}
