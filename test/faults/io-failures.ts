import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sqlite/migrations/index.ts";
import { createMemory } from "../../src/memory.ts";
import { option, random } from "../crash/kill.ts";
import { type CallFault, type Ended, pointsOf, runFaulty } from "./disk/faulty-run.ts";
import { INSIDE, type Report, WORDS } from "./disk/operate.ts";

const OPERATE = join(import.meta.dirname, "disk/operate.ts");
const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
const ANA = { project: "default", user: "ana" };

/** Operations that are a command of their own: its words, with FOLDER for where the files are. */
const COMMANDS: { readonly [name: string]: readonly string[] } = {
  doctor: ["doctor"],
  reindex: ["reindex"],
  "backup by command": ["backup", "FOLDER/backup.copy"],
  restore: ["restore", "FOLDER/earlier.copy", "--yes"],
  "export by command": ["export", "FOLDER/export.jsonl", "--user", "ana"],
  "import by command": ["import", "FOLDER/earlier.jsonl", "--user", "ana"],
  keys: ["keys", "create", "--label", "one"],
  move: ["move", "--to", "FOLDER/target.db"],
};

/** All that is tried, by name. */
export const OPERATION_NAMES: readonly string[] = [
  "open a new file",
  "open",
  "migrate",
  ...INSIDE,
  ...Object.keys(COMMANDS),
];

/** What became of an operation at one point. */
export interface Tried {
  readonly operation: string;
  readonly fault: CallFault;
  readonly problems: readonly Problem[];
}

export interface Problem {
  readonly kind: "ackedLost" | "half" | "corrupt" | "resurrected" | "uncaught" | "hangs" | "unclear";
  readonly what: string;
}

/** Databases as they are before an operation. */
export interface Templates {
  readonly folder: string;
  of(operation: string): string;
}

/** Makes what the operations begin with: a database with something erased, an earlier backup and export, an older version. */
export async function makeTemplates(): Promise<Templates> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "keepsake-io-"));
  const [full, fresh, old] = ["full", "fresh", "old"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [full, fresh, old]) mkdirSync(one);
  const path = join(full, "memory.db");
  const memory = await createMemory({ path });
  const ana = memory.scope({ user: "ana" });
  await ana.remember({ id: "m-kept", role: "user", content: `I live in ${WORDS.kept}.` });
  await ana.remember({ id: "m-erased", role: "user", content: `I use ${WORDS.erased} for work.` });
  await ana.remember({ id: "m-older", role: "user", content: `I use ${WORDS.older} for work.` });
  await memory.backup(join(full, "earlier.copy"));
  await ana.forget(WORDS.older);
  await memory.close();
  const lines = [1, 2, 3].map((number) => ({
    id: `m-import-${number}`,
    role: "user",
    content: `I own ${number} boats. I moved to ${WORDS.told} last year.`,
  }));
  writeFileSync(join(full, "earlier.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  makeOlder(join(old, "memory.db"));
  return { folder, of: (name) => (name === "open a new file" ? fresh : name === "migrate" ? old : full) };
}

/** A database of the first version, with one message. */
function makeOlder(path: string): void {
  const handle = new DatabaseSync(path);
  handle.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL");
  handle.exec(SQLITE_MIGRATIONS[0] ?? "");
  handle.exec("PRAGMA application_id = 1262830928; PRAGMA user_version = 1");
  handle.exec("INSERT INTO users (id, project, name, revision, turns) VALUES (1, 'default', 'ana', 0, 0)");
  handle.close();
}

function wordsOf(operation: string, folder: string): string[] {
  const command = COMMANDS[operation];
  if (!command) {
    const inside = INSIDE.includes(operation) ? operation : "open";
    return [OPERATE, inside, folder];
  }
  const words = command.map((word) => word.replace("FOLDER", folder));
  return [PROGRAM, ...words, "--db", join(folder, "memory.db"), "--json"];
}

/** All points of an operation: each call of its files, each error, once and for ever. */
export async function pointsOfOperation(templates: Templates, operation: string): Promise<CallFault[]> {
  return inCopy(templates, operation, "points", (folder) =>
    pointsOf(wordsOf(operation, folder), folder, operation in COMMANDS),
  );
}

async function inCopy<Result>(
  templates: Templates,
  operation: string,
  name: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = join(templates.folder, `run-${name}`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(templates.of(operation), folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(`${folder}.trace`, { force: true });
  }
}

/** Has an operation fail at one point, and looks at what is left. */
export async function tryPoint(
  templates: Templates,
  operation: string,
  fault: CallFault,
  name = "point",
): Promise<Tried> {
  return inCopy(templates, operation, name, async (folder) => {
    const ended = await runFaulty(wordsOf(operation, folder), folder, fault);
    const problems = [
      ...problemsOf(operation, ended, fault),
      ...(await problemsAfter(operation, folder, ended)),
    ];
    return { operation, fault, problems };
  });
}

const STABLE = /^(?:invalid_input|not_found|conflict|over_quota|forbidden|unavailable|corrupt|unsupported)$/;

/** What the process itself shows. */
function problemsOf(operation: string, ended: Ended, fault: CallFault): Problem[] {
  if (ended.hasHung) return [{ kind: "hangs", what: "it did not end" }];
  if (operation in COMMANDS) return problemsOfCommand(ended);
  const report = reportOf(ended);
  if (!report || ended.status !== 0) {
    return [{ kind: "uncaught", what: `exit ${ended.status}: ${ended.errors.slice(0, 300)}` }];
  }
  const failures = [report.failure, report.again?.failure, report.closing];
  return [
    ...failures.flatMap((failure): Problem[] =>
      failure && !STABLE.test(failure.code)
        ? [{ kind: "unclear", what: `${failure.code}: ${failure.message}` }]
        : [],
    ),
    ...problemsOfRepetition(operation, report, fault),
  ];
}

/** What it did when it was asked again, in the same process. */
function problemsOfRepetition(operation: string, { failure, again }: Report, fault: CallFault): Problem[] {
  if (!failure || !again || !INSIDE.includes(operation) || /^(?:backup|close)$/.test(operation)) return [];
  const problems: Problem[] = [];
  if (/sync$/.test(fault.call) && again.failure === undefined) {
    problems.push({ kind: "ackedLost", what: "it was acknowledged after a sync had failed" });
  }
  const { erased } = (again.done ?? {}) as { erased?: { messages: number } };
  if (erased?.messages === 0)
    problems.push({ kind: "unclear", what: "it failed, and had erased all the same" });
  return problems;
}

function problemsOfCommand({ status, output, errors }: Ended): Problem[] {
  if (/\n\s+at |Warning:/.test(errors)) return [{ kind: "uncaught", what: errors.slice(0, 300) }];
  if (status === 0) return [];
  const said = jsonIn(output) as
    | { error?: { code?: string; message?: string }; healthy?: boolean }
    | undefined;
  if (said?.error && STABLE.test(said.error.code ?? "")) return [];
  if (said?.healthy === false) return [];
  return [{ kind: "unclear", what: `exit ${status}: ${output.slice(0, 200)} ${errors.slice(0, 300)}` }];
}

function reportOf({ output }: Ended): Report | undefined {
  return jsonIn(output) as Report | undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What is found when the fault has gone. */
async function problemsAfter(operation: string, folder: string, ended: Ended): Promise<Problem[]> {
  const path = join(folder, "memory.db");
  try {
    const memory = await createMemory({ path });
    const faults = await memory.check();
    const { broken } = await memory.audit();
    await memory.close();
    const served = await servedOf(path);
    return [
      ...faults.map(
        (one): Problem => ({ kind: "corrupt", what: `${one.count} ${one.place} ${one.problem}` }),
      ),
      ...broken
        .filter(({ problem }) => problem !== "it was not verified to the end")
        .map(({ problem }): Problem => ({ kind: "corrupt", what: `audit: ${problem}` })),
      ...problemsOfContent(operation, folder, served, ended),
      ...(await problemsOfCopies(operation, folder, ended)),
    ];
  } catch (error) {
    return [{ kind: "corrupt", what: `it cannot be opened afterwards: ${(error as Error).message}` }];
  }
}

interface Content {
  readonly messages: readonly { readonly id: string; readonly content: string }[];
  readonly all: string;
}

async function servedOf(path: string): Promise<Content> {
  const record = await openSqliteStore({ path });
  const { messages, memories } = await record.since(ANA, 0, { units: false });
  const log = await record.log(ANA, { limit: 1000 });
  await record.close();
  return { messages, all: JSON.stringify([messages, memories, log]) };
}

/** How many messages an operation stores. */
const STORED: { readonly [operation: string]: number } = {
  remember: 1,
  close: 1,
  batch: 5,
  import: 3,
  "import by command": 3,
};

function problemsOfContent(operation: string, folder: string, served: Content, ended: Ended): Problem[] {
  if (/^(?:open a new file|migrate)$/.test(operation)) return [];
  const report = operation in COMMANDS ? undefined : reportOf(ended);
  const done = report?.done ?? report?.again?.done;
  const isDone = operation in COMMANDS ? ended.status === 0 : done !== undefined && done !== null;
  const stored = served.messages.filter(({ id }) => /^m-(?:told|batch|import)/.test(id)).length;
  const expected = STORED[operation];
  return [
    ...problemsOfErasure(operation, folder, served, isDone ? done : undefined),
    ...(isDone && expected !== undefined && stored !== expected
      ? [{ kind: "ackedLost" as const, what: `${stored} of ${expected} are there` }]
      : []),
    ...(operation === "batch" && stored % 5 !== 0
      ? [{ kind: "half" as const, what: `${stored} of a batch are there` }]
      : []),
  ];
}

function problemsOfErasure(operation: string, folder: string, served: Content, done: unknown): Problem[] {
  const problems: Problem[] = [];
  const expect = (isTrue: boolean, kind: Problem["kind"], what: string): void => {
    if (!isTrue) problems.push({ kind, what });
  };
  const text = (id: string): string => served.messages.find((one) => one.id === id)?.content ?? "";
  expect(!served.all.includes(WORDS.older), "resurrected", "what was erased before is served");
  if (operation !== "everything") expect(text("m-kept").includes(WORDS.kept), "ackedLost", "m-kept is gone");
  else expect(["", `I live in ${WORDS.kept}.`].includes(text("m-kept")), "half", "m-kept is there in part");
  if (!/^(?:forget|everything)$/.test(operation)) {
    expect(text("m-erased").includes(WORDS.erased), "ackedLost", "m-erased is gone");
  } else if (done) {
    expect(!served.all.includes(WORDS.erased), "resurrected", "what was erased is served");
    if ((done as { complete?: boolean }).complete === true) {
      const names = readdirSync(folder).filter((name) => name.startsWith("memory.db"));
      const bytes = names.map((name) => readFileSync(join(folder, name), "latin1")).join("");
      expect(!bytes.includes(WORDS.erased), "resurrected", "what was erased stands in bytes");
    }
  }
  return problems;
}

/** Backups, exports and moved databases are there whole, or not at all. */
async function problemsOfCopies(operation: string, folder: string, ended: Ended): Promise<Problem[]> {
  const problems: Problem[] = [];
  const copy = join(folder, "backup.copy");
  if (existsSync(copy)) {
    const record = await openSqliteStore({ path: copy });
    const faults = await record.check();
    await record.close();
    if (faults.length > 0) problems.push({ kind: "half", what: "the backup does not hold together" });
  }
  const exported = join(folder, "export.jsonl");
  if (existsSync(exported)) {
    const lines = readFileSync(exported, "utf8").split("\n");
    const isWhole = lines.at(-1) === "" && lines.slice(0, -1).every((line) => jsonIn(line) !== undefined);
    const hasAll = lines.some((line) => line.includes(WORDS.kept));
    if (!isWhole || !hasAll) problems.push({ kind: "half", what: "the export is there in part" });
  }
  const failure = operation in COMMANDS ? undefined : reportOf(ended)?.failure;
  const drafts = readdirSync(folder).filter(
    (name) => /\.(?:part|new)$/.test(name) && !failure?.message.includes(name),
  );
  if (ended.status === 0 && drafts.length > 0)
    problems.push({ kind: "half", what: `left: ${drafts.join(", ")}` });
  return problems;
}

/** Draws so many points of all; each operation has its share. */
export function drawn<Point>(points: readonly Point[], count: number, draw: () => number): Point[] {
  const left = [...points];
  const taken: Point[] = [];
  while (left.length > 0 && taken.length < count)
    taken.push(...left.splice(Math.floor(draw() * left.length), 1));
  return taken;
}

if (import.meta.main) {
  // The built program is what fails.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const sample = process.argv.includes("--all") ? Number.POSITIVE_INFINITY : option("sample", 200);
  const [only, call] = ["--only", "--call"].map((name) =>
    process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined,
  );
  const operations = OPERATION_NAMES.filter((name) => only === undefined || name === only);
  const draw = random(seed);
  const templates = await makeTemplates();
  const counts = { ackedLost: 0, half: 0, corrupt: 0, resurrected: 0, uncaught: 0, hangs: 0, unclear: 0 };
  const ran = { once: 0, forever: 0 };
  for (const operation of operations) {
    const all = (await pointsOfOperation(templates, operation)).filter(
      ({ call: name }) => call === undefined || name === call,
    );
    const points = drawn(all, sample / operations.length, draw);
    const queue = points.map((fault, place) => ({ fault, place }));
    const worker = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { fault } = next;
        const { problems } = await tryPoint(templates, operation, fault, `${next.place % 1000}`);
        ran[fault.isForever ? "forever" : "once"] += 1;
        for (const { kind, what } of problems) {
          counts[kind] += 1;
          const when = `${fault.call} ${fault.at}${fault.isForever ? "+" : ""} ${fault.error}`;
          console.error(`${operation}, ${when}: ${kind}: ${what}`);
        }
      }
    };
    await Promise.all([worker(), worker()]);
    console.error(`${operation}: ${points.length} points tried`);
  }
  rmSync(templates.folder, { recursive: true, force: true });
  const points = ran.once + ran.forever;
  console.log(JSON.stringify({ test: "R3", seed, operations: operations.length, points, ...ran, ...counts }));
  process.exitCode = Object.values(counts).some((count) => count > 0) || points === 0 ? 1 : 0;
}
