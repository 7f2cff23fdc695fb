import { memoryStoreConformance } from "../../testing/record-conformance.ts";
import { createInMemoryStore } from "./index.ts";

memoryStoreConformance({ name: "memory", open: async () => createInMemoryStore() });
