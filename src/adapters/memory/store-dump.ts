import type { BackupNote } from "../../domain/backup.ts";
import type { JobRun } from "../../domain/job.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import {
  type CopyProgress,
  DUMP_PAGE_BYTES,
  DUMP_PARTS,
  type DumpPart,
  type DumpParts,
  type DumpRow,
  type StoreDump,
} from "../../ports/store-dump.ts";
import type { MemoryAnswerCache } from "./answer-cache.ts";
import { createMemoryUser, type MemoryUser } from "./user-data.ts";

/** The record as a whole: rows are made of what is held, and the cursor is how many of them were given. */
export function createMemoryStoreDump(room: InMemoryStoreData, check: () => void): StoreDump {
  let filling: CopyProgress | undefined;
  const isFilled = (): void => {
    check();
    if (!filling) throw new MemoryError("conflict", "this record is not being filled from another.");
  };
  const all = <Part extends DumpPart>(part: Part): readonly DumpRow<Part>[] => {
    check();
    return createDumpRows(room)[part]();
  };
  return {
    parts: DUMP_PARTS.filter((part) => part !== "calls" && part !== "turns"),

    async counts() {
      const counts = DUMP_PARTS.map((part) => [part, all(part).length]);
      return Object.fromEntries(counts) as { [Part in DumpPart]: number };
    },

    async page(part, { after = "0", limit }) {
      const rows = all(part);
      const most = Math.min(Number(after) + limit, rows.length);
      let end = Number(after);
      for (let bytes = 0; end < most && bytes < DUMP_PAGE_BYTES; end += 1)
        bytes += JSON.stringify(rows[end]).length;
      return structuredClone({
        rows: rows.slice(Number(after), end),
        ...(end < rows.length ? { cursor: String(end) } : {}),
      });
    },

    async copyProgress() {
      check();
      return structuredClone(filling);
    },

    async beginCopy(begun) {
      check();
      if (!filling && DUMP_PARTS.some((part) => all(part).length > 0)) {
        throw new MemoryError("conflict", "this record holds something already. Take an empty one.");
      }
      room.clear(begun.from);
      filling = structuredClone(begun);
    },

    async putRows(part, rows) {
      isFilled();
      for (const row of structuredClone(rows)) insertDumpRow(room, part, row as DumpParts[DumpPart]);
    },

    async saveCopyProgress(note) {
      isFilled();
      filling = structuredClone(note);
    },

    async finishCopy() {
      isFilled();
      filling = undefined;
    },
  };
}

/** All that a record in memory holds. */
interface InMemoryStoreData {
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

function insertDumpRow(room: InMemoryStoreData, part: DumpPart, row: DumpParts[DumpPart]): void {
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

type InMemoryDumpRows = { readonly [Part in DumpPart]: () => readonly DumpRow<Part>[] };

/** The rows of each part, in the order in which the record gives them elsewhere. */
function createDumpRows(room: InMemoryStoreData): InMemoryDumpRows {
  const ofUsers =
    <Row extends object>(rows: (user: MemoryUser) => Iterable<Row>) =>
    (): (Row & { readonly project: string; readonly user: string })[] =>
      [...room.users.values()].flatMap((user) => [...rows(user)].map((row) => ({ ...user.scope, ...row })));
  return {
    users: ofUsers(({ revision, messages }) => [{ revision, turns: messages.size }]),
    messages: ofUsers(({ messages }) =>
      [...messages.values()].map(({ value, revision }) => ({ revision, message: value })),
    ),
    versions: ofUsers(({ versions }) => versions.map((memory) => ({ memory }))),
    memories: ofUsers(({ heads }) =>
      [...heads.values()].map(({ value: { id, version }, revision }) => ({ id, version, revision })),
    ),
    units: ofUsers(({ units }) =>
      [...units.values()].map(({ value, revision }) => ({ revision, unit: value })),
    ),
    gone: ofUsers(({ gone }) => [
      ...[...gone.units].map(([id, revision]) => ({ type: "unit" as const, id, revision })),
      ...[...gone.memories].map(([id, revision]) => ({ type: "memory" as const, id, revision })),
    ]),
    tombstones: ofUsers(({ tombstones }) => [...tombstones.values()].map((tombstone) => ({ tombstone }))),
    links: ofUsers(({ links }) => [...links.values()].map((link) => ({ link }))),
    log: ofUsers(({ log }) => log.map((entry) => ({ entry }))),
    receipts: ofUsers(({ receipts }) =>
      [...receipts.values()].map(({ revision, ...receipt }) => ({ revision, receipt })),
    ),
    erasures: () =>
      room.erasures.flatMap(({ user, index }) => {
        const receipt = user.erasures[index];
        const trace = receipt && user.traces.get(receipt.id);
        return receipt ? [{ ...user.scope, receipt, ...(trace ? { trace } : {}) }] : [];
      }),
    recalls: ofUsers(({ recalls }) => [...recalls.values()].map((receipt) => ({ receipt }))),
    answers: () =>
      room.answers
        .rows()
        .map(({ scope, kept, erasures }) => ({ ...toOwner(scope), answer: kept, erasures: [...erasures] })),
    visits: ofUsers(({ visits }) =>
      [...visits].map(([job, visit]) => ({ job: job as DumpRow<"visits">["job"], visit })),
    ),
    jobs: () => [...room.notes.values()].map((note) => ({ note })),
    backups: () => [...room.backups.values()].map((note) => ({ note })),
    calls: () => [],
    turns: () => [],
  };
}

function toOwner({ project, user }: { readonly project: string; readonly user: string }): {
  project: string;
  user: string;
} {
  return { project, user };
}
