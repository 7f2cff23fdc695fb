import type { BackupNote } from "../../domain/operations/backup.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { ArchivedBackup, BackupPlan } from "../../ports/backup-archive.ts";
import type { Ports } from "../ports.ts";
import type { Job, JobStep } from "./job.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Receipts promise this much more than the retention, so that a late run does not break the promise. */
const GRACE_MS = DAY_MS;
/** A backup that is due within this time is made now: the intervals of runs vary. */
const EARLY_MS = HOUR_MS / 2;

type BackupPorts = Pick<Ports, "store" | "clock" | "meter">;

/**
 * Makes a backup when one is due, checks it by a restore into a second store, and then removes backups after the retention. The
 * newest checked backup stays until a newer one is checked. The notes in the store say which backups exist and until when, so
 * that receipts of erasures say it too. A step that fails does not stop the others: the run fails at its end.
 */
export function createBackupJob(ports: BackupPorts, plan: BackupPlan): Job {
  return {
    name: "backup",
    about: "makes backups, checks each by a restore, and removes old ones",
    everyMs: Math.min(plan.everyMs, HOUR_MS),
    restFactor: 0,
    run: (signal) => runBackups(ports, plan, signal),
  };
}

async function* runBackups(
  ports: BackupPorts,
  plan: BackupPlan,
  signal: AbortSignal,
): AsyncGenerator<JobStep, void, void> {
  await plan.workshop.clean();
  const prefix = await readPrefix(ports.store);
  const now = ports.clock().getTime();
  const timeOf = ({ name }: ArchivedBackup): number | undefined => toTime(name, prefix);
  const archived = (await plan.archive.list({ signal })).filter((one) => timeOf(one) !== undefined);
  const failures: unknown[] = [];
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error);
      return false;
    }
  };
  const checked = await settleNotes(ports, plan, { prefix, archived, signal, attempt });
  let newest = Math.max(...checked.map((one) => timeOf(one) ?? 0), 0);
  let done = 0;
  if (
    newest + plan.everyMs - EARLY_MS <= now &&
    (await attempt(() => makeBackup(ports, plan, prefix, signal)))
  ) {
    newest = now;
    done += 1;
    yield { done };
  }
  if (newest > 0) recordNewest(ports, newest);
  const isOld = (time: number): boolean => time + plan.keptMs <= now && time !== newest;
  for (const { name } of archived.filter((one) => isOld(timeOf(one) ?? now))) {
    await attempt(() => removeBackup(ports, plan, name, signal));
    done += 1;
    yield { done };
  }
  if (failures.length > 0) throw toRunError(failures);
}

/** The beginning of the names of this database's backups. */
async function readPrefix(store: BackupPorts["store"]): Promise<string> {
  return `keepsake-${(await store.identity()).replace(/[^A-Za-z0-9]/g, "").slice(0, 12)}-`;
}

/** The time of the newest backup of the job that was checked and is kept, in ms; undefined if there is none. */
export async function findNewestBackup({
  store,
  clock,
}: Pick<BackupPorts, "store" | "clock">): Promise<number | undefined> {
  const prefix = await readPrefix(store);
  const at = clock().toISOString();
  let newest: number | undefined;
  for (const { name, digest, until } of await store.backups.list()) {
    const isKept = digest !== "" && (until === undefined || until > at);
    const time = isKept ? toTime(name, prefix) : undefined;
    if (time !== undefined && time > (newest ?? 0)) newest = time;
  }
  return newest;
}

/** One error for all that failed in a run: the first as it is, or an error that quotes it. */
function toRunError(failures: readonly unknown[]): unknown {
  const [first] = failures;
  if (failures.length === 1) return first;
  const reason = isMemoryError(first) ? first.message : "internal error.";
  return new MemoryError(
    isMemoryError(first) ? first.code : "unavailable",
    `${failures.length} steps of the backup failed and will be tried again. The first: ${reason}`,
    { cause: new AggregateError(failures) },
  );
}

function recordNewest({ meter }: BackupPorts, time: number): void {
  meter?.set("keepsake_backup_timestamp_seconds", time / 1000);
}

/** The time in the name of a backup of this database, in ms; undefined for other files. */
function toTime(name: string, prefix: string): number | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const [, date, hours, minutes, seconds] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z\.db$/.exec(name.slice(prefix.length)) ?? [];
  const time = Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) ? undefined : time;
}

function toName(prefix: string, time: Date): string {
  return `${prefix}${time.toISOString().slice(0, 19).replaceAll(":", "-")}Z.db`;
}

/** The end of a backup as receipts say it. */
function toUntil(time: number, { keptMs }: BackupPlan): string {
  return new Date(time + keptMs + GRACE_MS).toISOString();
}

/**
 * Ends the notes of backups that are no longer there, and notes those that the store does not know. Gives the archived backups
 * that were checked by a restore.
 */
async function settleNotes(
  { store, clock }: BackupPorts,
  plan: BackupPlan,
  run: {
    readonly prefix: string;
    readonly archived: readonly ArchivedBackup[];
    readonly signal: AbortSignal;
    attempt(work: () => Promise<void>): Promise<boolean>;
  },
): Promise<ArchivedBackup[]> {
  const { prefix, archived, signal } = run;
  const at = clock().toISOString();
  const notes = (await store.backups.list()).filter(({ name }) => toTime(name, prefix) !== undefined);
  const there = new Set(archived.map(({ name }) => name));
  for (const note of notes) {
    const isOver = note.until !== undefined && note.until <= at;
    // A run that was killed while it wrote left a note without a size, and maybe a draft.
    if (there.has(note.name) || (isOver && note.bytes > 0)) continue;
    await run.attempt(async () => {
      // Also removes what a killed run had written of it.
      await plan.archive.remove(note.name, { signal });
      if (!isOver) await store.backups.save({ ...note, until: at });
    });
  }
  for (const { name, bytes } of archived) {
    const time = toTime(name, prefix) ?? 0;
    const until = toUntil(time, plan);
    const note = notes.find((one) => one.name === name);
    const isLate = until <= at;
    // A note without an end has no known end: it should be gone, and is still there.
    const { until: _end, ...known } = note ?? { name, at: new Date(time).toISOString(), bytes, digest: "" };
    // A run that was killed behind the copy left its note without a size.
    const sized = { ...known, bytes: known.bytes || bytes };
    const wanted: BackupNote = isLate ? sized : { ...sized, until };
    if (note?.until !== wanted.until || note?.bytes !== wanted.bytes) await store.backups.save(wanted);
  }
  // The digest is noted last, behind the check.
  const checked = new Set(notes.filter(({ digest }) => digest !== "").map(({ name }) => name));
  return archived.filter(({ name }) => checked.has(name));
}

async function removeBackup(
  { store, clock }: BackupPorts,
  { archive }: BackupPlan,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await archive.remove(name, { signal });
  const note = (await store.backups.list()).find((one) => one.name === name);
  if (note) await store.backups.save({ ...note, until: clock().toISOString() });
}

/** The note is saved before the copy begins, because content that is erased meanwhile may be in the file. */
async function makeBackup(
  { store, clock }: BackupPorts,
  plan: BackupPlan,
  prefix: string,
  signal: AbortSignal,
): Promise<void> {
  const { archive, workshop } = plan;
  const begun = clock();
  const name = toName(prefix, begun);
  const until = toUntil(begun.getTime(), plan);
  const draft: BackupNote = { name, at: begun.toISOString(), until, bytes: 0, digest: "" };
  await store.backups.save(draft);
  try {
    const copy = await workshop.copy(name, { signal });
    // The file may contain anything stored until now.
    await store.backups.save({ ...draft, at: clock().toISOString() });
    await archive.put(name, copy.file, copy.digest, { signal });
    const fetched = workshop.fileOf(`fetched-${name}`);
    await archive.fetch(name, fetched, { signal });
    await workshop.verify(fetched, copy, { signal });
    await store.backups.save({
      name,
      at: clock().toISOString(),
      until,
      bytes: copy.bytes,
      digest: copy.digest,
    });
  } catch (error) {
    await dropFailed({ store, clock }, plan, draft);
    throw error;
  } finally {
    await workshop.clean();
  }
}

/** Removes a backup that could not be verified. If it cannot be removed, its note stays, and the next run decides. */
async function dropFailed(
  { store, clock }: Pick<BackupPorts, "store" | "clock">,
  { archive }: BackupPlan,
  draft: BackupNote,
): Promise<void> {
  try {
    await archive.remove(draft.name);
    await store.backups.save({ ...draft, until: clock().toISOString() });
  } catch {
    // The archive or the store cannot be reached now.
  }
}
