import { queueConformance } from "../../testing/queue-conformance.ts";
import { createMemoryQueue } from "./queue.ts";

queueConformance({ name: "memory", open: async (options) => createMemoryQueue(options) });
