import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type UpdateCopy, updateCopies } from "../../adapters/sqlite/index.ts";
import type { Examination, Remedy } from "../../engine/admin/doctor.ts";
import type { HealthCheck } from "../../engine/admin/health.ts";
import type { Keepsake } from "../../engine/api.ts";
import type { Drift } from "../../engine/index-sync/vector-indexes.ts";
import { isMemoryError } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { createProgressBar, formatCount, formatDay, formatTable, type Printer } from "../printer.ts";
import { type CommonOptions, withMemory } from "../with-memory.ts";

interface DoctorCommandOptions extends CommonOptions {
  readonly fix?: boolean;
  readonly backup?: readonly string[];
}

export async function runDoctor({
  fix = false,
  backup = [],
  ...options
}: DoctorCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path, isFile }) => {
    const noted = isFile ? (await keepsake.audit()).backups : [];
    const files = [...backup, ...findBackups(noted, path)].map((file) => resolve(file));
    const found = await keepsake.examine({ fix, backups: [...new Set(files)] });
    const { space, left } = await keepsake.embedding();
    const { durability, checks } = await keepsake.health();
    const { broken } = await keepsake.audit();
    const indexes = await checkIndexes(keepsake, print);
    const besides = toExtraResults(broken, { space, left });
    const copies = reportUpdateCopies(isFile ? updateCopies(path) : [], print);
    print.result(
      { ...toDoctorJson(found), durability, checks, ...besides, ...indexes.json, ...copies.json },
      () => formatFaults(found, path),
    );
    const notes = [
      ...checks.filter(isReported).map(({ says }) => says),
      ...formatRowNotes(found),
      ...formatPendingNotes({ space, left, broken: broken.length }),
      // A server of a database has its own, of which nothing is known here.
      ...(isFile ? [formatBackupNote(noted)] : []),
      ...found.remedies.map(describeRemedy),
      ...(found.isHealthy ? [] : [formatRescueNote(isFile)]),
    ];
    for (const note of notes) print.note(note);
    copies.tell();
    indexes.printNotes();
    return found.isHealthy && broken.length === 0 && indexes.areHealthy ? EXIT.done : EXIT.failed;
  });
}

/** Warnings; of the secret, of rows and of erasures the whole look says more. */
function isReported({ name, state }: HealthCheck): boolean {
  return state === "warning" && !["secret", "rows", "erasures"].includes(name);
}

/** What stands beside the rows, where there is anything. */
function toExtraResults(
  receipts: readonly object[],
  embedding: { readonly space: string; readonly left: number },
) {
  return {
    ...(receipts.length > 0 ? { receipts } : {}),
    ...(embedding.left > 0 ? { embedding } : {}),
  };
}

function formatPendingNotes({
  space,
  left,
  broken,
}: {
  space: string;
  left: number;
  broken: number;
}): string[] {
  const notes: string[] = [];
  if (left > 0) {
    notes.push(
      `${formatCount(left, "text")} to be embedded by ${space}: \`keepsake serve\` does it meanwhile, \`keepsake reindex\` now.`,
    );
  }
  if (broken > 0) {
    notes.push(`${formatCount(broken, "fault")} in the receipts of erasures: \`keepsake audit\` says which.`);
  }
  return notes;
}

function toDoctorJson({ isHealthy, faults, integrity, remedies, repaired }: Examination) {
  return {
    healthy: isHealthy,
    faults,
    ...(integrity ? { integrity } : {}),
    remedies: remedies.map(({ file, ...remedy }) => ({
      ...remedy,
      ...(file ? { file: basename(file) } : {}),
    })),
    repaired,
  };
}

function formatFaults({ isHealthy, faults }: Examination, path: string): readonly string[] {
  if (isHealthy) return [`All is well with ${path}.`];
  const counted = faults.map(({ count, place, problem }) => [`${count}`, place, problem]);
  const named = faults
    .flatMap(({ rows = [] }) => rows.filter(({ id }) => id !== undefined))
    .slice(0, MOST_SHOWN);
  return [
    ...formatTable([["count", "place", "problem"], ...counted]),
    ...(named.length > 0
      ? ["", ...formatTable([["table", "user", "id"], ...named.map(formatFaultRow)])]
      : []),
  ];
}

const MOST_SHOWN = 20;

function formatFaultRow({
  table: place,
  user = "",
  id = "",
  version,
}: NonNullable<Examination["faults"][number]["rows"]>[number]): string[] {
  return [place, user, version === undefined ? id : `${id}, version ${version}`];
}

/** Backups by the names that the database noted, beside it or in this folder, the newest first. */
function findBackups(noted: Awaited<ReturnType<Keepsake["audit"]>>["backups"], path: string): string[] {
  return [...noted]
    .sort((one, other) => (one.at < other.at ? 1 : -1))
    .map(({ name }) => [join(dirname(resolve(path)), name), resolve(name)].find((file) => existsSync(file)))
    .filter((file) => file !== undefined);
}

function formatRowNotes({ integrity, repaired }: Examination): string[] {
  const put = repaired > 0 ? [`${formatCount(repaired, "row was", "rows were")} put right.`] : [];
  if (!integrity) return put;
  const { secret, withoutDigest } = integrity;
  if (secret === "another") {
    return [
      ...put,
      "The secret is not the one that this database was written under, so that its rows cannot be checked. Put the old secret back; " +
        "or take the rows as they are for what was written, with `keepsake doctor --fix`.",
    ];
  }
  return withoutDigest > 0
    ? [
        ...put,

        `${formatCount(withoutDigest, "row has", "rows have")} no digest yet: \`keepsake serve\` gives them one, \`keepsake doctor --fix\` now.`,
      ]
    : put;
}

function formatBackupNote(backups: readonly { readonly at: string }[]): string {
  const newest = backups
    .map(({ at }) => at)
    .sort()
    .at(-1);
  return newest === undefined
    ? "There is no backup of it yet: `keepsake backup FILE` makes one."
    : `The newest backup is of ${formatDay(newest)}.`;
}

function reportUpdateCopies(
  copies: readonly UpdateCopy[],
  print: Printer,
): { readonly json: { readonly copies?: readonly UpdateCopy[] }; tell(): void } {
  return {
    json: copies.length > 0 ? { copies } : {},
    tell() {
      for (const copy of copies) print.note(formatUpdateCopy(copy));
    },
  };
}

function formatUpdateCopy({ name, until }: UpdateCopy): string {
  return `${name} is a copy from before an update. It is deleted on ${formatDay(until)}, or at the next erasure.`;
}

function describeRemedy({ from, what, count, file }: Remedy): string {
  const fix = "`keepsake doctor --fix`";
  if (from === "itself")
    return `${fix} puts ${formatCount(count, "row")} right from what is proved by digests.`;
  if (from === "backup")
    return `${fix} --backup ${file ?? "FILE"} takes ${formatCount(count, "row")} back as they were written.`;
  if (from === "export")
    return "No backup was found that has the other rows: import an export, or name a backup with --backup.";
  return what === "memories"
    ? `${formatCount(count, "memory rests", "memories rest")} on messages that are sound, and can be learnt from them again.`
    : `${fix} makes search units anew from messages and memories that are sound.`;
}

function formatRescueNote(isFile: boolean): string {
  const back = isFile ? "Keep a copy of the file. `keepsake restore` takes a whole backup back; " : "";
  return `${back}\`keepsake export\` saves what can be read.`;
}

/** What was found of one index; or why it could not be looked at. */
type IndexCheck = Drift | { readonly name: string; readonly problem: string };

/** What was found of all. */
export interface IndexCheckReport {
  readonly json: { readonly indexes?: readonly IndexCheck[] };
  /** Whether each is as the record is now. */
  readonly areHealthy: boolean;
  /** Tells it, a sentence each. */
  printNotes(): void;
}

/** Holds every index against the record, and puts right what is different. */
export async function checkIndexes({ indexes }: Keepsake, print: Printer): Promise<IndexCheckReport> {
  const found: IndexCheck[] = [];
  for (const name of indexes.names) {
    const bar = createProgressBar(print.json);
    const onProgress = (done: number, of: number): void =>
      bar.show(done, of, `index "${name}": ${done} of ${formatCount(of, "user")}`);
    try {
      found.push(await indexes.drift(name, { onProgress }));
    } catch (error) {
      if (!isMemoryError(error)) throw error;
      found.push({ name, problem: error.message });
    } finally {
      bar.end();
    }
  }
  return {
    json: found.length > 0 ? { indexes: found } : {},
    areHealthy: found.every((one) => !("problem" in one) && one.isRepaired),
    printNotes() {
      for (const one of found) print.note(describeIndexCheck(one));
    },
  };
}

/** A sentence for people. */
function describeIndexCheck(health: IndexCheck): string {
  const { name } = health;
  if ("problem" in health) return `The index "${name}" could not be looked at: ${health.problem}`;
  const { units, missing, stray, stale, isRepaired } = health;
  if (missing + stray + stale === 0) return `The index "${name}" has all of ${formatCount(units, "unit")}.`;
  const wrong = [
    `${missing} of ${formatCount(units, "unit")} were missing`,
    `${formatCount(stray, "entry was", "entries were")} not the record's`,
    `${formatCount(stale, "vector was", "vectors were")} out of date`,
  ];
  const end = isRepaired ? "All of it is put right." : `Not all of it could be put right: try again.`;
  return `The index "${name}" had drifted: ${wrong.join(", ")}. ${end}`;
}
