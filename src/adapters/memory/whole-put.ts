import type { BackupNote } from "../../domain/backup.ts";
import type { JobNote } from "../../domain/job.ts";
import { scopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { WholePart, WholeParts, WholeRow } from "../../ports/whole.ts";
import type { HeldAnswers } from "./kept-answers.ts";
import { newUser, type User } from "./user.ts";

/** All that a record in memory holds. */
export interface Room {
  readonly users: Map<string, User>;
  readonly erasures: { readonly user: User; readonly index: number }[];
  readonly answers: HeldAnswers;
  readonly notes: Map<string, JobNote>;
  readonly backups: Map<string, BackupNote>;
  /** Empties it, and gives it another identity. */
  clear(identity: string): void;
}

type OfUser = Exclude<WholePart, "jobs" | "backups" | "calls" | "turns" | "answers">;
type Writers = { readonly [Part in OfUser]: (user: User, row: WholeRow<Part>, room: Room) => void };

/** What is there already is left alone. */
const WRITERS: Writers = {
  users: (user, { revision }) => {
    user.revision = revision;
  },
  messages: ({ messages }, { revision, message }) => add(messages, message.id, { value: message, revision }),
  versions: ({ versions }, { memory }) => {
    const isThere = versions.some(({ id, version }) => id === memory.id && version === memory.version);
    if (!isThere) versions.push(memory);
  },
  memories: ({ heads, versions }, { id, version, revision }) => {
    const value = versions.find((one) => one.id === id && one.version === version);
    if (!value) throw new MemoryError("conflict", "a memory's newest version is not there.");
    add(heads, id, { value, revision });
  },
  units: ({ units }, { revision, unit }) => add(units, unit.id, { value: unit, revision }),
  gone: ({ gone }, { type, id, revision }) => add(type === "unit" ? gone.units : gone.memories, id, revision),
  tombstones: ({ tombstones }, { tombstone }) => add(tombstones, tombstone.hash, tombstone),
  links: ({ links }, { link }) => add(links, JSON.stringify([link.from, link.type, link.to]), link),
  log: ({ log }, { entry }) => {
    if (!log.some(({ revision }) => revision === entry.revision)) log.push(entry);
  },
  receipts: ({ receipts }, { revision, receipt }) => add(receipts, receipt.key, { ...receipt, revision }),
  erasures: (user, { receipt, trace }, { erasures }) => {
    if (user.erasures.some(({ id }) => id === receipt.id)) return;
    erasures.push({ user, index: user.erasures.push(receipt) - 1 });
    if (trace) user.traces.set(receipt.id, trace);
  },
  recalls: ({ recalls }, { receipt }) => add(recalls, receipt.id, receipt),
  visits: ({ visits }, { job, visit }) => add(visits, job, visit),
};

export function putRow(room: Room, part: WholePart, row: WholeParts[WholePart]): void {
  if ("answer" in row) room.answers.put(row, row.answer, row.erasures);
  else if ("note" in row) putNote(room, part, row.note);
  else if (part in WRITERS && "project" in row) putOfUser(room, part as OfUser, row);
  else throw new MemoryError("unsupported", `this record does not keep ${part}.`);
}

function putOfUser(room: Room, part: OfUser, row: WholeRow<OfUser>): void {
  const key = scopeKey(row);
  const user = room.users.get(key) ?? newUser(row);
  room.users.set(key, user);
  const write = WRITERS[part] as (user: User, row: WholeRow<OfUser>, room: Room) => void;
  write(user, row, room);
}

function putNote({ notes, backups }: Room, part: WholePart, note: JobNote | BackupNote): void {
  if (part === "jobs") add(notes, note.name, note as JobNote);
  else add(backups, note.name, note as BackupNote);
}

function add<Value>(held: Map<string, Value>, key: string, value: Value): void {
  if (!held.has(key)) held.set(key, value);
}
