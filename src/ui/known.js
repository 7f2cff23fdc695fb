import { listMemories } from "./calls.js";
import { askToForget } from "./forget.js";
import { find, make } from "./make.js";
import { day, KINDS } from "./words.js";

const PAGE = 100;

/**
 * The list of what is known. `user` gives whose memory is shown, `erased` is told of each erasure made here.
 * `refresh` reads it anew, and marks what is new since the last time.
 */
export function knownList({ user, erased }) {
  const before = find("before");
  /** Ids seen at the last refresh, by user, so that what is new can be marked. */
  let seen = { user: undefined, ids: new Set() };
  let run = 0;

  const told = (receipt) => {
    erased(receipt);
    refresh();
  };
  find("forget-words").onsubmit = (event) => {
    event.preventDefault();
    const about = find("forget-what").value.trim();
    if (about === "") return;
    find("forget-what").value = "";
    askToForget(user(), { about }, told);
  };

  const forget = (memory) => askToForget(user(), { ids: [memory.id] }, told);

  async function refresh() {
    run += 1;
    const mine = run;
    const whose = user();
    try {
      const [current, past] = await Promise.all([
        listMemories(whose, { status: "current", limit: PAGE }),
        listMemories(whose, { status: "superseded", limit: PAGE }),
      ]);
      // A slower answer to an older question must not overwrite a newer one.
      if (mine !== run) return;
      const isNew = (memory) => seen.user === whose && !seen.ids.has(memory.id);
      show(current, past, isNew);
      seen = { user: whose, ids: new Set(current.items.map((memory) => memory.id)) };
    } catch (error) {
      if (mine === run) find("memories").replaceChildren(make("p", { class: "problem" }, error.message));
    }
  }

  function show(current, past, isNew) {
    for (const id of ["known-count", "tab-count"]) find(id).textContent = String(current.total);
    find("before-count").textContent = String(past.total);
    find("before-switch").hidden = past.total === 0;
    const card = (memory) => memoryCard(memory, forget, memory.status === "current" && isNew(memory));
    const groups = KINDS.map(([kind, title]) => [title, current.items.filter((one) => one.kind === kind)])
      .filter(([, items]) => items.length > 0)
      .map(([title, items]) => group(title, items.map(card)));
    find("memories").replaceChildren(
      ...(groups.length > 0 ? groups : [nothingYet(past.total)]),
      ...(current.cursor ? [moreButton(current.cursor, card)] : []),
      ...(before.checked && past.total > 0 ? [group("Before", past.items.map(card))] : []),
    );
  }

  function moreButton(cursor, card) {
    const button = make("button", { type: "button", class: "more" }, "Show more");
    button.onclick = async () => {
      button.disabled = true;
      const next = await listMemories(user(), { status: "current", limit: PAGE, cursor });
      button.replaceWith(
        group("More", next.items.map(card)),
        ...(next.cursor ? [moreButton(next.cursor, card)] : []),
      );
    };
    return button;
  }

  before.onchange = refresh;
  return { refresh };
}

function group(title, cards) {
  return make("section", { class: "group" }, make("h3", {}, title), make("ul", {}, cards));
}

function nothingYet(past) {
  return make(
    "p",
    { class: "empty" },
    past > 0
      ? "Nothing of what I knew holds any more."
      : "Nothing yet. What you say about yourself will appear here, with the words it came from, and you can have any of it forgotten.",
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
    memory.quarantined && " · set aside, never recalled",
  );
}
