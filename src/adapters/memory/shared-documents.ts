import type { Documents, SharedDocument } from "../../ports/stores/documents.ts";

/** The reference `Documents`: in this process and not persistent. */
export function createMemoryDocuments(): Documents {
  const documents = new Map<string, Required<SharedDocument>>();
  let marks = 0;
  return {
    async read(name, known) {
      const found = documents.get(name);
      return found && (found.mark === known ? { mark: known } : { ...found });
    },

    async change(name, change) {
      const found = documents.get(name);
      const text = change(found?.text);
      if (text === undefined || text === found?.text) return found && { ...found };
      marks += 1;
      const kept = { mark: String(marks), text };
      documents.set(name, kept);
      return { ...kept };
    },
  };
}
