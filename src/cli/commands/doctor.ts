import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type UpdateCopy, updateCopies } from "../../adapters/sqlite/index.ts";
import type { Examination, Remedy } from "../../engine/doctor/examine.ts";
import type { HealthCheck } from "../../engine/health/checks.ts";
import type { Keepsake } from "../../engine/surface.ts";
import { EXIT } from "../exit.ts";
import { day, type Printer, several, table } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";
import { lookAtIndexes } from "./doctor-indexes.ts";

interface DoctorOptions extends CommonOptions {
  readonly fix?: boolean;
  readonly backup?: readonly string[];
}

export async function doctor({ fix = false, backup = [], ...options }: DoctorOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print, path, isFile }) => {
    const noted = isFile ? (await keepsake.audit()).backups : [];
    const files = [...backup, ...foundBackups(noted, path)].map((file) => resolve(file));
    const found = await keepsake.examine({ fix, backups: [...new Set(files)] });
    const { space, left } = await keepsake.embedding();
    const { durability, checks } = await keepsake.health();
    const { broken } = await keepsake.audit();
    const indexes = await lookAtIndexes(keepsake, print);
    const besides = besidesOf(broken, { space, left });
    const copies = lookAtCopies(isFile ? updateCopies(path) : [], print);
    print.result({ ...jsonOf(found), durability, checks, ...besides, ...indexes.json, ...copies.json }, () =>
      linesOf(found, path),
    );
    const notes = [
      ...checks.filter(isTold).map(({ says }) => says),
      ...rowNotes(found),
      ...waitingNotes({ space, left, broken: broken.length }),
      // A server of a database has its own, of which nothing is known here.
      ...(isFile ? [ofBackups(noted)] : []),
      ...found.remedies.map(saidOf),
      ...(found.isHealthy ? [] : [ofRescue(isFile)]),
    ];
    for (const note of notes) print.note(note);
    copies.tell();
    indexes.tell();
    return found.isHealthy && broken.length === 0 && indexes.areInOrder ? EXIT.done : EXIT.failed;
  });
}

/** Warnings; of the secret, of rows and of erasures the whole look says more. */
function isTold({ name, state }: HealthCheck): boolean {
  return state === "warning" && !["secret", "rows", "erasures"].includes(name);
}

/** What stands beside the rows, where there is anything. */
function besidesOf(
  receipts: readonly object[],
  embedding: { readonly space: string; readonly left: number },
) {
  return {
    ...(receipts.length > 0 ? { receipts } : {}),
    ...(embedding.left > 0 ? { embedding } : {}),
  };
}

function waitingNotes({ space, left, broken }: { space: string; left: number; broken: number }): string[] {
  const notes: string[] = [];
  if (left > 0) {
    notes.push(
      `${several(left, "text")} to be embedded by ${space}: \`keepsake serve\` does it meanwhile, \`keepsake reindex\` now.`,
    );
  }
  if (broken > 0) {
    notes.push(`${several(broken, "fault")} in the receipts of erasures: \`keepsake audit\` says which.`);
  }
  return notes;
}

function jsonOf({ isHealthy, faults, integrity, remedies, repaired }: Examination) {
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

function linesOf({ isHealthy, faults }: Examination, path: string): readonly string[] {
  if (isHealthy) return [`All is well with ${path}.`];
  const counted = faults.map(({ count, place, problem }) => [`${count}`, place, problem]);
  const named = faults
    .flatMap(({ rows = [] }) => rows.filter(({ id }) => id !== undefined))
    .slice(0, MOST_SHOWN);
  return [
    ...table([["count", "place", "problem"], ...counted]),
    ...(named.length > 0 ? ["", ...table([["table", "user", "id"], ...named.map(rowOf)])] : []),
  ];
}

const MOST_SHOWN = 20;

function rowOf({
  table: place,
  user = "",
  id = "",
  version,
}: NonNullable<Examination["faults"][number]["rows"]>[number]): string[] {
  return [place, user, version === undefined ? id : `${id}, version ${version}`];
}

/** Backups by the names that the database noted, beside it or in this folder, the newest first. */
function foundBackups(noted: Awaited<ReturnType<Keepsake["audit"]>>["backups"], path: string): string[] {
  return [...noted]
    .sort((one, other) => (one.at < other.at ? 1 : -1))
    .map(({ name }) => [join(dirname(resolve(path)), name), resolve(name)].find((file) => existsSync(file)))
    .filter((file) => file !== undefined);
}

function rowNotes({ integrity, repaired }: Examination): string[] {
  const put = repaired > 0 ? [`${several(repaired, "row was", "rows were")} put right.`] : [];
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

        `${several(withoutDigest, "row has", "rows have")} no digest yet: \`keepsake serve\` gives them one, \`keepsake doctor --fix\` now.`,
      ]
    : put;
}

function ofBackups(backups: readonly { readonly at: string }[]): string {
  const newest = backups
    .map(({ at }) => at)
    .sort()
    .at(-1);
  return newest === undefined
    ? "There is no backup of it yet: `keepsake backup FILE` makes one."
    : `The newest backup is of ${day(newest)}.`;
}

function lookAtCopies(
  copies: readonly UpdateCopy[],
  print: Printer,
): { readonly json: { readonly copies?: readonly UpdateCopy[] }; tell(): void } {
  return {
    json: copies.length > 0 ? { copies } : {},
    tell() {
      for (const copy of copies) print.note(ofCopy(copy));
    },
  };
}

function ofCopy({ name, until }: UpdateCopy): string {
  return `${name} is a copy from before an update. It is deleted on ${day(until)}, or at the next erasure.`;
}

function saidOf({ from, what, count, file }: Remedy): string {
  const fix = "`keepsake doctor --fix`";
  if (from === "itself") return `${fix} puts ${several(count, "row")} right from what is proved by digests.`;
  if (from === "backup")
    return `${fix} --backup ${file ?? "FILE"} takes ${several(count, "row")} back as they were written.`;
  if (from === "export")
    return "No backup was found that has the other rows: import an export, or name a backup with --backup.";
  return what === "memories"
    ? `${several(count, "memory rests", "memories rest")} on messages that are sound, and can be learnt from them again.`
    : `${fix} makes search units anew from messages and memories that are sound.`;
}

function ofRescue(isFile: boolean): string {
  const back = isFile ? "Keep a copy of the file. `keepsake restore` takes a whole backup back; " : "";
  return `${back}\`keepsake export\` saves what can be read.`;
}
