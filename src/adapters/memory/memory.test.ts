import { recordConformance } from "../../testing/record-conformance.ts";
import { memoryRecord } from "./index.ts";

recordConformance({ name: "memory", open: async () => memoryRecord() });
