import type { DumpPart, DumpRow } from "../../ports/whole.ts";
import type { MemoryUser } from "./user.ts";
import type { InMemoryStoreData } from "./whole-put.ts";

type InMemoryDumpRows = { readonly [Part in DumpPart]: () => readonly DumpRow<Part>[] };

/** The rows of each part, in the order in which the record gives them elsewhere. */
export function createDumpRows(room: InMemoryStoreData): InMemoryDumpRows {
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
