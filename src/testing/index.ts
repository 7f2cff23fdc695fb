export { CACHE_CASES, type CacheUnderTest } from "./cache-cases.ts";
export { type CacheHarness, cacheConformance } from "./cache-conformance.ts";
export { CALLS_CASES } from "./calls-cases.ts";
export { type CallsHarness, callsConformance } from "./calls-conformance.ts";
export { EMBEDDER_CASES } from "./embedder-cases.ts";
export { type EmbedderHarness, embedderConformance } from "./embedder-conformance.ts";
export { VECTOR_INDEX_CASES } from "./follower-cases.ts";
export { type VectorIndexHarness, vectorIndexConformance } from "./follower-conformance.ts";
export { hashEmbedder } from "./hash-embedder.ts";
export { LANGUAGE_MODEL_CASES } from "./language-model-cases.ts";
export { type LanguageModelHarness, languageModelConformance } from "./language-model-conformance.ts";
export { itemsAnswer, type ModelItem, modelItem, turnNumber } from "./model-items.ts";
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
export { type OpenaiServer, type OpenaiServerOptions, openaiServer } from "./openai-server.ts";
export { type QueueHarness, queueConformance } from "./queue-conformance.ts";
export { MEMORY_STORE_CASES, type MemoryStoreHarness, memoryStoreConformance } from "./record-conformance.ts";
export { blankQuestionReader, scriptedExtractor } from "./scripted-extractor.ts";
export { type Says, type ScriptedModel, scriptedModel } from "./scripted-model.ts";
export { SESSIONS_CASES, type SessionsUnderTest } from "./sessions-cases.ts";
export { type SessionsHarness, sessionsConformance } from "./sessions-conformance.ts";
