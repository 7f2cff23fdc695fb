export type { AssociationType, ChangeSet, LogEntry, MemoryLink } from "./domain/change-set.ts";
export type { ContextOptions, PromptContext } from "./domain/context.ts";
export type {
  Claim,
  Kind,
  KindGroup,
  Memory,
  MemoryUsage,
  PendingReview,
  SourceSpan,
  Status,
} from "./domain/memory.ts";
export type { Message, Origin, Part, Role } from "./domain/message.ts";
export type { Metadata, Where } from "./domain/metadata-filter.ts";
export type {
  BudgetState,
  Budgets,
  CallReport,
  CallTotals,
  Limit,
  ModelCall,
  Price,
  ProjectStats,
  Usage,
  UsageBy,
  UsageRow,
  UserStats,
} from "./domain/model-usage.ts";
export type { BackupNote } from "./domain/operations/backup.ts";
export type {
  Answer,
  AnsweredBy,
  AnswerTrouble,
  DroppedItem,
  ExplainedDrop,
  ExplainedItem,
  Explanation,
  Fate,
  Item,
  RankingOptions,
  RankingWeights,
  Reason,
  Recall,
  RecallBounds,
  RecallExplanation,
  RecalledItem,
  RecallOptions,
  RecallReceipt,
  ScoreParts,
  Source,
  Why,
  WhyNot,
} from "./domain/recall.ts";
export type {
  ErasedCounts,
  ErasurePlan,
  ErasureReceipt,
  HeldBackup,
  Receipt,
  ReceiptLine,
  Remainder,
  Trace,
} from "./domain/receipt.ts";
export type { WhereText } from "./domain/text-filter.ts";
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
  LinkListOptions,
  LinkOptions,
  LinkReceipt,
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
  RelatedMemories,
  RelatedMemory,
  RelatedOptions,
  RelatedStep,
  RememberOptions,
  Reply,
  ScopedMemory,
  Session,
  SessionMessage,
  SessionSummary,
  ShownMemory,
  StatsOptions,
  Understood,
  UnlinkOptions,
  WorkSetAside,
} from "./engine/api.ts";
export type { CostOptions } from "./engine/cost/cost-tracker.ts";
export type { ErasureListener } from "./engine/erasure-watch.ts";
export type { Drift, DriftOptions, Indexes, IndexProgress } from "./engine/vector-indexes.ts";
export { ERROR_CODES, type ErrorCode, isMemoryError, MemoryError } from "./errors.ts";
export { TOPICS, type Topic } from "./language/en/topics.ts";
export { createMemory } from "./memory.ts";
export type { Made, MemoryOptions } from "./memory-options.ts";
export type { Cache, CacheOf } from "./ports/cache.ts";
export type { Embedder } from "./ports/language/embedder.ts";
export type { Extractor, Proposal, Reading } from "./ports/language/extractor.ts";
export type { CallHooks, CallSize, Calls, MayCall, OnCall } from "./ports/language/model-calls.ts";
export type { InjectionSpan, PromptGuard, TextAuthorship } from "./ports/language/prompt-guard.ts";
export type { Question, QuestionReader } from "./ports/language/question-reader.ts";
export type { Ledger, LedgerContent } from "./ports/ledger.ts";
export type { Delta, Fault, MemoryStore, MemoryStore as Record } from "./ports/memory-store.ts";
export type { Queue, SetAside } from "./ports/queue.ts";
export type { ActiveSession, SessionOf, Sessions, SessionTurn } from "./ports/sessions.ts";
export type { Clock, Ids, Secret } from "./ports/system.ts";
export type { Meter } from "./ports/telemetry.ts";
export type { MemoryUse, UsageStore, UserUses } from "./ports/usage-store.ts";
/** Earlier names, kept until version 1.0. */
export type {
  VectorIndex,
  VectorIndex as Follower,
  VectorIndexEntry,
  VectorIndexEntry as FollowerEntry,
  VectorIndexHit,
  VectorIndexHit as FollowerHit,
  VectorIndexMetadata,
  VectorIndexMetadata as FollowerMetadata,
  VectorIndexRemainder,
  VectorIndexRemainder as FollowerRemains,
  VectorIndexSpace,
  VectorIndexSpace as FollowerSpace,
  VectorIndexUser,
  VectorIndexUser as FollowerUser,
} from "./ports/vector-index.ts";
export { type Restored, type RestoreOptions, restoreMemory } from "./restore.ts";
export type { Opened } from "./wiring/resource-owner.ts";
