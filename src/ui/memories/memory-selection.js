import { binMemory, changeMemory, undo } from "../calls.js";
import { askToForget } from "../erasure/forget.js";
import { button } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { toast } from "../parts/toasts.js";
import { counted, number } from "../parts/words.js";
import { askToMerge, MOST_MERGED } from "./memory-merge.js";

/** The most memories that are selected at once: as many as one erasure takes. */
export const MOST_SELECTED = 1000;

const endMemory = (user, id) => changeMemory(user, id, { valid_to: new Date().toISOString() });
const revisionOf = (answer) => (answer.receipt ?? answer).revision;

/**
 * The memories that are selected, and the bar of what can be done with all of them. `list` is the virtual list; `fetchAll`
 * gives what "select all" means; `changed` runs after a change.
 */
export function memorySelection({ user, list, fetchAll, changed }) {
  const ids = new Set();
  const bar = make("div", { class: "selection", hidden: true });
  let lastId;

  function toggle(memory, isOn, isRange) {
    const known = list().known();
    const placeOf = (wanted) => known.findIndex(({ id }) => id === wanted);
    // Pages that were loaded since move what is behind them.
    const [place, last] = [placeOf(memory.id), placeOf(lastId)];
    const ends = isRange && last >= 0 ? [last, place] : [place, place];
    for (const { id } of known.slice(Math.min(...ends), Math.max(...ends) + 1)) {
      if (!isOn) ids.delete(id);
      else if (ids.size < MOST_SELECTED) ids.add(id);
    }
    if (last !== place && isRange) list().redraw();
    lastId = memory.id;
    show();
  }

  function clear() {
    if (ids.size === 0) return;
    ids.clear();
    list().redraw();
    show();
  }

  async function selectAll() {
    try {
      for (const { id } of (await fetchAll()).slice(0, MOST_SELECTED)) ids.add(id);
    } catch (error) {
      toast(error.message);
    }
    list().redraw();
    show();
  }

  async function changeAll(done, change) {
    await changeEach(user, [...ids], { done, change, changed });
    clear();
    changed();
  }

  function erase() {
    askToForget(user, { ids: [...ids] }, () => {
      clear();
      changed();
    });
  }

  function merge() {
    askToMerge(user, [...ids], () => {
      clear();
      changed();
    });
  }

  function show() {
    bar.hidden = ids.size === 0;
    const all = Math.min(list().total(), MOST_SELECTED);
    bar.replaceChildren(
      make("strong", {}, `${number(ids.size)} selected`),
      all > ids.size ? button(`Select ${number(all)}`, selectAll, "quiet") : "",
      ids.size > 1 && ids.size <= MOST_MERGED ? button("Merge…", merge, "quiet") : "",
      button("Mark as outdated", () => changeAll("Marked as outdated", endMemory), "quiet"),
      button("Move to bin", () => changeAll("Moved to the bin", binMemory), "quiet"),
      button("Erase…", erase, "quiet danger-text"),
      button("Clear", clear, "quiet"),
    );
    if (ids.size > 0) say(`${ids.size} selected`);
  }

  return { element: bar, has: (id) => ids.has(id), toggle, clear };
}

/** Changes memories one after the other, and offers to undo all of it. */
async function changeEach(user, ids, { done, change, changed }) {
  const revisions = [];
  const undoAll = async () => {
    for (const revision of revisions) await undo(user, revision);
    changed();
  };
  try {
    for (const id of ids) revisions.unshift(revisionOf(await change(user, id)));
    toast(`${done}: ${counted(ids.length, "memory", "memories")}.`, undoAll);
  } catch (error) {
    toast(error.message, revisions.length > 0 ? undoAll : undefined);
  }
}
