import { documentsConformance } from "../../testing/documents-conformance.ts";
import { memoryDocuments } from "./documents.ts";

documentsConformance({
  name: "memory",
  open: async () => memoryDocuments(),
  second: async (documents) => documents,
});
