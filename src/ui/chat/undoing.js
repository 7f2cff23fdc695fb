import { undo } from "../calls.js";
import { make, say } from "../parts/make.js";

const UNDO = { label: "Undo", done: "Undone" };
const REDO = { label: "Redo", done: "Redone" };

/**
 * Runs the button that undoes the last write; there is one at a time. `append` adds an element to the log; `changed` runs
 * after a memory may have changed.
 */
export function undoing({ user, append, changed }) {
  let last;

  function offer(revision, kind) {
    last?.remove();
    const button = make("button", { type: "button", class: "undo" }, kind.label);
    button.onclick = () => runUndo(button, revision, kind);
    last = button;
    return button;
  }

  async function runUndo(button, revision, kind) {
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
    /** Gives an undo button for a receipt; `undefined` if it changed nothing or cannot be undone. */
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
