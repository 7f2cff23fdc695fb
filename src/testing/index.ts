export {
  CACHE_CASES,
  type CacheHarness,
  type CacheUnderTest,
  cacheConformance,
} from "./cache-conformance.ts";
export { EMBEDDER_CASES, type EmbedderHarness, embedderConformance } from "./embedder-conformance.ts";
export {
  KEY_WRAPPER_CASES,
  type KeyWrapperHarness,
  keyWrapperConformance,
} from "./key-wrapper-conformance.ts";
export {
  LANGUAGE_MODEL_CASES,
  type LanguageModelHarness,
  languageModelConformance,
} from "./language-model-conformance.ts";
export {
  MEMORY_STORE_CASES,
  MEMORY_STORE_CASES as RECORD_CASES,
  MEMORY_STORE_CASES_BY_CAPABILITY,
  type MemoryStoreHarness,
  type MemoryStoreHarness as RecordHarness,
  memoryStoreConformance,
  memoryStoreConformance as recordConformance,
} from "./memory-store/memory-store-conformance.ts";
export { CALLS_CASES, type CallsHarness, callsConformance } from "./model-calls-conformance.ts";
export { type OpenaiServer, type OpenaiServerOptions, openaiServer } from "./openai/openai-server.ts";
export type {
  Received,
  Reply,
  ReplyTo,
  RichReply,
  ToolCall,
  Trouble,
  TroubleAt,
  Turn,
} from "./openai/script.ts";
export { SPOILT, times } from "./openai/script.ts";
export { type QueueHarness, queueConformance } from "./queue-conformance.ts";
export { RERANKER_CASES, type RerankerHarness, rerankerConformance } from "./reranker-conformance.ts";
export {
  SESSIONS_CASES,
  type SessionsHarness,
  type SessionsUnderTest,
  sessionsConformance,
} from "./sessions-conformance.ts";
export {
  blankQuestionReader,
  hashEmbedder,
  itemsAnswer,
  type ModelItem,
  modelItem,
  type Says,
  type ScriptedModel,
  scriptedExtractor,
  scriptedModel,
  turnNumber,
  wordReranker,
} from "./test-doubles.ts";
/** Earlier names, kept until version 1.0. */
export {
  VECTOR_INDEX_CASES,
  VECTOR_INDEX_CASES as FOLLOWER_CASES,
  type VectorIndexHarness,
  type VectorIndexHarness as FollowerHarness,
  vectorIndexConformance,
  vectorIndexConformance as followerConformance,
} from "./vector-index/vector-index-conformance.ts";
