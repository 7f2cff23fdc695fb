import { documentsConformance } from "../../testing/documents-conformance.ts";
import { createMemoryDocuments } from "./shared-documents.ts";

documentsConformance({
  name: "memory",
  open: async () => createMemoryDocuments(),
  second: async (documents) => documents,
});
