import type { BackupNote } from "../domain/backup.ts";
import type { LogEntry, MemoryLink, SearchUnit, Tombstone } from "../domain/change-set.ts";
import type { JobName, JobProgress, JobRun } from "../domain/job.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ModelCall } from "../domain/model-usage.ts";
import type { RecallReceipt } from "../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../domain/receipt.ts";
import type { StoredAnswer } from "../domain/stored-answer.ts";
import type { StoredTurns } from "./language/model-calls.ts";

/** Whose a row is. */
interface DumpRowOwner {
  readonly project: string;
  readonly user: string;
}

/** What a whole record consists of, and a row of each part. Blocks kept for a search are a cache, and none of it. */
export interface DumpParts {
  /** In the order in which they were first written to. */
  readonly users: DumpRowOwner & { readonly revision: number; readonly turns: number };
  readonly messages: DumpRowOwner & { readonly revision: number; readonly message: Message };
  /** All versions of memories; of each user in the order in which they were stored. */
  readonly versions: DumpRowOwner & { readonly memory: Memory };
  /** Which version of each memory is the newest; of each user in the order in which they were first stored. */
  readonly memories: DumpRowOwner & {
    readonly id: string;
    readonly version: number;
    readonly revision: number;
  };
  readonly units: DumpRowOwner & { readonly revision: number; readonly unit: SearchUnit };
  readonly gone: DumpRowOwner & {
    readonly type: "unit" | "memory";
    readonly id: string;
    readonly revision: number;
  };
  readonly tombstones: DumpRowOwner & { readonly tombstone: Tombstone };
  readonly links: DumpRowOwner & { readonly link: MemoryLink };
  readonly log: DumpRowOwner & { readonly entry: LogEntry };
  readonly receipts: DumpRowOwner & { readonly revision: number; readonly receipt: KeptReceipt };
  /** In the order in which they were made, whoever's they are. */
  readonly erasures: DumpRowOwner & { readonly receipt: ErasureReceipt; readonly trace?: Trace };
  /** Of each user the oldest first. */
  readonly recalls: DumpRowOwner & { readonly receipt: RecallReceipt };
  /** With the receipts of the erasures that came while one was begun. */
  readonly answers: DumpRowOwner & { readonly answer: StoredAnswer; readonly erasures: readonly string[] };
  readonly visits: DumpRowOwner & { readonly job: JobName; readonly visit: JobProgress };
  readonly jobs: { readonly note: JobRun };
  /** In the order in which they were first noted. */
  readonly backups: { readonly note: BackupNote };
  /** In the order in which they were noted. */
  readonly calls: { readonly call: ModelCall };
  readonly turns: { readonly stored: StoredTurns };
}
export type DumpPart = keyof DumpParts;
export type DumpRow<Part extends DumpPart> = DumpParts[Part];

/** In this order they can be written: what a row leans on comes before it. */
export const DUMP_PARTS: readonly DumpPart[] = [
  "users",
  "messages",
  "versions",
  "memories",
  "units",
  "gone",
  "tombstones",
  "links",
  "log",
  "receipts",
  "erasures",
  "recalls",
  "answers",
  "visits",
  "jobs",
  "backups",
  "calls",
  "turns",
];

/** The parts whose rows have an order of their own; the rows of others come in any order, the same each time. */
export const ORDERED_DUMP_PARTS: ReadonlySet<DumpPart> = new Set<DumpPart>([
  "users",
  "versions",
  "memories",
  "erasures",
  "recalls",
  "backups",
  "calls",
]);

/**
 * What the bodies of a page's rows may take, about, before it ends. In the log an import of a thousand messages is
 * one row of 85 kB: a thousand of these at once would be one statement of 85 MB.
 */
export const DUMP_PAGE_BYTES = 4_000_000;

/**
 * A record as a whole, everybody's: to be read from one database and written into another. It is meant for a record that
 * nobody writes to meanwhile: pages are not of one moment.
 */
export interface StoreDump {
  /** What it keeps: all parts, or all but `calls` and `turns`. */
  readonly parts: readonly DumpPart[];

  /** How many rows each part has. */
  counts(): Promise<{ readonly [Part in DumpPart]: number }>;

  /** A page of a part, from `after` (the cursor of the page before) on: at most `limit` rows, and no more once they reach `PAGE_BYTES`. */
  page<Part extends DumpPart>(
    part: Part,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<DumpPage<Part>>;

  /** How far it has been filled from another record; nothing where that has ended, or never began. */
  copyProgress(): Promise<CopyProgress | undefined>;

  /**
   * Begins to fill it from another record, whose identity it takes on. What a filling that was broken off has left is taken
   * away before. `conflict` where it holds anything else.
   */
  beginCopy(filling: CopyProgress): Promise<void>;

  /**
   * Writes rows as they are, after those that are there; a row that is there already is left alone. All or nothing, and
   * durable before it returns. `conflict` where it is not being filled.
   */
  putRows<Part extends DumpPart>(part: Part, rows: readonly DumpRow<Part>[]): Promise<void>;

  /** Notes how far it is, in place of the note before. */
  saveCopyProgress(filling: CopyProgress): Promise<void>;

  /** The end of filling: from now on it is a record like any other. */
  finishCopy(): Promise<void>;
}

export interface DumpPage<Part extends DumpPart> {
  readonly rows: readonly DumpRow<Part>[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** How far a record has been filled. */
export interface CopyProgress {
  /** The identity of the record that it is filled from. */
  readonly from: string;
  /** The part that comes next, and where in it. `checking` once all of it is there. */
  readonly part: DumpPart | "checking";
  readonly after?: string;
  /** Rows written, of how many, about. */
  readonly done: number;
  readonly of: number;
}
