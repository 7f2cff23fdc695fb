import { checkText } from "../domain/limits.ts";
import type { Receipt, ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { prepareAddition } from "./add.ts";
import { commitChange } from "./change.ts";
import { findMeantMemories } from "./forget/select.ts";
import { createMemoryDraft } from "./memory-draft.ts";
import type { Ports } from "./ports.ts";
import type { NewMemory } from "./surface.ts";
import { createSearchUnits } from "./units.ts";

/**
 * The world changed: adds what is true now, and ends everything current that is meant by `what` (words, as for
 * `forget`). History keeps both. Where nothing current is meant, it only adds.
 */
export async function supersede(
  ports: Ports,
  scope: Scope,
  what: string,
  memory: NewMemory,
): Promise<Receipt> {
  const phrase = checkText(what, "what to supersede");
  const put = prepareAddition(ports, scope, memory);
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const draft = createMemoryDraft(state, at);
    const { line, liftedTombstones: lifted } = put(state, at, draft);
    const added = draft.versions[0];
    const from = added?.validFrom ?? at;
    const lines = [...(await findMeantMemories(ports, state, phrase))]
      .filter(({ id, status }) => status === "current" && id !== line.id)
      .map((old): ReceiptLine => {
        draft.put({
          ...old,
          status: "superseded",
          action: "superseded",
          supersededBy: line.id,
          validTo: from,
          why: "a newer statement took its place",
        });
        return { id: old.id, action: "superseded", text: old.text, by: line.id };
      });
    return {
      draft: {
        cause: "update",
        memories: draft.versions,
        units: await createSearchUnits(ports, [], added ? [added] : []),
        liftTombstones: lifted,
      },
      result: { lines: [...lines, line], pending: state.pending },
    };
  });
  return { revision, messages: [], memories: result.lines, pending: result.pending };
}
