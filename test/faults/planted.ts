import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { createMemory } from "../../src/index.ts";
import { copyDatabase, makeBase } from "./planted-base.ts";

/** Chance that comes again with its seed (mulberry32). */
export type Chance = (below: number) => number;

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

interface Planting {
  readonly handle: DatabaseSync;
  readonly chance: Chance;
  readonly path: string;
  readonly older: string;
}

/** Plants one inconsistency and says which; nothing where there was nothing to plant it in. */
type Plant = (planting: Planting) => string | undefined;

/** Columns in which a byte is changed. */
export const TEXTS: readonly (readonly [table: string, column: string])[] = [
  ["messages", "body"],
  ["messages", "id"],
  ["versions", "body"],
  ["versions", "id"],
  ["heads", "id"],
  ["units", "terms"],
  ["units", "owner"],
  ["units", "space"],
  ["units", "vector"],
  ["gone", "id"],
  ["tombstones", "hash"],
  ["tombstones", "at"],
  ["links", "target"],
  ["log", "body"],
  ["receipts", "key"],
  ["receipts", "body"],
  ["erasures", "body"],
  ["erasures", "trace"],
  ["recalls", "body"],
  ["answers", "body"],
  ["answers", "request"],
  ["backups", "body"],
  ["blocks", "bytes"],
  ["identity", "id"],
  ["users", "name"],
  ["users", "project"],
  ["attachments", "bytes"],
  ["attachments", "bytes"],
  ["attachments", "digest"],
  ["attachments", "media_type"],
];

/**
 * Tables that hold nothing that somebody said and nothing that was learnt. Their rows have no digests, and the doctor does not
 * find a changed byte in them.
 */
export const WITHOUT_CONTENT: { readonly [table: string]: string } = {
  calls: "names, sizes and prices of calls to models",
  embedder_choices: "which embedder a project or user chose",
  integrity: "the mark of the secret: another one is reported for all rows",
  jobs: "when each job ran",
  leases: "which process runs a job",
  share_parties: "whom a grant or group concerns: an index of `shares`",
  shares: "who may read whose memories; no memory itself",
  turns: "sums of calls to models",
  uses: "how often a memory was recalled",
  visits: "how far each job has come with each user",
  webhook_cursors: "how far each webhook has come",
  webhooks: "addresses and kinds of events; no text",
};

/** Rows of these are taken away by design; of the others, every row that is missing shows. */
const DELETABLE = [
  "users",
  "messages",
  "versions",
  "heads",
  "units",
  "gone",
  "tombstones",
  "links",
  "log",
  "receipts",
  "erasures",
  "identity",
  "attachments",
];

const KEYS: { readonly [table: string]: readonly string[] } = {
  gone: ["user", "type", "id"],
  tombstones: ["user", "hash"],
  links: ["user", "source", "type", "target"],
  log: ["user", "revision"],
  receipts: ["user", "key"],
  answers: ["project", "name", "key"],
  blocks: ["user"],
  users: ["id"],
  identity: ["id"],
};

function pick<One>(all: readonly One[], chance: Chance): One | undefined {
  return all.length === 0 ? undefined : all[chance(all.length)];
}

type Row = { readonly [column: string]: SQLInputValue };

function anyRow({ handle, chance }: Planting, table: string, where = "true"): Row | undefined {
  return pick(handle.prepare(`SELECT * FROM ${table} WHERE ${where}`).all() as Row[], chance);
}

function ofRow(table: string, row: Row): { where: string; values: Row } {
  const keys = KEYS[table] ?? ["number"];
  return {
    where: keys.map((key) => `${key} = :own_${key}`).join(" AND "),
    values: Object.fromEntries(keys.map((key) => [`own_${key}`, row[key] ?? null])),
  };
}

function set({ handle }: Planting, table: string, row: Row, change: Row): boolean {
  const { where, values } = ofRow(table, row);
  const sets = Object.keys(change).map((column) => `${column} = :${column}`);
  return (
    handle
      .prepare(`UPDATE OR IGNORE ${table} SET ${sets.join(", ")} WHERE ${where}`)
      .run({ ...change, ...values }).changes === 1
  );
}

const changeByte: Plant = (planting) => {
  const [table, column] = pick(TEXTS, planting.chance) ?? ["", ""];
  const row = anyRow(planting, table, `length(${column}) > 0`);
  const value = row?.[column];
  if (!row || value === undefined || value === null) return undefined;
  const isText = typeof value === "string";
  const bytes = isText ? Buffer.from(value) : Buffer.from(value as Uint8Array);
  const at = planting.chance(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << planting.chance(8));
  const { where, values } = ofRow(table, row);
  const { changes } = planting.handle
    .prepare(
      `UPDATE OR IGNORE ${table} SET ${column} = ${isText ? "CAST(:bytes AS TEXT)" : ":bytes"} WHERE ${where}`,
    )
    .run({ bytes, ...values });
  return changes === 1 ? `byte ${table}.${column}` : undefined;
};

const deleteRow: Plant = (planting) => {
  const table = pick(DELETABLE, planting.chance) ?? "";
  const row = anyRow(planting, table);
  if (!row) return undefined;
  const { where, values } = ofRow(table, row);
  planting.handle.prepare(`DELETE FROM ${table} WHERE ${where}`).run(values);
  return `deleted ${table}`;
};

const SWAPPED: readonly (readonly [table: string, column: string])[] = [
  ["messages", "body"],
  ["versions", "body"],
  ["units", "vector"],
  ["units", "terms"],
  ["log", "body"],
  ["receipts", "body"],
  ["erasures", "body"],
  ["recalls", "body"],
  ["answers", "key"],
];

const swap: Plant = (planting) => {
  const [table, column] = pick(SWAPPED, planting.chance) ?? ["", ""];
  const [one, other] = [anyRow(planting, table), anyRow(planting, table)];
  if (!one || !other || one[column] === other[column]) return undefined;
  if (Buffer.from(one[column] as string).equals(Buffer.from(other[column] as string))) return undefined;
  const done = [set(planting, table, one, { [column]: other[column] ?? null })];
  done.push(set(planting, table, other, { [column]: one[column] ?? null }));
  return done.includes(true) ? `swapped ${table}.${column}` : undefined;
};

/** With their digests, as a page of an older state would bring them. */
const swapRows: Plant = (planting) => {
  const [one, other] = [anyRow(planting, "versions"), anyRow(planting, "versions")];
  if (!one || !other || one.body === other.body) return undefined;
  set(planting, "versions", one, { body: other.body ?? null, digest: other.digest ?? null });
  set(planting, "versions", other, { body: one.body ?? null, digest: one.digest ?? null });
  return "swapped rows with digests";
};

const NUMBERS: readonly (readonly [table: string, column: string])[] = [
  ["messages", "revision"],
  ["messages", "turn"],
  ["heads", "revision"],
  ["heads", "version"],
  ["versions", "version"],
  ["units", "revision"],
  ["units", "first"],
  ["units", "last"],
  ["gone", "revision"],
  ["log", "revision"],
  ["receipts", "revision"],
  ["users", "revision"],
  ["users", "turns"],
  ["links", "strength"],
  ["attachments", "size"],
];

const wrongNumber: Plant = (planting) => {
  const [table, column] = pick(NUMBERS, planting.chance) ?? ["", ""];
  const row = anyRow(planting, table);
  if (!row) return undefined;
  const change = { [column]: Number(row[column]) + (planting.chance(2) === 0 ? 1 : -1) };
  return set(planting, table, row, change) ? `number ${table}.${column}` : undefined;
};

const wrongVector: Plant = (planting) => {
  const row = anyRow(planting, "units", "length(vector) > 4");
  const other = anyRow(planting, "units", "length(vector) > 4");
  if (!(row?.vector instanceof Uint8Array) || !(other?.vector instanceof Uint8Array)) return undefined;
  const ways: readonly (readonly [string, Uint8Array])[] = [
    ["missing", new Uint8Array(0)],
    ["short", row.vector.slice(0, -2)],
    ["another's", other.vector],
  ];
  const [name, vector] = pick(ways, planting.chance) ?? ["", new Uint8Array()];
  if (Buffer.compare(vector, row.vector) === 0) return undefined;
  return set(planting, "units", row, { vector }) ? `vector ${name}` : undefined;
};

function insertCopy({ handle }: Planting, table: string, row: Row): boolean {
  const columns = Object.keys(row);
  const sql = `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((column) => `:${column}`).join(", ")})`;
  return handle.prepare(sql).run(row).changes === 1;
}

const extraRow: Plant = (planting) => {
  const table =
    pick(["units", "tombstones", "log", "messages", "versions", "receipts", "recalls"], planting.chance) ??
    "";
  const row = anyRow(planting, table);
  if (!row) return undefined;
  const { number: _number, ...rest } = row;
  const withDigest = planting.chance(2) === 0 ? rest : { ...rest, digest: null };
  const id = `x${planting.chance(1_000_000)}`;
  const own: Row =
    table === "tombstones"
      ? { ...withDigest, hash: id }
      : table === "receipts"
        ? { ...withDigest, key: id }
        : table === "log"
          ? { ...withDigest, revision: 900 + planting.chance(99) }
          : { ...withDigest, id };
  return insertCopy(planting, table, own) ? `extra ${table}` : undefined;
};

const orphan: Plant = (planting) => {
  const table = pick(["units", "links", "messages", "versions"], planting.chance) ?? "";
  const row = anyRow(planting, table);
  if (!row) return undefined;
  const change =
    table === "units" ? { owner: "nobody" } : table === "links" ? { target: "nothing" } : { user: 999 };
  return set(planting, table, row, change) ? `orphan ${table}` : undefined;
};

const headBack: Plant = (planting) => {
  const row = anyRow(planting, "heads", "version > 1");
  return row && set(planting, "heads", row, { version: 1 }) ? "head at an older version" : undefined;
};

const wrongTenant: Plant = (planting) => {
  const table =
    pick(
      ["messages", "versions", "units", "heads", "tombstones", "receipts", "recalls", "attachments"],
      planting.chance,
    ) ?? "";
  const row = anyRow(planting, table);
  const other = row && anyRow(planting, "users", `id <> ${Number(row.user)}`);
  if (!row || !other) return undefined;
  return set(planting, table, row, { user: other.id ?? null }) ? `tenant ${table}` : undefined;
};

const logGap: Plant = (planting) => {
  const row = anyRow(planting, "log", "revision > 1");
  if (!row) return undefined;
  planting.handle.prepare("DELETE FROM log WHERE user = :user AND revision = :revision").run({
    user: row.user ?? null,
    revision: row.revision ?? null,
  });
  return "log gap";
};

const receiptTampered: Plant = (planting) => {
  const row = anyRow(planting, "erasures");
  if (!row) return undefined;
  const body = JSON.parse(String(row.body));
  const change = pick(
    [{ complete: !body.complete }, { at: "2020-01-01T00:00:00.000Z" }, { erased: {} }],
    planting.chance,
  );
  return set(planting, "erasures", row, { body: JSON.stringify({ ...body, ...change }) })
    ? "receipt"
    : undefined;
};

/** A row as it was before later changes, with the digest that it had then. */
const putBack: Plant = (planting) => {
  const older = new DatabaseSync(planting.older, { readOnly: true });
  try {
    const table = pick(["heads", "messages", "units", "versions", "gone"], planting.chance) ?? "";
    const row = pick(older.prepare(`SELECT * FROM ${table}`).all() as Row[], planting.chance);
    if (!row) return undefined;
    const { where, values } = ofRow(table, row);
    const now = planting.handle.prepare(`SELECT * FROM ${table} WHERE ${where}`).get(values);
    if (now && JSON.stringify(now) === JSON.stringify(row)) return undefined;
    planting.handle.prepare(`DELETE FROM ${table} WHERE ${where}`).run(values);
    return insertCopy(planting, table, row) ? `put back ${table}` : undefined;
  } finally {
    older.close();
  }
};

const ledgerTampered: Plant = ({ path, chance }) => {
  const file = `${path}.erasures`;
  const lines = readFileSync(file, "utf8").split("\n");
  const [at, line = ""] = pick(
    [...lines.entries()].filter(([, one]) => one !== ""),
    chance,
  ) ?? [0, ""];
  // Not the name of the record: a line of another record is passed over by design, and its own is written anew.
  const from = line.indexOf('"trace"');
  const places = [...line.matchAll(/[0-9a-f]{8,}/g)]
    .map(({ index }) => index)
    .filter((index) => index > from);
  const place = (pick(places, chance) ?? 0) + 1;
  lines[at] = `${line.slice(0, place)}${line[place] === "0" ? "1" : "0"}${line.slice(place + 1)}`;
  writeFileSync(file, lines.join("\n"));
  return "ledger";
};

const PLANTS: readonly Plant[] = [
  changeByte,
  changeByte,
  changeByte,
  changeByte,
  deleteRow,
  deleteRow,
  swap,
  swapRows,
  wrongNumber,
  wrongVector,
  extraRow,
  orphan,
  headBack,
  wrongTenant,
  logGap,
  receiptTampered,
  putBack,
  ledgerTampered,
];

export interface PlantedResult {
  readonly test: "R16";
  readonly seed: number;
  readonly planted: number;
  readonly found: number;
  readonly controls: number;
  readonly falseAlarms: number;
  /** Of those where `--fix` with a sound backup was tried. */
  readonly tried: number;
  readonly repaired: number;
  readonly throughCli: number;
  readonly missed: readonly string[];
  readonly notRepaired: { readonly [plant: string]: number };
}

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const CONTROL_EVERY = 10;

/** Whether the doctor says that something is wrong; a database that is refused is found, too. */
async function isFound(path: string, throughCli: boolean): Promise<boolean> {
  if (throughCli) {
    const { status, stdout } = spawnSync(process.execPath, [MAIN, "doctor", "--json", "--db", path], {
      encoding: "utf8",
    });
    const said = JSON.parse(stdout);
    return status === 1 && (said.healthy !== true || said.receipts !== undefined);
  }
  try {
    await using memory = await createMemory({ path });
    const { isHealthy } = await memory.examine();
    return !isHealthy || (await memory.audit()).broken.length > 0 || memory.notices.length > 0;
  } catch {
    return true;
  }
}

async function isRepaired(path: string, backup: string): Promise<boolean> {
  try {
    await using memory = await createMemory({ path });
    const { isHealthy } = await memory.examine({ fix: true, backups: [backup] });
    return isHealthy && (await memory.audit()).broken.length === 0;
  } catch {
    return false;
  }
}

export async function plantAll(options: {
  readonly seed: number;
  readonly count: number;
  /** Every how many go through the command line; 0 for none. */
  readonly cliEvery?: number;
}): Promise<PlantedResult> {
  const { seed, count, cliEvery = 0 } = options;
  const folder = mkdtempSync(join(tmpdir(), "keepsake-planted-"));
  const chance = chanceOf(seed);
  const counts: PlantedCounts = {
    planted: 0,
    found: 0,
    controls: 0,
    falseAlarms: 0,
    tried: 0,
    repaired: 0,
    throughCli: 0,
    missed: [],
    notRepaired: {},
  };
  try {
    const base = await makeBase(folder);
    while (counts.planted < count) {
      const place = join(folder, "place");
      mkdirSync(place);
      const path = join(place, "memory.db");
      copyDatabase(base.path, path);
      if (counts.planted % CONTROL_EVERY === 0) {
        counts.controls += 1;
        if (await isFound(path, cliEvery > 0 && counts.planted % (CONTROL_EVERY * 10) === 0))
          counts.falseAlarms += 1;
      }
      const what = plantOne({ chance, path, older: base.older });
      if (what !== undefined) await tryOne(counts, what, { path, backup: base.path, cliEvery });
      rmSync(place, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { test: "R16", seed, ...counts };
}

type PlantedCounts = {
  -readonly [name in keyof Omit<PlantedResult, "test" | "seed" | "missed">]: PlantedResult[name];
} & {
  missed: string[];
  notRepaired: { [plant: string]: number };
};

async function tryOne(
  counts: PlantedCounts,
  what: string,
  { path, backup, cliEvery }: { readonly path: string; readonly backup: string; readonly cliEvery: number },
): Promise<void> {
  counts.planted += 1;
  const isCli = cliEvery > 0 && counts.planted % cliEvery === 0;
  counts.throughCli += Number(isCli);
  if (await isFound(path, isCli)) counts.found += 1;
  else counts.missed.push(what);
  if (counts.planted % 2 === 1 || what === "ledger") return;
  counts.tried += 1;
  if (await isRepaired(path, backup)) counts.repaired += 1;
  else counts.notRepaired[what] = (counts.notRepaired[what] ?? 0) + 1;
}

function plantOne({ chance, path, older }: Omit<Planting, "handle">): string | undefined {
  const handle = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    handle.exec("PRAGMA ignore_check_constraints = ON");
    return pick(PLANTS, chance)?.({ handle, chance, path, older });
  } finally {
    handle.close();
  }
}

if (process.argv[1] === import.meta.filename) {
  const option = (name: string, standard: number): number => {
    const at = process.argv.indexOf(name);
    return at === -1 ? standard : Number(process.argv[at + 1]);
  };
  const seed = option("--seed", Math.floor(Math.random() * 2 ** 31));
  console.error(`seed ${seed}`);
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const result = await plantAll({
    seed,
    count: option("--count", 1000),
    cliEvery: option("--cli-every", 50),
  });
  console.log(JSON.stringify(result));
  process.exitCode = result.found === result.planted && result.falseAlarms === 0 ? 0 : 1;
}
