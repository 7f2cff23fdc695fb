import { memoryStoreConformance } from "../../testing/memory-store/memory-store-conformance.ts";
import { createInMemoryStore } from "./index.ts";

memoryStoreConformance({ name: "memory", lacks: ["maintenance"], open: async () => createInMemoryStore() });
