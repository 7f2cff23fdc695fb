import { listMemories } from "../calls.js";
import { askToForget } from "../erasure/forget.js";
import { moreButton, problem } from "../parts/form-parts.js";
import { find, make } from "../parts/make.js";
import { day, KINDS, number } from "../parts/words.js";

const PAGE = 100;

/**
 * Runs the list of memories. `user` gives the current user; `erased` is called with each receipt. `refresh` reloads the
 * list and marks new memories.
 */
export function knownList({ user, erased }) {
  const before = find("before");
  /** The ids at the last refresh, by user, to mark new memories. */
  let seen = { user: undefined, ids: new Set() };
  let run = 0;

  const onErased = (receipt) => {
    erased(receipt);
    refresh();
  };
  find("forget-words").onsubmit = (event) => {
    event.preventDefault();
    const about = find("forget-what").value.trim();
    if (about === "") return;
    find("forget-what").value = "";
    askToForget(user(), { about }, onErased);
  };

  const forget = (memory) => askToForget(user(), { ids: [memory.id] }, onErased);

  async function refresh() {
    run += 1;
    const thisRun = run;
    const shownUser = user();
    try {
      const [current, past] = await Promise.all([
        listMemories(shownUser, { status: "current", limit: PAGE }),
        listMemories(shownUser, { status: "superseded", limit: PAGE }),
      ]);
      // A slow response to an older request must not overwrite a newer one.
      if (thisRun !== run) return;
      const isNew = (memory) => seen.user === shownUser && !seen.ids.has(memory.id);
      show(current, past, isNew);
      seen = { user: shownUser, ids: new Set(current.items.map((memory) => memory.id)) };
    } catch (error) {
      if (thisRun === run) find("memories").replaceChildren(problem(error, refresh));
    }
  }

  function show(current, past, isNew) {
    for (const id of ["known-count", "tab-count"]) find(id).textContent = String(current.total);
    find("before-count").textContent = String(past.total);
    find("before-switch").hidden = past.total === 0;
    const card = (memory) => memoryCard(memory, forget, memory.status === "current" && isNew(memory));
    const groups = KINDS.map(([kind, title]) => [
      title,
      current.items.filter((memory) => memory.kind === kind),
    ])
      .filter(([, items]) => items.length > 0)
      .map(([title, items]) => group(title, items.map(card)));
    find("memories").replaceChildren(
      ...(groups.length > 0 ? groups : [nothingYet(past.total)]),
      ...readOn(user(), { status: "current" }, current, card),
      ...(before.checked && past.total > 0 ? [group("Outdated", past.items.map(card))] : []),
      ...(before.checked ? readOn(user(), { status: "superseded" }, past, card) : []),
    );
  }

  /** Takes the list off the page; a slow response to an earlier request does not bring it back. */
  function clear() {
    run += 1;
    find("memories").replaceChildren();
  }

  before.onchange = refresh;
  return { refresh, clear };
}

/** The button that shows the next page before itself; none after the last page. */
function readOn(user, query, { items, total, cursor }, card) {
  if (!cursor) return [];
  let next = cursor;
  let left = total - items.length;
  const element = moreButton(
    () => `Show more (${number(left)})`,
    async () => {
      const page = await listMemories(user, { ...query, limit: PAGE, cursor: next });
      element.before(group("More", page.items.map(card)));
      next = page.cursor;
      left -= page.items.length;
      return Boolean(next);
    },
  );
  return [element];
}

function group(title, cards) {
  return make("section", { class: "group" }, make("h3", {}, title), make("ul", {}, cards));
}

function nothingYet(past) {
  return make(
    "p",
    { class: "empty" },
    past > 0
      ? "No current memories: all have been replaced."
      : "Nothing yet. What you tell me about yourself appears here, with your own words as the source. You can have anything forgotten.",
  );
}

function memoryCard(memory, forget, isNew) {
  const isPast = memory.status !== "current";
  const look = ["memory", isPast && "past", isNew && "new", memory.quarantined && "aside"].filter(Boolean);
  return make(
    "li",
    { class: look.join(" "), "data-id": memory.id },
    make("p", { class: "text" }, isPast ? make("s", {}, memory.display) : memory.display),
    sourceLine(memory),
    make(
      "button",
      {
        type: "button",
        class: "forget",
        "aria-label": `Forget: ${memory.display}`,
        onclick: () => forget(memory),
      },
      "Forget",
    ),
  );
}

function sourceLine(memory) {
  const source = memory.sources.at(-1);
  const when =
    memory.valid_to && memory.status !== "current" ? `until ${day(memory.valid_to)}` : day(memory.at);
  return make(
    "p",
    { class: "source" },
    source ? make("q", {}, source.quote) : "Added by hand",
    " ",
    make("time", { datetime: memory.valid_to ?? memory.at }, when),
    memory.evidence > 1 && ` · said ${memory.evidence} times`,
    memory.quarantined && " · quarantined, never recalled",
  );
}
