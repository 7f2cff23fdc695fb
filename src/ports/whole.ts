import type { BackupNote } from "../domain/backup.ts";
import type { Link, LogEntry, Tombstone, Unit } from "../domain/change-set.ts";
import type { JobName, JobNote, Visit } from "../domain/job.ts";
import type { KeptAnswer } from "../domain/kept-answer.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ModelCall } from "../domain/model-call.ts";
import type { RecallReceipt } from "../domain/recall-receipt.ts";
import type { ErasureReceipt, KeptReceipt } from "../domain/receipt.ts";
import type { Trace } from "../domain/trace.ts";
import type { StoredTurns } from "./calls.ts";

/** Whose a row is. */
interface OfUser {
  readonly project: string;
  readonly user: string;
}

/** What a whole record consists of, and a row of each part. Blocks kept for a search are a cache, and none of it. */
export interface WholeParts {
  /** In the order in which they were first written to. */
  readonly users: OfUser & { readonly revision: number; readonly turns: number };
  readonly messages: OfUser & { readonly revision: number; readonly message: Message };
  /** All versions of memories; of each user in the order in which they were stored. */
  readonly versions: OfUser & { readonly memory: Memory };
  /** Which version of each memory is the newest; of each user in the order in which they were first stored. */
  readonly memories: OfUser & { readonly id: string; readonly version: number; readonly revision: number };
  readonly units: OfUser & { readonly revision: number; readonly unit: Unit };
  readonly gone: OfUser & {
    readonly type: "unit" | "memory";
    readonly id: string;
    readonly revision: number;
  };
  readonly tombstones: OfUser & { readonly tombstone: Tombstone };
  readonly links: OfUser & { readonly link: Link };
  readonly log: OfUser & { readonly entry: LogEntry };
  readonly receipts: OfUser & { readonly revision: number; readonly receipt: KeptReceipt };
  /** In the order in which they were made, whoever's they are. */
  readonly erasures: OfUser & { readonly receipt: ErasureReceipt; readonly trace?: Trace };
  /** Of each user the oldest first. */
  readonly recalls: OfUser & { readonly receipt: RecallReceipt };
  /** With the receipts of the erasures that came while one was begun. */
  readonly answers: OfUser & { readonly answer: KeptAnswer; readonly erasures: readonly string[] };
  readonly visits: OfUser & { readonly job: JobName; readonly visit: Visit };
  readonly jobs: { readonly note: JobNote };
  /** In the order in which they were first noted. */
  readonly backups: { readonly note: BackupNote };
  /** In the order in which they were noted. */
  readonly calls: { readonly call: ModelCall };
  readonly turns: { readonly stored: StoredTurns };
}
export type WholePart = keyof WholeParts;
export type WholeRow<Part extends WholePart> = WholeParts[Part];

/** In this order they can be written: what a row leans on comes before it. */
export const WHOLE_PARTS: readonly WholePart[] = [
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
export const ORDERED_PARTS: ReadonlySet<WholePart> = new Set<WholePart>([
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
export const PAGE_BYTES = 4_000_000;

/**
 * A record as a whole, everybody's: to be read from one database and written into another. It is meant for a record that
 * nobody writes to meanwhile: pages are not of one moment.
 */
export interface Whole {
  /** What it keeps: all parts, or all but `calls` and `turns`. */
  readonly parts: readonly WholePart[];

  /** How many rows each part has. */
  counts(): Promise<{ readonly [Part in WholePart]: number }>;

  /** A page of a part, from `after` (the cursor of the page before) on: at most `limit` rows, and no more once they reach `PAGE_BYTES`. */
  page<Part extends WholePart>(
    part: Part,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<WholePage<Part>>;

  /** How far it has been filled from another record; nothing where that has ended, or never began. */
  filling(): Promise<Filling | undefined>;

  /**
   * Begins to fill it from another record, whose identity it takes on. What a filling that was broken off has left is taken
   * away before. `conflict` where it holds anything else.
   */
  fill(filling: Filling): Promise<void>;

  /**
   * Writes rows as they are, after those that are there; a row that is there already is left alone. All or nothing, and
   * durable before it returns. `conflict` where it is not being filled.
   */
  put<Part extends WholePart>(part: Part, rows: readonly WholeRow<Part>[]): Promise<void>;

  /** Notes how far it is, in place of the note before. */
  noteFilling(filling: Filling): Promise<void>;

  /** The end of filling: from now on it is a record like any other. */
  filled(): Promise<void>;
}

export interface WholePage<Part extends WholePart> {
  readonly rows: readonly WholeRow<Part>[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** How far a record has been filled. */
export interface Filling {
  /** The identity of the record that it is filled from. */
  readonly from: string;
  /** The part that comes next, and where in it. `checking` once all of it is there. */
  readonly part: WholePart | "checking";
  readonly after?: string;
  /** Rows written, of how many, about. */
  readonly done: number;
  readonly of: number;
}
