export type { AttachmentType } from "./domain/attachment.ts";
export type { AssociationType, ChangeSet, LogEntry, MemoryLink } from "./domain/change-set.ts";
export type { ContextOptions, PromptContext } from "./domain/conversation/context.ts";
export type {
  JsonObject,
  JsonValue,
  SessionState,
  SessionStateChanges,
} from "./domain/conversation/session-state.ts";
export type { Metadata, Where } from "./domain/filters/metadata-filter.ts";
export type { WhereText } from "./domain/filters/text-filter.ts";
export type { ExpiryPolicy, KindExpiry } from "./domain/memories/expiry-policy.ts";
export type { ListOrder } from "./domain/memories/memory-order.ts";
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
export type { ImportFormatName } from "./domain/operations/import-format.ts";
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
  Reranking,
  RerankingOptions,
  RerankOutcome,
  RerankScore,
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
export type { Grant, GrantedContent, Share, UserGroup } from "./domain/sharing.ts";
export type {
  ClusterOptions,
  LinkListOptions,
  LinkOptions,
  LinkReceipt,
  MemoryCluster,
  MemoryClusters,
  RelatedMemories,
  RelatedMemory,
  RelatedOptions,
  RelatedStep,
  UnlinkOptions,
} from "./engine/api/association-types.ts";
export type {
  AttachmentListOptions,
  InputAttachment,
  KeptAttachment,
  ShownAttachment,
} from "./engine/api/attachment-types.ts";
export type { ErasureListener } from "./engine/api/erasure-watch.ts";
export type { Drift, DriftOptions, Indexes, IndexProgress } from "./engine/api/index-types.ts";
export type { Audit, Backup, BackupOptions, Keepsake } from "./engine/api/keepsake.ts";
export type {
  FacetName,
  FacetOptions,
  Facets,
  Listing,
  ListOptions,
  Page,
  PageOptions,
  ShownMemory,
} from "./engine/api/listing-types.ts";
export type {
  JobState,
  Optimized,
  OptimizeOptions,
  StatsOptions,
  WorkSetAside,
} from "./engine/api/maintenance-types.ts";
export type { Profile, ProfileLine, ProfileOptions } from "./engine/api/profile-types.ts";
export type { Reflection, Reflections, ReflectOptions } from "./engine/api/reflection-types.ts";
export type {
  FactDifference,
  ReplayedFact,
  ReplayedField,
  ReplayOptions,
  ReplayReport,
} from "./engine/api/replay-types.ts";
export type { Reply, ScopedMemory } from "./engine/api/scoped-memory.ts";
export type {
  ActiveSessionState,
  NewSession,
  Session,
  SessionMessage,
  SessionPageOptions,
  SessionSummary,
  StoredMessage,
} from "./engine/api/session-types.ts";
export type {
  ExportedPiece,
  ExportFilesOptions,
  ExportLine,
  FileImportOptions,
  ImportOptions,
  ImportProgress,
} from "./engine/api/transfer-types.ts";
export type {
  ClearableField,
  ConverseOptions,
  Forget,
  InputMessage,
  MemoryChanges,
  NewMemory,
  RememberOptions,
  Understood,
} from "./engine/api/writing-types.ts";
export type { CostOptions } from "./engine/cost/cost-tracker.ts";
export type {
  GrantListOptions,
  GrantState,
  Grants,
  NewGrant,
  NewGroup,
  SharedListOptions,
  SharedMemories,
  SharedMemory,
  ShownGrant,
  ShownGroup,
} from "./engine/sharing/sharing-types.ts";
export { ERROR_CODES, type ErrorCode, type ErrorDetails, isMemoryError, MemoryError } from "./errors.ts";
export { TOPICS, type Topic } from "./language/en/topics.ts";
export { createMemory } from "./memory.ts";
export type { Made, MemoryOptions, Opened } from "./memory-options.ts";
export type { Cache, CacheOf } from "./ports/cache.ts";
export type { AttachmentDescriber, DescribedAttachment } from "./ports/language/attachment-describer.ts";
export type { Embedder, VectorCache } from "./ports/language/embedder.ts";
export type { Extractor, MessageFilter, Proposal, Reading } from "./ports/language/extractor.ts";
export type {
  CallHooks,
  CallSize,
  Calls,
  CircuitMonitor,
  CircuitState,
  MayCall,
  OnCall,
} from "./ports/language/model-calls.ts";
export type { InjectionSpan, PromptGuard, TextAuthorship } from "./ports/language/prompt-guard.ts";
export type { Question, QuestionReader } from "./ports/language/question-reader.ts";
export type { ReceiptWriter } from "./ports/language/reply-writer.ts";
export type { Reranker } from "./ports/language/reranker.ts";
export type { MessageScanner } from "./ports/language/vocabulary.ts";
export type { Ledger, LedgerContent } from "./ports/ledger.ts";
export type { Delta, Fault, MemoryStore, MemoryStore as Record } from "./ports/memory-store.ts";
export type { Queue, SetAside } from "./ports/queue.ts";
export type {
  ActiveSession,
  SessionOf,
  SessionStates,
  Sessions,
  SessionTurn,
  StoredSessionState,
} from "./ports/sessions.ts";
export type { ShareChanges, SharingStore } from "./ports/stores/sharing-store.ts";
export type { MemoryUse, UsageStore, UserUses } from "./ports/stores/usage-store.ts";
export type { Clock, Ids, Secret } from "./ports/system.ts";
export type { Meter } from "./ports/telemetry.ts";
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
