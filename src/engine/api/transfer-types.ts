import type { AssociationType, MemoryLink } from "../../domain/change-set.ts";
import type { SourceSpan, Status } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ImportFormatName } from "../../domain/operations/import-format.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { ShownGrant, ShownGroup } from "../sharing/sharing-types.ts";
import type { ActiveSessionState } from "./session-types.ts";
import type { InputMessage, NewMemory } from "./writing-types.ts";

/** One line of an export; `import` with format "keepsake" reads it. */
export type ExportLine =
  | { readonly type: "keepsake"; readonly version: 1; readonly user: string; readonly exportedAt: string }
  | { readonly type: "message"; readonly message: object }
  | { readonly type: "memory"; readonly memory: object }
  | { readonly type: "link"; readonly link: MemoryLink }
  | { readonly type: "session"; readonly session: ActiveSessionState }
  /** A grant that the user gave or received, or a group. An import leaves them out: consent is given anew. */
  | { readonly type: "grant"; readonly grant: ShownGrant }
  | { readonly type: "group"; readonly group: ShownGroup };

/** A piece of an export as files: the text goes on in the file of that path. */
export interface ExportedPiece {
  /** Relative, with forward slashes: "memory-store.json". */
  readonly path: string;
  /** The next part of the file's content. */
  readonly text: string;
  /** How many memories the export leaves out because they wait for a review. On the first piece; absent for none. */
  readonly quarantined?: number;
}

/** Options of `exportFiles`. */
export interface ExportFilesOptions extends CallOptions {
  /**
   * `pam`: Portable AI Memory 1.0, signed. `markdown`: a list by topic, for people. Both leave out memories that wait for a
   * review, because a reader might act on them.
   */
  readonly format: "pam" | "markdown";
  /** Of `pam`: whether to write a file for each conversation (default true). `false`: memories and relations alone. */
  readonly conversations?: boolean;
}

/** The state of an import after a batch. */
export interface ImportProgress {
  /** Messages read from the source. */
  readonly read: number;
  /** Messages that were new and are stored. */
  readonly stored: number;
  /** Messages that were stored before. */
  readonly known: number;
  /** Memories that were added. */
  readonly memories: number;
  /** The id of the import, for `ImportOptions.importId`. */
  readonly importId: string;
  /** The newest revision of the import; `undo` of it takes back the whole import. Absent if it changed nothing. */
  readonly revision?: number;
  /** What this step learnt, at most 1,000 lines. */
  readonly learnt: readonly ReceiptLine[];
  /** How much was passed over so far, by reason. */
  readonly passedOver: readonly { readonly why: string; readonly count: number }[];
  /** Whether the source is read to its end. */
  readonly done: boolean;
}

/** One entry of an import: a message, a memory, an association, or something that is passed over. */
export interface ImportEntry {
  /** Its place in the source, for error messages: "line 12". */
  readonly place: string;
  readonly message?: InputMessage;
  /** True for a message whose memories are in the source: no extractor reads it again. */
  readonly isRead?: boolean;
  /** How the message was labelled and read where it comes from. Absent: as any new message. */
  readonly state?: ImportedMessageState;
  readonly memory?: ImportedMemory;
  readonly link?: ImportedLink;
  /** Why something at this place is passed over. */
  readonly skipped?: string;
}

/** How a message was labelled and read in the memory that it was exported from. */
export interface ImportedMessageState {
  /** The agent that it was said to. The agent of the importing scope goes before it. */
  readonly agent?: string;
  /** Whether an extractor has read it. It counts for a message that `isRead`; absent: "never". */
  readonly digest?: Message["digest"];
  /** True if the rules have read it, and only the model's reading is missing. */
  readonly heard?: boolean;
}

/**
 * A memory of another system. It is stored once: not if its id is known. A current one is not stored either if another
 * current memory has its text.
 */
export interface ImportedMemory extends NewMemory {
  /** Its id. The same source must give the same one each time. */
  readonly id: string;
  /**
   * True for a memory of a Keepsake export (default false): fields that it lacks stay absent, and two of one export may have
   * the same text.
   */
  readonly isExact?: boolean;
  /** Whether it is current (default), was replaced, or was never true. */
  readonly status?: Status;
  /** The end of its validity, exclusive. */
  readonly validTo?: Date | string;
  /** The id of the memory that replaced it. */
  readonly supersededBy?: string;
  /** When an event takes or took place, or when a commitment is due, as an ISO 8601 date or time. */
  readonly when?: string;
  /** True for health, beliefs, money, secrets (default false). */
  readonly sensitive?: boolean;
  /** How often the same claim was made (default 1). */
  readonly evidence?: number;
  /** True: kept for review (default false). One that would instruct the assistant is kept for review anyway. */
  readonly quarantined?: boolean;
  /** True if it was archived, not untrue (default false). */
  readonly archived?: boolean;
  /** The agent that it was said to. The agent of the importing scope goes before it. */
  readonly agent?: string;
  /** The session that it was said in. */
  readonly session?: string;
  /** The words that it comes from. Those that the named messages do not have are left out. */
  readonly sources?: readonly SourceSpan[];
  /** Set while it waits for a review: since when (ISO 8601), and the ids of the memories that have changed. */
  readonly review?: { readonly since: string; readonly because: readonly string[] };
}

/** An association of an import. */
export interface ImportedLink {
  /** The id or the text of the memory that it begins at. */
  readonly from: string;
  /** The id or the text of the other memory. */
  readonly to: string;
  readonly type: AssociationType;
  /** 0 to 1. */
  readonly strength: number;
}

/** Options of `import`. */
export interface ImportOptions extends CallOptions {
  /** Messages per commit (200). */
  readonly batch?: number;
  /** When the extractor reads the messages: now (default), in the background, or never. */
  readonly extract?: "now" | "later" | "never";
  /** True: reports what it would store and learn, and stores nothing. */
  readonly dryRun?: boolean;
  /** The id of an earlier import that this one goes on with, so that one undo takes back both. Default: a new one. */
  readonly importId?: string;
}

/** Options of `import` for a file or its bytes. */
export interface FileImportOptions extends ImportOptions {
  /** The format (default "auto": recognised by the content). */
  readonly format?: ImportFormatName;
}
