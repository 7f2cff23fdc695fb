import { vectorIndexConformance } from "../../testing/follower-conformance.ts";
import { createInMemoryVectorIndex } from "./index.ts";

vectorIndexConformance({ name: "memory", open: async () => createInMemoryVectorIndex() });
