import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { SQLITE_MIGRATIONS } from "../../../src/adapters/sqlite/migrations/index.ts";
import { isMemoryError } from "../../../src/errors.ts";
import { keysFile, keysPathOf } from "../../../src/http/index.ts";
import { createMemory } from "../../../src/memory.ts";
import type { FileFormat } from "../../formats/formats.ts";
import { digestRows, type RowDigests } from "../../formats/grow.ts";
import { ERASED_WORD, readAll, steadyClock } from "../../formats/story.ts";
import { readingsOf } from "../../formats/unpack.ts";
import type { Ended } from "./faulty-run.ts";
import { type OperationReport, WORDS } from "./operate.ts";

/** Something that is wrong after a call has failed. */
export interface FailureProblem {
  readonly kind: "ackedLost" | "half" | "corrupt" | "resurrected" | "uncaught" | "hangs" | "unclear";
  readonly what: string;
}

/** A file of an older format, and its rows as the operation finds them. */
export interface OlderFile {
  readonly format: FileFormat;
  readonly rows: RowDigests;
}

/** An operation that has ended, with or without a failed call. */
export interface EndedOperation {
  readonly operation: string;
  /** Whether it is a command of its own. Its exit status then says whether it was acknowledged. */
  readonly isCommand: boolean;
  readonly folder: string;
  readonly ended: Ended;
  /** Present if the operation updates a file of an older format. */
  readonly older?: OlderFile;
}

/** The codes of errors that a caller may get. */
export const STABLE_CODES: RegExp =
  /^(?:invalid_input|not_found|conflict|over_quota|forbidden|unavailable|corrupt|unsupported)$/;

/** The name of the copy that is made before a file is updated to this version. */
export const UPDATE_COPY: string = `memory.db.before-v${SQLITE_MIGRATIONS.length}`;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Opens what an operation left, without a fault, and compares it with what was there and with what was acknowledged. */
export async function findProblemsAfter(one: EndedOperation): Promise<FailureProblem[]> {
  const path = join(one.folder, "memory.db");
  try {
    return [
      ...(await findDamage(path)),
      ...(one.older ? await findUpdateProblems(one, one.older) : await findContentProblems(one, path)),
      ...(await findCopyProblems(one)),
      ...findDrafts(one),
    ];
  } catch (error) {
    return [{ kind: "corrupt", what: `it cannot be opened afterwards: ${(error as Error).message}` }];
  }
}

/** What the check and the audit of a database find. An erasure that was cut off says itself that it was not verified. */
async function findDamage(path: string): Promise<FailureProblem[]> {
  const memory = await createMemory({ path });
  try {
    const faults = await memory.check();
    const { broken } = await memory.audit();
    return [
      ...faults.map(
        (fault): FailureProblem => ({
          kind: "corrupt",
          what: `${fault.count} ${fault.place} ${fault.problem}`,
        }),
      ),
      ...broken
        .filter(({ problem }) => problem !== "it was not verified to the end")
        .map(({ problem }): FailureProblem => ({ kind: "corrupt", what: `audit: ${problem}` })),
    ];
  } finally {
    await memory.close();
  }
}

/** What the operation acknowledged: its result, or `null` for one without; nothing if it failed. */
function resultOf({ operation, isCommand, ended }: EndedOperation): unknown {
  if (isCommand) return ended.status === 0 ? null : undefined;
  const report = parseJson(ended.output) as OperationReport | undefined;
  if (operation === "close") return report?.isStored ? null : undefined;
  return report?.done ?? report?.again?.done ?? (report && !report.failure ? null : undefined);
}

const isAcknowledged = (one: EndedOperation): boolean => resultOf(one) !== undefined;

/** An updated file holds what it held, and the copy from before the update is what the file was. */
async function findUpdateProblems(
  one: EndedOperation,
  { format, rows }: OlderFile,
): Promise<FailureProblem[]> {
  const problems: FailureProblem[] = [];
  const copy = join(one.folder, UPDATE_COPY);
  if (existsSync(copy)) {
    if (!isDeepStrictEqual(digestRows(copy), rows))
      problems.push({ kind: "half", what: "the copy from before the update is not what the file was" });
  } else problems.push({ kind: "ackedLost", what: "the file was updated without a copy" });
  // A day after the story: nothing in it expires.
  const clock = steadyClock(Date.UTC(2026, 0, 6));
  const memory = await createMemory({ path: join(one.folder, "memory.db"), clock });
  try {
    const { users, receipts } = await readAll(memory);
    const before = readingsOf(format);
    if (!isDeepStrictEqual(users, before.users))
      problems.push({ kind: "ackedLost", what: "messages, memories or the log are not what they were" });
    if (!isDeepStrictEqual(receipts, before.receipts))
      problems.push({ kind: "ackedLost", what: "the receipts are not what they were" });
    if (JSON.stringify(users).includes(ERASED_WORD))
      problems.push({ kind: "resurrected", what: "what was erased before is served" });
  } finally {
    await memory.close();
  }
  return problems;
}

const ANA = { project: "default", user: "ana" };

interface ServedContent {
  readonly messages: readonly {
    readonly id: string;
    readonly content: string;
    readonly undone?: boolean | undefined;
  }[];
  readonly memories: readonly { readonly text: string; readonly status: string }[];
  readonly all: string;
}

async function readContent(path: string): Promise<ServedContent> {
  const store = await openSqliteStore({ path });
  try {
    const { messages, memories } = await store.since(ANA, 0, { units: false });
    const log = await store.log(ANA, { limit: 1000 });
    return { messages, memories, all: JSON.stringify([messages, memories, log]) };
  } finally {
    await store.close();
  }
}

const textIn = ({ messages }: ServedContent, id: string): string =>
  messages.find((message) => message.id === id)?.content ?? "";

/** How many messages an operation stores. */
const STORED: { readonly [operation: string]: number } = {
  remember: 1,
  close: 1,
  batch: 5,
  import: 3,
  "import by command": 3,
};

async function findContentProblems(one: EndedOperation, path: string): Promise<FailureProblem[]> {
  const { operation } = one;
  if (operation === "open a new file") return [];
  const served = await readContent(path);
  const stored = served.messages.filter(({ id }) => /^m-(?:told|batch|import)/.test(id)).length;
  const expected = STORED[operation];
  const problems: FailureProblem[] = [
    ...findErasureProblems(one, served),
    ...findChangeProblems(one, served),
  ];
  if (isAcknowledged(one) && expected !== undefined && stored !== expected)
    problems.push({ kind: "ackedLost", what: `${stored} of ${expected} are there` });
  if (operation === "batch" && stored % 5 !== 0)
    problems.push({ kind: "half", what: `${stored} of a batch are there` });
  return problems;
}

function findErasureProblems(one: EndedOperation, served: ServedContent): FailureProblem[] {
  const { operation, folder } = one;
  const problems: FailureProblem[] = [];
  const expect = (isTrue: boolean, kind: FailureProblem["kind"], what: string): void => {
    if (!isTrue) problems.push({ kind, what });
  };
  const kept = textIn(served, "m-kept");
  expect(!served.all.includes(WORDS.older), "resurrected", "what was erased before is served");
  if (operation !== "everything") expect(kept.includes(WORDS.kept), "ackedLost", "m-kept is gone");
  else expect(["", `I live in ${WORDS.kept}.`].includes(kept), "half", "m-kept is there in part");
  const done = resultOf(one);
  if (!/^(?:forget|everything)$/.test(operation)) {
    expect(textIn(served, "m-erased").includes(WORDS.erased), "ackedLost", "m-erased is gone");
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

/** An acknowledged update, undo or key is there. One that failed is there whole, or not at all. */
function findChangeProblems(one: EndedOperation, served: ServedContent): FailureProblem[] {
  const { operation, folder } = one;
  const problems: FailureProblem[] = [];
  const isDone = isAcknowledged(one);
  if (operation === "update" && isDone && !served.memories.some(({ text }) => text.includes(WORDS.told)))
    problems.push({ kind: "ackedLost", what: "the new text of the memory is gone" });
  if (operation === "undo") {
    const isMessageUndone = served.messages.find(({ id }) => id === "m-undone")?.undone === true;
    const isMemoryCurrent = served.memories.some(
      ({ text, status }) => text.includes(WORDS.undone) && status === "current",
    );
    if (isDone && (!isMessageUndone || isMemoryCurrent))
      problems.push({ kind: "ackedLost", what: "what was undone is current" });
    if (isMessageUndone === isMemoryCurrent)
      problems.push({ kind: "half", what: "the message or its memory alone was undone" });
  } else if (
    !/^(?:everything|restore)$/.test(operation) &&
    !textIn(served, "m-undone").includes(WORDS.undone)
  )
    problems.push({ kind: "ackedLost", what: "m-undone is gone" });
  if (operation === "keys") {
    const labels = keysFile(keysPathOf(join(folder, "memory.db")))
      .read()
      ?.keys.map(({ label }) => label);
    if (isDone && !labels?.includes("one"))
      problems.push({ kind: "ackedLost", what: "the key that was shown is not stored" });
  }
  return problems;
}

/** Backups, exports, moved databases and the one that a restore replaced are there whole, or not at all. */
async function findCopyProblems(one: EndedOperation): Promise<FailureProblem[]> {
  const { operation, folder } = one;
  const isDone = isAcknowledged(one);
  const problems: FailureProblem[] = [];
  const copy = join(folder, "backup.copy");
  if (existsSync(copy)) problems.push(...(await findStoreProblems(copy, "the backup")));
  else if (isDone && operation.startsWith("backup"))
    problems.push({ kind: "ackedLost", what: "the backup is not there" });
  problems.push(
    ...findExportProblems(join(folder, "export.jsonl"), isDone && operation.startsWith("export")),
  );
  if (operation === "move") problems.push(...(await findTargetProblems(join(folder, "target.db"), isDone)));
  if (operation === "restore" && isDone) {
    const aside = readdirSync(folder).find((name) => /^memory\.db\.before-\d+$/.test(name));
    if (aside === undefined) problems.push({ kind: "ackedLost", what: "the replaced database is gone" });
    else problems.push(...(await findStoreProblems(join(folder, aside), "the replaced database")));
  }
  return problems;
}

/** An export is whole once it was acknowledged; until then it is missing, or whole. */
function findExportProblems(file: string, isDone: boolean): FailureProblem[] {
  if (!existsSync(file)) return isDone ? [{ kind: "ackedLost", what: "the export is not there" }] : [];
  const lines = readFileSync(file, "utf8").split("\n");
  const isWhole = lines.at(-1) === "" && lines.slice(0, -1).every((line) => parseJson(line) !== undefined);
  const hasAll = lines.some((line) => line.includes(WORDS.kept));
  return isWhole && hasAll ? [] : [{ kind: "half", what: "the export is there in part" }];
}

/** Whether a database holds together, and holds what was stored before the operation. */
async function findStoreProblems(path: string, what: string): Promise<FailureProblem[]> {
  const store = await openSqliteStore({ path });
  const faults = await store.check();
  await store.close();
  if (faults.length > 0) return [{ kind: "half", what: `${what} does not hold together` }];
  const served = await readContent(path);
  const isWhole =
    textIn(served, "m-kept").includes(WORDS.kept) && textIn(served, "m-erased").includes(WORDS.erased);
  return [
    ...(isWhole ? [] : [{ kind: "half" as const, what: `${what} is there in part` }]),
    ...(served.all.includes(WORDS.older)
      ? [{ kind: "resurrected" as const, what: `${what} has what was erased before` }]
      : []),
  ];
}

/** A moved database is whole once the move has ended; until then it does not open, or is empty. */
async function findTargetProblems(path: string, isDone: boolean): Promise<FailureProblem[]> {
  if (!existsSync(path))
    return isDone ? [{ kind: "ackedLost", what: "the moved database is not there" }] : [];
  try {
    const damage = await findDamage(path);
    if (damage.length > 0) return damage;
  } catch (error) {
    const isUnfinished = isMemoryError(error) && STABLE_CODES.test(error.code) && error.code !== "corrupt";
    if (isUnfinished && !isDone) return [];
    return [{ kind: "corrupt", what: `the moved database cannot be opened: ${(error as Error).message}` }];
  }
  if (!isDone && (await readContent(path)).messages.length === 0) return [];
  return findStoreProblems(path, "the moved database");
}

/**
 * The draft of a new database and that of a lock hold nothing that was said. The first goes when the database is opened or moved to
 * again, the other with a later lock.
 */
const EMPTY_DRAFT = /^(?:memory|target)\.db\.(?:\d+\.[0-9a-f]{8}|keys\.json\.lock\.[0-9a-f-]{36})\.new$/;

/** Drafts with what was said that an operation left without saying so. */
function findDrafts({ folder, ended }: EndedOperation): FailureProblem[] {
  if (ended.hasHung) return [];
  const said = parseJson(ended.output) as
    | (OperationReport & { readonly error?: { readonly message?: string } })
    | undefined;
  const message = said?.failure?.message ?? said?.error?.message ?? "";
  const drafts = readdirSync(folder).filter(
    (name) => /\.(?:part|new|restoring)$/.test(name) && !EMPTY_DRAFT.test(name) && !message.includes(name),
  );
  return drafts.length > 0 ? [{ kind: "half", what: `left: ${drafts.join(", ")}` }] : [];
}
