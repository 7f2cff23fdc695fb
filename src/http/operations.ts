import type { Operation } from "./operation.ts";
import { conversationOperations } from "./routes/conversation.ts";
import { createDocumentOperations } from "./routes/describe.ts";
import { erasureOperations } from "./routes/erasures.ts";
import { healthOperations } from "./routes/health.ts";
import { historyOperations } from "./routes/history.ts";
import { jobOperations } from "./routes/jobs.ts";
import { keyOperations } from "./routes/keys.ts";
import { memoryOperations } from "./routes/memories.ts";
import { messageOperations } from "./routes/messages.ts";
import { moveOperations } from "./routes/move.ts";
import { openAiOperations } from "./routes/openai.ts";
import { searchOperations } from "./routes/search.ts";
import { sessionOperations } from "./routes/sessions.ts";
import { signInOperations } from "./routes/sign-in.ts";
import { simpleOperations } from "./routes/simple.ts";
import { statsOperations } from "./routes/stats.ts";
import { userOperations } from "./routes/users.ts";

/** Every call that the server takes. What is served, checked and documented is what stands here, and nothing else. */
export const API_OPERATIONS: readonly Operation[] = [
  ...healthOperations,
  ...conversationOperations,
  ...messageOperations,
  ...memoryOperations,
  ...statsOperations,
  ...searchOperations,
  ...historyOperations,
  ...sessionOperations,
  ...erasureOperations,
  ...moveOperations,
  ...userOperations,
  ...jobOperations,
  ...simpleOperations,
  ...keyOperations,
  ...signInOperations,
  ...openAiOperations,
  ...createDocumentOperations(() => API_OPERATIONS),
];
