export type { ChatMemory, ChatMemoryOptions, TurnMessage } from "../shared/model-calls/chat-turns.ts";
export {
  type AiSdkSpecification,
  createMemoryMiddleware,
  type MemoryMiddleware,
  type MemoryMiddlewareOptions,
} from "./memory-middleware.ts";
export {
  type AiSdkTool,
  type AiSdkToolCall,
  createMemoryTools,
  type MemoryTools,
  type MemoryToolsOptions,
  type ToolMemory,
} from "./memory-tools.ts";
export type { AiSdkToolSchema } from "./tool-schema.ts";
