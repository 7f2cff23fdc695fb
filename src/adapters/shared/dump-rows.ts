import type { StoredAttachment } from "../../domain/attachment.ts";
import type { MemoryLink, SearchUnit, Tombstone } from "../../domain/change-set.ts";
import type { ModelCall } from "../../domain/model-usage.ts";
import type { JobProgress } from "../../domain/operations/job.ts";
import type { StoredAnswer } from "../../domain/operations/stored-answer.ts";
import type { DumpPart, DumpRow } from "../../ports/stores/store-dump.ts";
import { parseBody } from "./stored-rows.ts";

type DumpPageKeys = { readonly [Part in DumpPart]: { readonly [column: string]: "" | -1 } };

/**
 * The columns by which each part is paged. They have an index, so that the cost of a page depends only on its rows. Each column
 * has a value that sorts before all its values. `user` is the column with the user's number, and `number` that of `users`.
 */
export function buildDumpPageKeys(user: string, number: string): DumpPageKeys {
  return {
    users: { [number]: -1 },
    messages: { [user]: -1, id: "" },
    attachments: { [user]: -1, digest: "" },
    versions: { [user]: -1, number: -1 },
    memories: { [user]: -1, number: -1 },
    units: { [user]: -1, id: "" },
    gone: { [user]: -1, type: "", id: "" },
    tombstones: { [user]: -1, hash: "" },
    links: { [user]: -1, source: "", type: "", target: "" },
    log: { [user]: -1, revision: -1 },
    receipts: { [user]: -1, key: "" },
    erasures: { number: -1 },
    recalls: { [user]: -1, number: -1 },
    uses: { [user]: -1, id: "" },
    shares: { project: "", id: "" },
    embedders: { project: "", name: "" },
    answers: { project: "", name: "", key: "" },
    visits: { [user]: -1, job: "" },
    jobs: { name: "" },
    backups: { number: -1 },
    calls: { number: -1 },
    turns: { project: "", [user]: "", day: "" },
  };
}

interface StoredRow {
  readonly [column: string]: unknown;
}

/** How a database parses what it does not store as JSON or as a number. */
interface DumpRowDecoders<SqlRow extends StoredRow> {
  /** The id in a row of the part. */
  id(row: SqlRow, part: "memories" | "gone" | "uses"): string;
  /** A text of a column. */
  text(value: SqlRow[string]): string;
  unit(row: SqlRow): SearchUnit;
  attachment(row: SqlRow): StoredAttachment;
  tombstone(row: SqlRow): Tombstone;
  link(row: SqlRow): MemoryLink;
  answer(row: SqlRow): { readonly answer: StoredAnswer; readonly erasures: readonly string[] };
  progress(row: SqlRow): JobProgress;
  call(row: SqlRow): ModelCall;
  /** The name of a user in a row of `turns`. */
  turnsUser(row: SqlRow): string;
}

type DumpRowReaders<SqlRow> = {
  readonly [Part in DumpPart]: (row: SqlRow) => Omit<DumpRow<Part>, "project" | "user">;
};

/** Parses the rows of each part, without their owner. */
export function createDumpRowReaders<SqlRow extends StoredRow>(
  decode: DumpRowDecoders<SqlRow>,
): DumpRowReaders<SqlRow> {
  const revisionOf = (row: SqlRow): number => Number(row.revision);
  return {
    users: (row) => ({ revision: revisionOf(row), turns: Number(row.turns) }),
    messages: (row) => ({ revision: revisionOf(row), message: parseBody(row) }),
    attachments: (row) => ({ attachment: decode.attachment(row) }),
    versions: (row) => ({ memory: parseBody(row) }),
    memories: (row) => ({
      id: decode.id(row, "memories"),
      version: Number(row.version),
      revision: revisionOf(row),
    }),
    units: (row) => ({ revision: revisionOf(row), unit: decode.unit(row) }),
    gone: (row) => ({
      type: row.type === "unit" ? "unit" : "memory",
      id: decode.id(row, "gone"),
      revision: revisionOf(row),
    }),
    tombstones: (row) => ({ tombstone: decode.tombstone(row) }),
    links: (row) => ({ link: decode.link(row) }),
    log: (row) => ({ entry: parseBody(row) }),
    receipts: (row) => ({ revision: revisionOf(row), receipt: parseBody(row) }),
    erasures: (row) => ({
      receipt: parseBody(row),
      ...(row.trace === null ? {} : { trace: parseBody({ body: row.trace }) }),
    }),
    recalls: (row) => ({ receipt: parseBody(row) }),
    uses: (row) => ({
      use: { id: decode.id(row, "uses"), count: Number(row.count), lastAt: String(row.last_at) },
    }),
    shares: (row) => ({ share: parseBody(row) }),
    embedders: (row) => ({ choice: parseBody(row) }),
    answers: decode.answer,
    visits: (row) => ({
      job: decode.text(row.job as SqlRow[string]) as DumpRow<"visits">["job"],
      visit: decode.progress({ ...row, seen: row.revision ?? null }),
    }),
    jobs: (row) => ({ note: parseBody(row) }),
    backups: (row) => ({ note: parseBody(row) }),
    calls: (row) => ({ call: decode.call(row) }),
    turns: (row) => ({
      stored: {
        project: decode.text(row.project as SqlRow[string]),
        user: decode.turnsUser(row),
        day: String(row.day),
        turns: Number(row.turns),
      },
    }),
  };
}
