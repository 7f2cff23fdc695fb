import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type UpdateCopy, updateCopies } from "../../../adapters/sqlite/index.ts";
import type { Drift } from "../../../engine/api/index-types.ts";
import type { Examination, HealthCheck, Remedy } from "../../../engine/api/inspection-types.ts";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import { isMemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { createProgressBar, formatCount, formatDay, formatTable, type Printer } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface DoctorCommandOptions extends CommonOptions {
  readonly fix?: boolean;
  readonly backup?: readonly string[];
}

export async function runDoctor({
  fix = false,
  backup: named = [],
  ...options
}: DoctorCommandOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path, isFile }) => {
    const backups = isFile ? (await keepsake.audit()).backups : [];
    const files = [...named, ...findBackups(backups, path)].map((file) => resolve(file));
    const examination = await keepsake.examine({ fix, backups: [...new Set(files)] });
    const { space, left } = await keepsake.embedding();
    const { durability, checks } = await keepsake.health();
    const { broken } = await keepsake.audit();
    const indexes = await checkIndexes(keepsake, print);
    const extra = toExtraResults(broken, { space, left });
    const copies = reportUpdateCopies(isFile ? updateCopies(path) : [], print);
    print.result(
      { ...toDoctorJson(examination), durability, checks, ...extra, ...indexes.json, ...copies.json },
      () => formatFaults(examination, path),
    );
    const notes = [
      ...checks.filter(isReported).map(({ says }) => says),
      ...formatRowNotes(examination),
      ...formatPendingNotes({ space, left, broken: broken.length }),
      // A database server has its own backups, unknown to Keepsake.
      ...(isFile ? [formatBackupNote(backups)] : []),
      ...examination.remedies.map(describeRemedy),
      ...(examination.isHealthy ? [] : [formatRescueNote(isFile)]),
    ];
    for (const note of notes) print.note(note);
    copies.tell();
    indexes.printNotes();
    return examination.isHealthy && broken.length === 0 && indexes.areHealthy ? EXIT.done : EXIT.failed;
  });
}

/** Whether to print a check. The full examination says more about the secret, rows and erasures. */
function isReported({ name, state }: HealthCheck): boolean {
  return state === "warning" && !["secret", "rows", "erasures"].includes(name);
}

/** Gives further fields of the JSON result; empty ones are left out. */
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
      `${formatCount(left, "text")} not embedded by ${space} yet: \`keepsake serve\` does it in the background, \`keepsake reindex\` at once.`,
    );
  }
  if (broken > 0) {
    notes.push(`${formatCount(broken, "fault")} in the erasure receipts: \`keepsake audit\` lists them.`);
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
  if (isHealthy) return [`No damage found in ${path}.`];
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

/** Finds known backups by name, beside the database or in the current folder, newest first. */
function findBackups(backups: Awaited<ReturnType<Keepsake["audit"]>>["backups"], path: string): string[] {
  return [...backups]
    .sort((one, other) => (one.at < other.at ? 1 : -1))
    .map(({ name }) => [join(dirname(resolve(path)), name), resolve(name)].find((file) => existsSync(file)))
    .filter((file) => file !== undefined);
}

function formatRowNotes({ integrity, repaired }: Examination): string[] {
  const repairs = repaired > 0 ? [`Repaired ${formatCount(repaired, "row")}.`] : [];
  if (!integrity) return repairs;
  const { secret, withoutDigest } = integrity;
  if (secret === "another") {
    return [
      ...repairs,
      "This database was written with another secret, so its rows cannot be checked. Restore the old secret, " +
        "or accept the rows as they are with `keepsake doctor --fix`.",
    ];
  }
  return withoutDigest > 0
    ? [
        ...repairs,

        `${formatCount(withoutDigest, "row has", "rows have")} no digest yet: \`keepsake serve\` adds digests in the background, \`keepsake doctor --fix\` at once.`,
      ]
    : repairs;
}

function formatBackupNote(backups: readonly { readonly at: string }[]): string {
  const newest = backups
    .map(({ at }) => at)
    .sort()
    .at(-1);
  return newest === undefined
    ? "There is no backup yet: `keepsake backup FILE` makes one."
    : `The newest backup is from ${formatDay(newest)}.`;
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
  return `${name} is a copy from before an update. It will be deleted on ${formatDay(until)}, or at the next erasure.`;
}

function describeRemedy({ from, what, count, file }: Remedy): string {
  const fix = "`keepsake doctor --fix`";
  if (from === "itself") return `${fix} repairs ${formatCount(count, "row")} from data that digests prove.`;
  if (from === "backup")
    return `\`keepsake doctor --fix --backup ${file ?? "FILE"}\` restores ${formatCount(count, "row")} as originally written.`;
  if (from === "export")
    return "No known backup contains the other rows: import an export, or name a backup with --backup.";
  return what === "memories"
    ? `${formatCount(count, "memory comes", "memories come")} from intact messages and can be extracted from them again.`
    : `${fix} rebuilds search units from intact messages and memories.`;
}

function formatRescueNote(isFile: boolean): string {
  const advice = isFile ? "Keep a copy of the file. `keepsake restore` restores a whole backup; " : "";
  return `${advice}\`keepsake export\` saves what is readable.`;
}

/** The result for one vector index, or why it could not be checked. */
type IndexCheck = Drift | { readonly name: string; readonly problem: string };

/** The results for all vector indexes. */
interface IndexCheckReport {
  readonly json: { readonly indexes?: readonly IndexCheck[] };
  /** Whether every index agrees with the database now. */
  readonly areHealthy: boolean;
  /** Prints a sentence for each index. */
  printNotes(): void;
}

/** Compares every vector index with the database and repairs differences. */
async function checkIndexes({ indexes }: Keepsake, print: Printer): Promise<IndexCheckReport> {
  const results: IndexCheck[] = [];
  for (const name of indexes.names) {
    const bar = createProgressBar(print.json);
    const onProgress = (done: number, of: number): void =>
      bar.show(done, of, `index "${name}": ${done} of ${formatCount(of, "user")}`);
    try {
      results.push(await indexes.drift(name, { onProgress }));
    } catch (error) {
      if (!isMemoryError(error)) throw error;
      results.push({ name, problem: error.message });
    } finally {
      bar.end();
    }
  }
  return {
    json: results.length > 0 ? { indexes: results } : {},
    areHealthy: results.every((check) => !("problem" in check) && check.isRepaired),
    printNotes() {
      for (const check of results) print.note(describeIndexCheck(check));
    },
  };
}

/** Describes a result in one sentence. */
function describeIndexCheck(health: IndexCheck): string {
  const { name } = health;
  if ("problem" in health) return `The index "${name}" could not be checked: ${health.problem}`;
  const { units, missing, stray, stale, isRepaired } = health;
  if (missing + stray + stale === 0) return `The index "${name}" is complete: ${formatCount(units, "unit")}.`;
  const differences = [
    `${missing} of ${formatCount(units, "unit")} were missing`,
    `${formatCount(stray, "entry was", "entries were")} not in the database`,
    `${formatCount(stale, "vector was", "vectors were")} out of date`,
  ];
  const end = isRepaired ? "All repaired." : `Not everything could be repaired: try again.`;
  return `The index "${name}" did not agree with the database: ${differences.join(", ")}. ${end}`;
}
