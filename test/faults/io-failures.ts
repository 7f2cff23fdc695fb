import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sqlite/migrations/index.ts";
import { createMemory } from "../../src/memory.ts";
import { option, random } from "../crash/kill.ts";
import { FORMATS } from "../formats/formats.ts";
import { digestRows } from "../formats/grow.ts";
import { unpackFormat } from "../formats/unpack.ts";
import {
  type FailureProblem,
  findProblemsAfter,
  type OlderFile,
  parseJson,
  STABLE_CODES,
} from "./disk/aftermath.ts";
import { type CallFault, type Ended, filesOf, pointsOf, runFaulty } from "./disk/faulty-run.ts";
import { INSIDE, type OperationReport, WORDS } from "./disk/operate.ts";

const OPERATE = join(import.meta.dirname, "disk/operate.ts");
const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");

/** Updates of a file of an older format: of the first one, and of the last one before this. */
const UPDATES: { readonly [name: string]: OlderFile["format"] | undefined } = {
  migrate: FORMATS[0],
  "migrate the last format": FORMATS.filter(({ version }) => version < SQLITE_MIGRATIONS.length).at(-1),
};

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
  ...Object.keys(UPDATES),
  ...INSIDE,
  ...Object.keys(COMMANDS),
];

/** What became of an operation at one point. */
export interface PointTrial {
  readonly operation: string;
  readonly fault: CallFault;
  readonly problems: readonly FailureProblem[];
}

/** Databases as they are before an operation. */
export interface Templates {
  readonly folder: string;
  of(operation: string): string;
  /** The file of an older format that an operation updates. */
  older(operation: string): OlderFile | undefined;
  /** The names of the files that an operation touches. */
  readonly files: Map<string, readonly string[]>;
}

/** Makes what the operations begin with: a database with something erased, an earlier backup and export, older versions. */
export async function makeTemplates(): Promise<Templates> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "keepsake-io-"));
  const [full, fresh, scratch] = ["full", "fresh", "scratch"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [full, fresh]) mkdirSync(one);
  const path = join(full, "memory.db");
  const memory = await createMemory({ path });
  const ana = memory.scope({ user: "ana" });
  await ana.remember({ id: "m-kept", role: "user", content: `I live in ${WORDS.kept}.` });
  await ana.remember({ id: "m-erased", role: "user", content: `I use ${WORDS.erased} for work.` });
  await ana.remember({ id: "m-older", role: "user", content: `I use ${WORDS.older} for work.` });
  await memory.backup(join(full, "earlier.copy"));
  await ana.forget(WORDS.older);
  // The newest revision, which `undo` reverts.
  await ana.remember({ id: "m-undone", role: "user", content: `I own a ${WORDS.undone}.` });
  await memory.close();
  const lines = [1, 2, 3].map((number) => ({
    id: `m-import-${number}`,
    role: "user",
    content: `I own ${number} boats. I moved to ${WORDS.told} last year.`,
  }));
  writeFileSync(join(full, "earlier.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  const older = new Map(
    Object.entries(UPDATES).map(([name, format]): [string, OlderFile & { readonly folder: string }] => {
      if (!format) throw new Error("there is no older format");
      const own = join(folder, format.name);
      mkdirSync(own);
      unpackFormat(format, own);
      cpSync(own, scratch, { recursive: true });
      const rows = digestRows(join(scratch, "memory.db"));
      rmSync(scratch, { recursive: true });
      return [name, { format, rows, folder: own }];
    }),
  );
  return {
    folder,
    of: (name) => older.get(name)?.folder ?? (name === "open a new file" ? fresh : full),
    older: (name) => older.get(name),
    files: new Map(),
  };
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
  const files = await filesOfOperation(templates, operation);
  return inCopy(templates, operation, "points", (folder) =>
    pointsOf(wordsOf(operation, folder), folder, files, operation in COMMANDS),
  );
}

/** The names of the files that an operation touches, which are those whose calls fail. */
export async function filesOfOperation(templates: Templates, operation: string): Promise<readonly string[]> {
  const known = templates.files.get(operation);
  if (known) return known;
  const files = await inCopy(templates, operation, "files", (folder) =>
    filesOf(wordsOf(operation, folder), folder),
  );
  templates.files.set(operation, files);
  return files;
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
): Promise<PointTrial> {
  const files = await filesOfOperation(templates, operation);
  const older = templates.older(operation);
  return inCopy(templates, operation, name, async (folder) => {
    const ended = await runFaulty(wordsOf(operation, folder), folder, files, fault);
    const isCommand = operation in COMMANDS;
    const problems = [
      ...problemsOf(operation, ended, fault),
      ...(await findProblemsAfter({ operation, isCommand, folder, ended, ...(older ? { older } : {}) })),
    ];
    return { operation, fault, problems };
  });
}

/** What the process itself shows. */
function problemsOf(operation: string, ended: Ended, fault: CallFault): FailureProblem[] {
  if (ended.hasHung) return [{ kind: "hangs", what: "it did not end" }];
  if (operation in COMMANDS) return problemsOfCommand(ended);
  const report = reportOf(ended);
  if (!report || ended.status !== 0) {
    return [{ kind: "uncaught", what: `exit ${ended.status}: ${ended.errors.slice(0, 300)}` }];
  }
  const failures = [report.failure, report.again?.failure, report.closing];
  return [
    ...failures.flatMap((failure): FailureProblem[] =>
      failure && !STABLE_CODES.test(failure.code)
        ? [{ kind: "unclear", what: `${failure.code}: ${failure.message}` }]
        : [],
    ),
    ...problemsOfRepetition(operation, report, fault),
  ];
}

/** What it did when it was asked again, in the same process. */
function problemsOfRepetition(
  operation: string,
  { failure, again }: OperationReport,
  fault: CallFault,
): FailureProblem[] {
  if (!failure || !again || !INSIDE.includes(operation) || /^(?:backup|close)$/.test(operation)) return [];
  const problems: FailureProblem[] = [];
  if (/sync$/.test(fault.call) && again.failure === undefined) {
    problems.push({ kind: "ackedLost", what: "it was acknowledged after a sync had failed" });
  }
  const { erased } = (again.done ?? {}) as { erased?: { messages: number } };
  if (erased?.messages === 0)
    problems.push({ kind: "unclear", what: "it failed, and had erased all the same" });
  return problems;
}

function problemsOfCommand({ status, output, errors }: Ended): FailureProblem[] {
  if (/\n\s+at |Warning:/.test(errors)) return [{ kind: "uncaught", what: errors.slice(0, 300) }];
  if (status === 0) return [];
  const said = parseJson(output) as
    | { error?: { code?: string; message?: string }; healthy?: boolean }
    | undefined;
  if (said?.error && STABLE_CODES.test(said.error.code ?? "")) return [];
  if (said?.healthy === false) return [];
  return [{ kind: "unclear", what: `exit ${status}: ${output.slice(0, 200)} ${errors.slice(0, 300)}` }];
}

function reportOf({ output }: Ended): OperationReport | undefined {
  return parseJson(output) as OperationReport | undefined;
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
