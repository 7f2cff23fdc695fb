import { queueConformance } from "../../testing/queue-conformance.ts";
import { memoryQueue } from "./queue.ts";

queueConformance({ name: "memory", open: async (options) => memoryQueue(options) });
