import type { StoredAttachment } from "../../domain/attachment.ts";
import type { LogEntry, MemoryLink, SearchUnit, Tombstone } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ModelCall } from "../../domain/model-usage.ts";
import type { BackupNote } from "../../domain/operations/backup.ts";
import type { JobName, JobProgress, JobRun } from "../../domain/operations/job.ts";
import type { StoredAnswer } from "../../domain/operations/stored-answer.ts";
import type { RecallReceipt } from "../../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../../domain/receipt.ts";
import type { Share } from "../../domain/sharing.ts";
import type { StoredTurns } from "../language/model-calls.ts";
import type { EmbedderChoice } from "./embedder-choices.ts";
import type { MemoryUse } from "./usage-store.ts";

/** The owner of a row. */
interface DumpRowOwner {
  readonly project: string;
  readonly user: string;
}

/** The parts of a full dump, with the row type of each. Saved search indexes are a cache and not included. */
export interface DumpParts {
  /** In the order of the users' first writes. */
  readonly users: DumpRowOwner & { readonly revision: number; readonly turns: number };
  readonly messages: DumpRowOwner & { readonly revision: number; readonly message: Message };
  /** All versions of memories; for each user in the order in which they were stored. */
  readonly versions: DumpRowOwner & { readonly memory: Memory };
  /** The newest version of each memory; for each user in the order in which they were first stored. */
  readonly memories: DumpRowOwner & {
    readonly id: string;
    readonly version: number;
    readonly revision: number;
  };
  /** The bytes of attachments: rows of up to some megabytes, so pages are short. */
  readonly attachments: DumpRowOwner & { readonly attachment: StoredAttachment };
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
  /** In the order in which they were made, across all users. */
  readonly erasures: DumpRowOwner & { readonly receipt: ErasureReceipt; readonly trace?: Trace };
  /** Oldest first for each user. */
  readonly recalls: DumpRowOwner & { readonly receipt: RecallReceipt };
  readonly uses: DumpRowOwner & { readonly use: MemoryUse };
  /** Grants and groups; the owner is in them. */
  readonly shares: { readonly share: Share };
  /** The owner is in them. */
  readonly embedders: { readonly choice: EmbedderChoice };
  /** Each with the receipts of erasures that happened while it was being answered. */
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

/** The write order: a row's dependencies come before it. */
export const DUMP_PARTS: readonly DumpPart[] = [
  "users",
  "messages",
  "attachments",
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
  "uses",
  "shares",
  "embedders",
  "answers",
  "visits",
  "jobs",
  "backups",
  "calls",
  "turns",
];

/** Parts whose rows have a meaningful order. Rows of other parts come in any stable order. */
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
 * The approximate size at which a page ends, in bytes of row bodies. An import of a thousand messages is one
 * log row of 85 kB; a thousand of these at once would be one statement of 85 MB.
 */
export const DUMP_PAGE_BYTES = 4_000_000;

/**
 * Reads a full dump of one store and writes it into another. The source must not be written to meanwhile,
 * because pages are not of one moment.
 */
export interface StoreDump {
  /** The parts that this store keeps: all, or all but `calls` and `turns`. */
  readonly parts: readonly DumpPart[];

  /** The number of rows of each part. */
  counts(): Promise<{ readonly [Part in DumpPart]: number }>;

  /**
   * A page of a part, starting after `after` (the cursor of the previous page). At most `limit` rows; it ends
   * early at `DUMP_PAGE_BYTES`.
   */
  page<Part extends DumpPart>(
    part: Part,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<DumpPage<Part>>;

  /** Progress of a copy into this store. Undefined if none is under way. */
  copyProgress(): Promise<CopyProgress | undefined>;

  /**
   * Starts a copy into this store, which takes on the source's identity. Deletes the remains of an
   * interrupted copy first. Throws `conflict` if the store holds anything else.
   */
  beginCopy(progress: CopyProgress): Promise<void>;

  /**
   * Appends rows unchanged; existing rows are skipped. Atomic, and durable before it returns. Throws
   * `conflict` if no copy is under way.
   */
  putRows<Part extends DumpPart>(part: Part, rows: readonly DumpRow<Part>[]): Promise<void>;

  /** Saves the progress, replacing the note before. */
  saveCopyProgress(progress: CopyProgress): Promise<void>;

  /** Ends the copy. The store is then an ordinary memory store. */
  finishCopy(): Promise<void>;
}

export interface DumpPage<Part extends DumpPart> {
  readonly rows: readonly DumpRow<Part>[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** The progress of a copy into a store. */
export interface CopyProgress {
  /** The identity of the source store. */
  readonly from: string;
  /** The next part, and the position in it. `checking` once all rows are copied. */
  readonly part: DumpPart | "checking";
  readonly after?: string;
  /** Rows written, and the approximate total. */
  readonly done: number;
  readonly of: number;
}
