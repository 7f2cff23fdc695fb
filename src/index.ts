export type { BackupNote } from "./domain/backup.ts";
export type { BudgetState, Budgets, Limit } from "./domain/budget.ts";
export type { ChangeSet, LogEntry } from "./domain/change-set.ts";
export type { Metadata, Where } from "./domain/filter.ts";
export type { Claim, Kind, Memory, SourceSpan, Status } from "./domain/memory.ts";
export type { Message, Origin, Part, Role } from "./domain/message.ts";
export type { CallReport, ModelCall } from "./domain/model-call.ts";
export type { Price } from "./domain/prices.ts";
export type {
  Answer,
  AnsweredBy,
  AnswerTrouble,
  Explanation,
  Item,
  Recall,
  RecallOptions,
  Source,
  Why,
} from "./domain/recall.ts";
export type {
  ExplainedDrop,
  ExplainedItem,
  Fate,
  Reason,
  RecallExplanation,
  WhyNot,
} from "./domain/recall-explanation.ts";
export type { DroppedItem, RecallBounds, RecalledItem, RecallReceipt } from "./domain/recall-receipt.ts";
export type {
  ErasedCounts,
  ErasurePlan,
  ErasureReceipt,
  HeldBackup,
  Receipt,
  ReceiptLine,
  Remainder,
} from "./domain/receipt.ts";
export type { CallTotals, ProjectStats, Usage, UsageBy, UsageRow, UserStats } from "./domain/stats.ts";
export { TOPICS, type Topic } from "./domain/topics.ts";
export type { Trace } from "./domain/trace.ts";
export type { CostOptions } from "./engine/cost/costs.ts";
export type { ErasureListener } from "./engine/erasure-watch.ts";
export type {
  Audit,
  Backup,
  BackupOptions,
  ExportLine,
  Forget,
  ImportOptions,
  ImportProgress,
  InputMessage,
  JobState,
  Keepsake,
  Listing,
  ListOptions,
  MemoryChanges,
  NewMemory,
  Optimized,
  OptimizeOptions,
  Page,
  PageOptions,
  Profile,
  ProfileLine,
  ProfileOptions,
  RememberOptions,
  Reply,
  ScopedMemory,
  Session,
  SessionMessage,
  SessionSummary,
  ShownMemory,
  StatsOptions,
  Understood,
  WorkSetAside,
} from "./engine/surface.ts";
export type { Drift, DriftOptions, Indexes, IndexProgress } from "./engine/vector-indexes.ts";
export { ERROR_CODES, type ErrorCode, isMemoryError, MemoryError } from "./errors.ts";
export { createMemory, type Made, type MemoryOptions } from "./memory.ts";
export type { Opened } from "./opened.ts";
export type { Cache, CacheOf } from "./ports/cache.ts";
export type { CallHooks, CallSize, Calls, MayCall, OnCall } from "./ports/calls.ts";
export type { Clock } from "./ports/clock.ts";
export type { Embedder } from "./ports/embedder.ts";
export type { Extractor, Proposal, Reading } from "./ports/extractor.ts";
export type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexHit,
  VectorIndexMetadata,
  VectorIndexRemainder,
  VectorIndexSpace,
  VectorIndexUser,
} from "./ports/follower.ts";
export type { Ids } from "./ports/ids.ts";
export type { Ledger, LedgerContent } from "./ports/ledger.ts";
export type { Meter } from "./ports/meter.ts";
export type { Question, QuestionReader } from "./ports/question-reader.ts";
export type { Queue, SetAside } from "./ports/queue.ts";
export type { Delta, Fault, MemoryStore } from "./ports/record.ts";
export type { Secret } from "./ports/secret.ts";
export type { ActiveSession, SessionOf, Sessions, SessionTurn } from "./ports/sessions.ts";
export { type Restored, type RestoreOptions, restoreMemory } from "./restore.ts";
