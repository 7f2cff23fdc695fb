import type { BackupNote } from "../../domain/operations/backup.ts";
import type { JobRun } from "../../domain/operations/job.ts";
import { toScopeKey } from "../../domain/scope.ts";
import type { Share } from "../../domain/sharing.ts";
import { MemoryError } from "../../errors.ts";
import {
  type CopyProgress,
  DUMP_PAGE_BYTES,
  DUMP_PARTS,
  type DumpPart,
  type DumpParts,
  type DumpRow,
  type StoreDump,
} from "../../ports/stores/store-dump.ts";
import type { MemoryAnswerCache } from "./answer-cache.ts";
import { createMemoryUser, type MemoryEmbedderChoices, type MemoryUser, toChoiceKey } from "./user-data.ts";

/** The dump of a store in memory. The cursor is the number of rows given so far. */
export function createMemoryStoreDump(store: InMemoryStoreData, check: () => void): StoreDump {
  let progress: CopyProgress | undefined;
  const checkCopying = (): void => {
    check();
    if (!progress) throw new MemoryError("conflict", "no copy into this database is in progress.");
  };
  const listRows = <Part extends DumpPart>(part: Part): readonly DumpRow<Part>[] => {
    check();
    return createDumpRows(store)[part]();
  };
  return {
    parts: DUMP_PARTS.filter((part) => part !== "calls" && part !== "turns"),

    async counts() {
      const counts = DUMP_PARTS.map((part) => [part, listRows(part).length]);
      return Object.fromEntries(counts) as { [Part in DumpPart]: number };
    },

    async page(part, { after = "0", limit }) {
      const rows = listRows(part);
      const most = Math.min(Number(after) + limit, rows.length);
      let end = Number(after);
      for (let bytes = 0; end < most && bytes < DUMP_PAGE_BYTES; end += 1) {
        const row: DumpRow<DumpPart> | undefined = rows[end];
        bytes += row && "attachment" in row ? row.attachment.bytes.length : JSON.stringify(row).length;
      }
      return structuredClone({
        rows: rows.slice(Number(after), end),
        ...(end < rows.length ? { cursor: String(end) } : {}),
      });
    },

    async copyProgress() {
      check();
      return structuredClone(progress);
    },

    async beginCopy(begun) {
      check();
      if (!progress && DUMP_PARTS.some((part) => listRows(part).length > 0)) {
        throw new MemoryError("conflict", "this database is not empty. Use an empty one.");
      }
      store.clear(begun.from);
      progress = structuredClone(begun);
    },

    async putRows(part, rows) {
      checkCopying();
      for (const row of structuredClone(rows)) insertDumpRow(store, part, row as DumpParts[DumpPart]);
    },

    async saveCopyProgress(note) {
      checkCopying();
      progress = structuredClone(note);
    },

    async finishCopy() {
      checkCopying();
      progress = undefined;
    },
  };
}

/** All data of a store in memory. */
interface InMemoryStoreData {
  readonly users: Map<string, MemoryUser>;
  readonly erasures: { readonly user: MemoryUser; readonly index: number }[];
  readonly answers: MemoryAnswerCache;
  readonly notes: Map<string, JobRun>;
  readonly backups: Map<string, BackupNote>;
  /** By project and id. */
  readonly shares: Map<string, Map<string, Share>>;
  readonly choices: MemoryEmbedderChoices;
  /** Removes everything and sets another identity. */
  clear(identity: string): void;
}

type InMemoryUserPart = Exclude<
  DumpPart,
  "jobs" | "backups" | "calls" | "turns" | "answers" | "shares" | "embedders"
>;
type InMemoryRowWriters = {
  readonly [Part in InMemoryUserPart]: (
    user: MemoryUser,
    row: DumpRow<Part>,
    store: InMemoryStoreData,
  ) => void;
};

/** Existing rows are kept. */
const ROW_WRITERS: InMemoryRowWriters = {
  users: (user, { revision }) => {
    user.revision = revision;
  },
  messages: ({ messages }, { revision, message }) =>
    addIfAbsent(messages, message.id, { value: message, revision }),
  attachments: ({ attachments }, { attachment }) => addIfAbsent(attachments, attachment.digest, attachment),
  versions: ({ versions }, { memory }) => {
    const isThere = versions.some(({ id, version }) => id === memory.id && version === memory.version);
    if (!isThere) versions.push(memory);
  },
  memories: ({ heads, versions }, { id, version, revision }) => {
    const value = versions.find((one) => one.id === id && one.version === version);
    if (!value) throw new MemoryError("conflict", "the newest version of a memory is missing.");
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
  uses: ({ uses }, { use }) => addIfAbsent(uses, use.id, use),
  visits: ({ visits }, { job, visit }) => addIfAbsent(visits, job, visit),
};

function insertDumpRow(store: InMemoryStoreData, part: DumpPart, row: DumpParts[DumpPart]): void {
  if ("share" in row) insertShare(store, row.share);
  else if ("choice" in row) addIfAbsent(store.choices, toChoiceKey(row.choice), row.choice);
  else if ("answer" in row) store.answers.put(row, row.answer, row.erasures);
  else if ("note" in row) insertNote(store, part, row.note);
  else if (part in ROW_WRITERS && "project" in row) insertUserRow(store, part as InMemoryUserPart, row);
  else throw new MemoryError("unsupported", `this database does not store ${part}.`);
}

function insertShare({ shares }: InMemoryStoreData, share: Share): void {
  const ofProject = shares.get(share.project) ?? new Map<string, Share>();
  shares.set(share.project, ofProject);
  addIfAbsent(ofProject, share.id, share);
}

function insertUserRow(
  store: InMemoryStoreData,
  part: InMemoryUserPart,
  row: DumpRow<InMemoryUserPart>,
): void {
  const key = toScopeKey(row);
  const user = store.users.get(key) ?? createMemoryUser(row);
  store.users.set(key, user);
  const write = ROW_WRITERS[part] as (
    user: MemoryUser,
    row: DumpRow<InMemoryUserPart>,
    store: InMemoryStoreData,
  ) => void;
  write(user, row, store);
}

function insertNote({ notes, backups }: InMemoryStoreData, part: DumpPart, note: JobRun | BackupNote): void {
  if (part === "jobs") addIfAbsent(notes, note.name, note as JobRun);
  else addIfAbsent(backups, note.name, note as BackupNote);
}

function addIfAbsent<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}

type InMemoryDumpRows = { readonly [Part in DumpPart]: () => readonly DumpRow<Part>[] };

/** The rows of each part, in the order in which the store gives them elsewhere. */
function createDumpRows(store: InMemoryStoreData): InMemoryDumpRows {
  const ofUsers =
    <Row extends object>(rows: (user: MemoryUser) => Iterable<Row>) =>
    (): (Row & { readonly project: string; readonly user: string })[] =>
      [...store.users.values()].flatMap((user) => [...rows(user)].map((row) => ({ ...user.scope, ...row })));
  return {
    users: ofUsers(({ revision, messages }) => [{ revision, turns: messages.size }]),
    messages: ofUsers(({ messages }) =>
      [...messages.values()].map(({ value, revision }) => ({ revision, message: value })),
    ),
    attachments: ofUsers(({ attachments }) =>
      [...attachments.values()].map((attachment) => ({ attachment })),
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
      store.erasures.flatMap(({ user, index }) => {
        const receipt = user.erasures[index];
        const trace = receipt && user.traces.get(receipt.id);
        return receipt ? [{ ...user.scope, receipt, ...(trace ? { trace } : {}) }] : [];
      }),
    recalls: ofUsers(({ recalls }) => [...recalls.values()].map((receipt) => ({ receipt }))),
    uses: ofUsers(({ uses }) => [...uses.values()].map((use) => ({ use }))),
    shares: () =>
      [...store.shares.values()].flatMap((kept) => [...kept.values()].map((share) => ({ share }))),
    embedders: () => [...store.choices.values()].map((choice) => ({ choice })),
    answers: () =>
      store.answers
        .rows()
        .map(({ scope, kept, erasures }) => ({ ...toOwner(scope), answer: kept, erasures: [...erasures] })),
    visits: ofUsers(({ visits }) =>
      [...visits].map(([job, visit]) => ({ job: job as DumpRow<"visits">["job"], visit })),
    ),
    jobs: () => [...store.notes.values()].map((note) => ({ note })),
    backups: () => [...store.backups.values()].map((note) => ({ note })),
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
