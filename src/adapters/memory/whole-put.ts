import type { BackupNote } from "../../domain/backup.ts";
import type { JobRun } from "../../domain/job.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { DumpPart, DumpParts, DumpRow } from "../../ports/whole.ts";
import type { MemoryAnswerCache } from "./kept-answers.ts";
import { createMemoryUser, type MemoryUser } from "./user.ts";

/** All that a record in memory holds. */
export interface InMemoryStoreData {
  readonly users: Map<string, MemoryUser>;
  readonly erasures: { readonly user: MemoryUser; readonly index: number }[];
  readonly answers: MemoryAnswerCache;
  readonly notes: Map<string, JobRun>;
  readonly backups: Map<string, BackupNote>;
  /** Empties it, and gives it another identity. */
  clear(identity: string): void;
}

type InMemoryUserPart = Exclude<DumpPart, "jobs" | "backups" | "calls" | "turns" | "answers">;
type InMemoryRowWriters = {
  readonly [Part in InMemoryUserPart]: (
    user: MemoryUser,
    row: DumpRow<Part>,
    room: InMemoryStoreData,
  ) => void;
};

/** What is there already is left alone. */
const ROW_WRITERS: InMemoryRowWriters = {
  users: (user, { revision }) => {
    user.revision = revision;
  },
  messages: ({ messages }, { revision, message }) =>
    addIfAbsent(messages, message.id, { value: message, revision }),
  versions: ({ versions }, { memory }) => {
    const isThere = versions.some(({ id, version }) => id === memory.id && version === memory.version);
    if (!isThere) versions.push(memory);
  },
  memories: ({ heads, versions }, { id, version, revision }) => {
    const value = versions.find((one) => one.id === id && one.version === version);
    if (!value) throw new MemoryError("conflict", "a memory's newest version is not there.");
    addIfAbsent(heads, id, { value, revision });
  },
  units: ({ units }, { revision, unit }) => addIfAbsent(units, unit.id, { value: unit, revision }),
  gone: ({ gone }, { type, id, revision }) =>
    addIfAbsent(type === "unit" ? gone.units : gone.memories, id, revision),
  tombstones: ({ tombstones }, { tombstone }) => addIfAbsent(tombstones, tombstone.hash, tombstone),
  links: ({ links }, { link }) => addIfAbsent(links, JSON.stringify([link.from, link.type, link.to]), link),
  log: ({ log }, { entry }) => {
    if (!log.some(({ revision }) => revision === entry.revision)) log.push(entry);
  },
  receipts: ({ receipts }, { revision, receipt }) =>
    addIfAbsent(receipts, receipt.key, { ...receipt, revision }),
  erasures: (user, { receipt, trace }, { erasures }) => {
    if (user.erasures.some(({ id }) => id === receipt.id)) return;
    erasures.push({ user, index: user.erasures.push(receipt) - 1 });
    if (trace) user.traces.set(receipt.id, trace);
  },
  recalls: ({ recalls }, { receipt }) => addIfAbsent(recalls, receipt.id, receipt),
  visits: ({ visits }, { job, visit }) => addIfAbsent(visits, job, visit),
};

export function insertDumpRow(room: InMemoryStoreData, part: DumpPart, row: DumpParts[DumpPart]): void {
  if ("answer" in row) room.answers.put(row, row.answer, row.erasures);
  else if ("note" in row) insertNote(room, part, row.note);
  else if (part in ROW_WRITERS && "project" in row) insertUserRow(room, part as InMemoryUserPart, row);
  else throw new MemoryError("unsupported", `this record does not keep ${part}.`);
}

function insertUserRow(
  room: InMemoryStoreData,
  part: InMemoryUserPart,
  row: DumpRow<InMemoryUserPart>,
): void {
  const key = toScopeKey(row);
  const user = room.users.get(key) ?? createMemoryUser(row);
  room.users.set(key, user);
  const write = ROW_WRITERS[part] as (
    user: MemoryUser,
    row: DumpRow<InMemoryUserPart>,
    room: InMemoryStoreData,
  ) => void;
  write(user, row, room);
}

function insertNote({ notes, backups }: InMemoryStoreData, part: DumpPart, note: JobRun | BackupNote): void {
  if (part === "jobs") addIfAbsent(notes, note.name, note as JobRun);
  else addIfAbsent(backups, note.name, note as BackupNote);
}

function addIfAbsent<Value>(held: Map<string, Value>, key: string, value: Value): void {
  if (!held.has(key)) held.set(key, value);
}
