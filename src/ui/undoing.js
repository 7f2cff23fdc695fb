import { undo } from "./calls.js";
import { make, say } from "./make.js";

const UNDO = { label: "Undo", done: "Undone" };
const REDO = { label: "Bring it back", done: "Back again" };

/**
 * The button that takes back the last write; there is one at a time. `append` puts something into the log, `changed`
 * runs after a memory may have changed.
 */
export function undoing({ user, append, changed }) {
  let last;

  function offer(revision, kind) {
    last?.remove();
    const button = make("button", { type: "button", class: "undo" }, kind.label);
    button.onclick = () => takeBack(button, revision, kind);
    last = button;
    return button;
  }

  async function takeBack(button, revision, kind) {
    button.disabled = true;
    try {
      const receipt = await undo(user(), revision);
      const next = offer(receipt.revision, kind === UNDO ? REDO : UNDO);
      append(make("div", { class: "note" }, `${kind.done}.`, next));
      say(`${kind.done}.`);
      changed();
    } catch (error) {
      button.disabled = false;
      append(make("p", { class: "problem", role: "alert" }, error.message));
    }
  }

  return {
    /** A button for what a receipt tells of; undefined where it changed nothing, or nothing brings it back. */
    after({ memories, erasures, revision }) {
      const isUndoable =
        erasures === undefined && memories.some(({ action }) => action !== "refused" && action !== "erased");
      if (isUndoable) return offer(revision, UNDO);
      if (erasures) last?.remove();
      return undefined;
    },
    drop() {
      last?.remove();
      last = undefined;
    },
  };
}
