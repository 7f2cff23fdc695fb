export type { SessionMemory, StoredItemMessage } from "../shared/session-items.ts";
export {
  type ChatHistoryClasses,
  type ChatHistoryOptions,
  createChatHistory,
  type LangChainMessage,
} from "./chat-history.ts";
export {
  createMemoryRetriever,
  type MemoryRetrieverOptions,
  type RetrievedDocument,
  type RetrieverMemory,
} from "./memory-retriever.ts";
