import type { Documents, SharedDocument } from "../../ports/documents.ts";

/** The reference `Documents`: in this process alone, and gone with it. */
export function createMemoryDocuments(): Documents {
  const held = new Map<string, Required<SharedDocument>>();
  let marks = 0;
  return {
    async read(name, known) {
      const found = held.get(name);
      return found && (found.mark === known ? { mark: known } : { ...found });
    },

    async change(name, change) {
      const found = held.get(name);
      const text = change(found?.text);
      if (text === undefined || text === found?.text) return found && { ...found };
      marks += 1;
      const kept = { mark: String(marks), text };
      held.set(name, kept);
      return { ...kept };
    },
  };
}
