import { randomUUID } from "node:crypto";
import type { Memory } from "../../domain/memory.ts";
import { MemoryError } from "../../errors.ts";
import {
  type CopyProgress,
  DUMP_PAGE_BYTES,
  DUMP_PARTS,
  type DumpPage,
  type DumpPart,
  type DumpRow,
  type StoreDump,
} from "../../ports/stores/store-dump.ts";
import type { Secret } from "../../ports/system.ts";
import { buildDumpPageKeys, createDumpRowReaders } from "../shared/dump-rows.ts";
import { PART_TABLES, parseBody } from "../shared/stored-rows.ts";
import { KEEP_EXISTING, toLinkRow, toMessageRow, toTombstoneRow, toUnitRow, toVersionRow } from "./commit.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "./database.ts";
import { insertMariadbRows } from "./database.ts";
import { parseMariadbScope, toKeyList, toLongNames, toMariadbKey, toMariadbScopeKeys } from "./keys.ts";
import { signMariadbMark } from "./open.ts";
import { parseMariadbId, parseMariadbLink, parseMariadbTombstone, parseMariadbUnit } from "./read.ts";
import { parseMariadbAnswer } from "./tables/answer-cache.ts";
import { parseMariadbAttachment, toAttachmentRow } from "./tables/attachments.ts";
import { insertMariadbCalls, parseMariadbCall, toTurnsRow } from "./tables/calls.ts";
import { toChoiceRow } from "./tables/embedder-choices.ts";
import { parseMariadbProgress, toProgressRow } from "./tables/job-store.ts";
import { toNoteRow, toUseRow } from "./tables/receipts.ts";
import { KEEP_PARTY, toPartyRows } from "./tables/sharing.ts";

/** The dump of all tables. With `secret`, a store that takes over an identity is marked with it. */
export function createMariadbDump(database: MariadbDatabase, secret?: Secret): StoreDump {
  const whileCopying = (work: (transaction: MariadbTransaction) => Promise<void>): Promise<void> =>
    database.write(async (transaction) => {
      // Locked, so that concurrent copies run one after the other.
      const rows = await transaction.query("SELECT 1 AS found FROM filling FOR UPDATE");
      if (rows.length === 0)
        throw new MemoryError("conflict", "MariaDB: no copy into this database is in progress.");
      await work(transaction);
    });
  return {
    parts: DUMP_PARTS,
    counts: () =>
      database.snapshot(async (transaction) => {
        const entries: [DumpPart, number][] = [];
        for (const part of DUMP_PARTS) {
          const [row] = await transaction.query(`SELECT COUNT(*) AS found FROM ${PART_TABLES[part]}`);
          entries.push([part, Number(row?.found)]);
        }
        return Object.fromEntries(entries) as { [Part in DumpPart]: number };
      }),
    page: (part, options) => database.snapshot((transaction) => selectPage(transaction, part, options)),
    async copyProgress() {
      const [row] = await database.query("SELECT body FROM filling");
      return row && parseBody<CopyProgress>(row);
    },
    async beginCopy(begun) {
      await database.write((transaction) => beginCopy(transaction, begun, secret));
      await deleteAllRows(database);
    },
    putRows: (part, rows) => whileCopying((transaction) => putRows(transaction, part, rows)),
    saveCopyProgress: (note) =>
      whileCopying(async (transaction) => {
        await transaction.run("UPDATE filling SET body = ?", JSON.stringify(note));
      }),
    async finishCopy() {
      await database.write<void>(
        async (transaction) => {
          const removed = await transaction.run("DELETE FROM filling");
          if (removed === 0)
            throw new MemoryError("conflict", "MariaDB: no copy into this database is in progress.");
        },
        // If the answer was lost: the copy is finished if no progress is recorded.
        async (transaction) =>
          (await transaction.query("SELECT 1 AS found FROM filling FOR UPDATE")).length === 0
            ? { was: undefined }
            : undefined,
      );
      await analyzeTables(database);
    },
  };
}

async function beginCopy(
  transaction: MariadbTransaction,
  begun: CopyProgress,
  secret: Secret | undefined,
): Promise<void> {
  // This row exists always, so it is locked even while no copy is in progress.
  await transaction.query("SELECT id FROM identity FOR UPDATE");
  const rows = await transaction.query("SELECT 1 AS found FROM filling");
  if (rows.length === 0 && (await hasRows(transaction)))
    throw new MemoryError("conflict", "MariaDB: this database is not empty. Use an empty one.");
  const row = { id: 1, body: JSON.stringify(begun) };
  await insertMariadbRows(transaction, "filling", [row], "ON DUPLICATE KEY UPDATE body = VALUES(body)");
  const mark = secret ? signMariadbMark(secret, begun.from) : null;
  await transaction.run("UPDATE identity SET id = ?, secret_mark = ?", begun.from, mark);
}

async function hasRows(transaction: MariadbTransaction): Promise<boolean> {
  const tables = DUMP_PARTS.map((part) => `EXISTS (SELECT 1 FROM ${PART_TABLES[part]})`);
  const [row] = await transaction.query(`SELECT ${tables.join(" OR ")} AS found`);
  return Number(row?.found) === 1;
}

/** Rows per statement, which has a time limit. */
const ROWS_AT_ONCE = 5000;
/** Rows go before the rows that they refer to. */
const TABLES_TO_EMPTY: readonly string[] = [
  "links",
  "blocks",
  "webhook_cursors",
  ...[...DUMP_PARTS].reverse().map((part) => PART_TABLES[part]),
];

async function deleteAllRows(database: MariadbDatabase): Promise<void> {
  for (const table of TABLES_TO_EMPTY) {
    let removed: number;
    do {
      removed = await database.write((transaction) =>
        transaction.run(`DELETE FROM ${table} LIMIT ${ROWS_AT_ONCE}`),
      );
    } while (removed === ROWS_AT_ONCE);
  }
}

const ANALYZE_MS = 600_000;

/**
 * Updates the server's statistics, without which it would plan as if the tables were nearly empty. Counts only: statistics of
 * MariaDB's own tables would contain the least and the greatest value of each column, where no erasure reaches.
 */
async function analyzeTables(database: MariadbDatabase): Promise<void> {
  const tables = Object.values(PART_TABLES).join(", ");
  // Optional: without statistics, everything is slower but correct.
  await database
    .runOutsideTransaction(["SET SESSION use_stat_tables = 'never'", `ANALYZE TABLE ${tables}`], {
      after: "SET SESSION use_stat_tables = DEFAULT",
      timeoutMs: ANALYZE_MS,
    })
    .catch(() => undefined);
}

const PAGE_KEYS = buildDumpPageKeys("person", "number");

const READERS = createDumpRowReaders<MariadbRow>({
  // Only the body of the version contains an id that is too long for its column.
  id: (row, part) => (part === "memories" ? parseBody<{ id: string }>(row).id : parseMariadbId(row)),
  text: String,
  unit: parseMariadbUnit,
  attachment: parseMariadbAttachment,
  tombstone: parseMariadbTombstone,
  link: parseMariadbLink,
  answer: (row) => ({
    answer: parseMariadbAnswer(row),
    erasures: parseBody<string[]>({ body: row.erasures }),
  }),
  progress: parseMariadbProgress,
  call: parseMariadbCall,
  turnsUser: (row) => String(row.person),
});

/** The column with the large value of a row. */
const LARGE_COLUMNS: { readonly [Part in DumpPart]?: string } = {
  messages: "body",
  attachments: "bytes",
  versions: "body",
  log: "body",
  receipts: "body",
  erasures: "body",
  recalls: "body",
  shares: "body",
  answers: "body",
};

/** A page of a part, and the key of its last row as the cursor. */
async function selectPage<Part extends DumpPart>(
  transaction: MariadbTransaction,
  part: Part,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<DumpPage<Part>> {
  const keys = Object.keys(PAGE_KEYS[part]);
  const last = after === undefined ? Object.values(PAGE_KEYS[part]) : (JSON.parse(after) as unknown[]);
  const place = buildPlaceAfter(keys, last);
  const from = `FROM ${PART_TABLES[part]} t WHERE ${place.where} ORDER BY ${keys.map((key) => `t.\`${key}\``).join(", ")} LIMIT ?`;
  const count = await countPageRows(transaction, part, from, [...place.values, limit]);
  const extra =
    part === "memories"
      ? ", (SELECT body FROM versions v WHERE v.person = t.person AND v.id = t.id AND v.version = t.version) AS body"
      : "";
  const rows = await transaction.query(`SELECT t.*${extra} ${from}`, ...place.values, count);
  const scopes = await selectScopes(transaction, part, rows);
  const read = READERS[part];
  const end = rows.at(-1);
  const isMore = end !== undefined && (rows.length === limit || count < limit);
  return {
    rows: rows.map((row) => ({ ...toOwner(part, row, scopes), ...read(row) }) as unknown as DumpRow<Part>),
    ...(isMore ? { cursor: JSON.stringify(keys.map((key) => end[key])) } : {}),
  };
}

/** The number of rows up to the size limit of a page: at least one, and `limit` if it is not reached. */
async function countPageRows(
  transaction: MariadbTransaction,
  part: DumpPart,
  from: string,
  values: readonly unknown[],
): Promise<number> {
  const limit = Number(values.at(-1));
  const column = LARGE_COLUMNS[part];
  if (column === undefined) return limit;
  const rows = await transaction.query(
    `SELECT COALESCE(LENGTH(t.\`${column}\`), 0) AS bytes ${from}`,
    ...values,
  );
  let bytes = 0;
  const fitting = rows.findIndex((row) => {
    const isFull = bytes >= DUMP_PAGE_BYTES;
    bytes += Number(row.bytes);
    return isFull;
  });
  return fitting === -1 ? limit : fitting;
}

/** The condition for rows after a key, so that the server finds the first one by the index. */
function buildPlaceAfter(
  keys: readonly string[],
  last: readonly unknown[],
): { readonly where: string; readonly values: readonly unknown[] } {
  const [key, ...rest] = keys;
  const [value, ...others] = last;
  if (rest.length === 0) return { where: `t.\`${key}\` > ?`, values: [value] };
  const inner = buildPlaceAfter(rest, others);
  return {
    where: `t.\`${key}\` >= ? AND (t.\`${key}\` > ? OR (${inner.where}))`,
    values: [value, value, ...inner.values],
  };
}

type OwnerByNumber = ReadonlyMap<unknown, { readonly project: string; readonly user: string }>;

async function selectScopes(
  transaction: MariadbTransaction,
  part: DumpPart,
  rows: readonly MariadbRow[],
): Promise<OwnerByNumber> {
  const people = [...new Set(rows.flatMap(({ person }) => (typeof person === "number" ? [person] : [])))];
  if (part === "calls" || part === "turns" || people.length === 0) return new Map();
  const sql = "SELECT number, project, name, long_names FROM users WHERE number IN (?)";
  const found = await transaction.query(sql, people);
  return new Map(found.map((row) => [row.number, parseMariadbScope(row)]));
}

function toOwner(
  part: DumpPart,
  row: MariadbRow,
  scopes: OwnerByNumber,
): { project?: string; user?: string } {
  if (part === "users") return parseMariadbScope(row);
  if (part === "answers") return { project: String(row.project), user: String(row.name) };
  return scopes.get(row.person) ?? {};
}

type OwnedPart = Exclude<
  DumpPart,
  "users" | "shares" | "embedders" | "answers" | "jobs" | "backups" | "calls" | "turns" | "memories"
>;

/** The columns of a row, besides its person. */
const OWNED_ROWS: { readonly [Part in OwnedPart]: (row: DumpRow<Part>) => MariadbRow } = {
  messages: ({ revision, message }) => toMessageRow(message, revision),
  attachments: ({ attachment }) => toAttachmentRow(attachment),
  versions: ({ memory }) => toVersionRow(memory),
  units: ({ revision, unit }) => toUnitRow(unit, revision),
  gone: ({ type, id, revision }) => ({ type, id: toMariadbKey(id), long_names: toLongNames(id), revision }),
  tombstones: ({ tombstone }) => toTombstoneRow(tombstone),
  links: ({ link }) => toLinkRow(link),
  log: ({ entry }) => ({ revision: entry.revision, mark: randomUUID(), body: JSON.stringify(entry) }),
  receipts: ({ revision, receipt }) => ({
    key: toMariadbKey(receipt.key),
    revision,
    body: JSON.stringify(receipt),
  }),
  erasures: ({ receipt, trace }) => ({
    id: toMariadbKey(receipt.id),
    body: JSON.stringify(receipt),
    trace: trace ? JSON.stringify(trace) : null,
  }),
  recalls: ({ receipt }) => ({ id: toMariadbKey(receipt.id), body: JSON.stringify(receipt) }),
  uses: ({ use }) => toUseRow(use),
  visits: ({ job, visit }) => toProgressRow(job, visit),
};

type CommonPart = "users" | "shares" | "embedders" | "answers" | "jobs" | "backups" | "turns";

/** All columns of rows without a person, or with names of their own. */
const COMMON_ROWS: { readonly [Part in CommonPart]: (row: DumpRow<Part>) => MariadbRow } = {
  users: ({ project, user, revision, turns }) => ({
    ...toNameColumns({ project, user }),
    long_names: toLongNames(project, user),
    revision,
    turns,
  }),
  shares: ({ share }) => ({
    project: toMariadbKey(share.project),
    id: toMariadbKey(share.id),
    version: share.version,
    body: JSON.stringify(share),
  }),
  embedders: ({ choice }) => toChoiceRow(choice),
  answers: ({ project, user, answer, erasures }) => ({
    ...toNameColumns({ project, user }),
    key: toMariadbKey(answer.key),
    long_names: toLongNames(answer.key),
    at: answer.at,
    mark: randomUUID(),
    state: answer.state,
    request: answer.request.toWellFormed(),
    body: answer.answer ? JSON.stringify(answer.answer) : null,
    erasures: JSON.stringify(erasures),
  }),
  jobs: ({ note }) => toNoteRow(note),
  backups: ({ note }) => toNoteRow(note),
  turns: ({ stored }) => toTurnsRow(stored),
};

function toNameColumns(scope: { readonly project: string; readonly user: string }): MariadbRow {
  const [project, name] = toMariadbScopeKeys(scope);
  return { project, name };
}

/** Inserts rows. Existing rows are kept. */
async function putRows<Part extends DumpPart>(
  transaction: MariadbTransaction,
  part: Part,
  rows: readonly DumpRow<Part>[],
): Promise<void> {
  const table = PART_TABLES[part];
  if (part === "calls") {
    const calls = (rows as readonly DumpRow<"calls">[]).map(({ call }) => call);
    await insertMariadbCalls(transaction, calls);
  } else if (part in COMMON_ROWS) {
    const toRow = COMMON_ROWS[part as CommonPart] as (row: DumpRow<Part>) => MariadbRow;
    const made = rows.map(toRow);
    const [column] = Object.keys(made[0] ?? {});
    await insertMariadbRows(
      transaction,
      table,
      made,
      `ON DUPLICATE KEY UPDATE \`${column}\` = VALUES(\`${column}\`)`,
    );
    for (const { share } of part === "shares" ? (rows as readonly DumpRow<"shares">[]) : []) {
      const parties = toPartyRows(toMariadbKey(share.project), share);
      await insertMariadbRows(transaction, "share_parties", parties, KEEP_PARTY);
    }
  } else {
    const owned = rows as unknown as readonly DumpRow<"memories">[];
    const toRow =
      part === "memories"
        ? await createHeadRows(transaction, owned)
        : (OWNED_ROWS[part as OwnedPart] as unknown as ToHeadRow);
    const numbers = await selectNumbers(transaction, owned);
    const made = owned.map((row) => {
      const person = numbers.get(JSON.stringify(toMariadbScopeKeys(row)));
      if (person === undefined)
        throw new MemoryError("corrupt", "a copied row belongs to a user that was not copied.");
      return { person, ...toRow(row, person) };
    });
    await insertMariadbRows(transaction, table, made, KEEP_EXISTING);
  }
}

/** The numbers of the users of rows, by their keys as JSON. */
async function selectNumbers(
  transaction: MariadbTransaction,
  rows: readonly { readonly project: string; readonly user: string }[],
): Promise<ReadonlyMap<string, number>> {
  if (rows.length === 0) return new Map();
  const found = await transaction.query(
    "SELECT number, project, name FROM users WHERE project IN (?) AND name IN (?)",
    toKeyList(rows.map(({ project }) => project)),
    toKeyList(rows.map(({ user }) => user)),
  );
  return new Map(found.map(({ number, project, name }) => [JSON.stringify([project, name]), Number(number)]));
}

type ToHeadRow = (row: DumpRow<"memories">, person: number) => MariadbRow;

/** Whether a memory is current is in the body of its newest version. */
async function createHeadRows(
  transaction: MariadbTransaction,
  rows: readonly DumpRow<"memories">[],
): Promise<ToHeadRow> {
  const numbers = [...(await selectNumbers(transaction, rows)).values()];
  const found =
    rows.length === 0
      ? []
      : await transaction.query(
          "SELECT person, id, version, body FROM versions WHERE person IN (?) AND id IN (?)",
          numbers,
          toKeyList(rows.map(({ id }) => id)),
        );
  const current = new Set(
    found
      .filter((row) => parseBody<Memory>(row).status === "current")
      .map(({ person, id, version }) => JSON.stringify([person, id, version])),
  );
  return ({ id, version, revision }, person) => {
    const key = toMariadbKey(id);
    return {
      id: key,
      version,
      revision,
      is_current: current.has(JSON.stringify([person, key, version])) ? 1 : 0,
    };
  };
}
