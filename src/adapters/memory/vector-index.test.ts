import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { createInMemoryVectorIndex } from "./index.ts";

vectorIndexConformance({ name: "memory", open: async () => createInMemoryVectorIndex() });
