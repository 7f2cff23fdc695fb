import { binMemory, changeMemory, getMemory, getMessage, getRelated, listVersions, undo } from "../calls.js";
import { askToForget } from "../erasure/forget.js";
import { button, emptyState, moreButton, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { badge, textOf } from "../parts/memory-row.js";
import { toast } from "../parts/toasts.js";
import { KIND_NAMES, number } from "../parts/words.js";
import { dropEditDraft, getEditDraft, keepEditDraft } from "./edit-drafts.js";
import { editForm } from "./memory-form.js";
import { linkSection } from "./memory-links.js";
import {
  believedSection,
  section,
  sourceBlock,
  sourceSection,
  timeSection,
  useSection,
  versionSection,
} from "./memory-parts.js";

/** One memory with everything that is known of it, and what can be done with it. */
export function memoryView({ user, changed, close }) {
  const element = make("section", { class: "detail", "aria-label": "Memory", tabindex: "0" });
  const back = () => button("‹ All memories", close, "back quiet");
  let shownId = null;
  let memory;
  let run = 0;

  function show(id) {
    if (id === shownId) return;
    shownId = id;
    memory = undefined;
    run += 1;
    if (id === undefined) element.replaceChildren(nothingChosen());
    else load({ isNew: true });
  }

  async function load({ isNew = false } = {}) {
    run += 1;
    const thisRun = run;
    try {
      const found = await getMemory(user, shownId);
      if (thisRun !== run) return;
      memory = found;
      draw();
      if (isNew) element.querySelector("h3").focus({ preventScroll: true });
    } catch (error) {
      if (thisRun === run)
        element.replaceChildren(
          back(),
          failure(error, user, () => load({ isNew })),
        );
    }
  }

  function draw() {
    element.scrollTop = 0;
    const draft = getEditDraft(user, memory.id) && draftNote(actions);
    element.replaceChildren(back(), ...detailParts(memory, actionButtons(memory, actions), draft));
    loadParts(element, user, memory, changed);
  }

  async function afterChange() {
    changed();
    if (shownId !== undefined) await load();
  }

  const actions = memoryActions({ user, memory: () => memory, changed, afterChange, close });
  const showForm = (form) => element.replaceChildren(back(), form);
  Object.assign(
    actions,
    editActions({ user, memory: () => memory, showForm, showMemory, save: actions.save }),
  );

  /** Shows the memory again in place of a form. */
  function showMemory() {
    draw();
    element.querySelector(".detail-actions button")?.focus();
  }

  /** Keys for the memory that is shown. Gives whether the key was used. */
  function onKey({ key }) {
    if (!memory || element.querySelector("form")) return false;
    const work = {
      e: actions.edit,
      o: mayEnd(memory) && actions.end,
      Delete: actions.moveToBin,
      "#": actions.erase,
    }[key];
    if (work) work();
    return Boolean(work);
  }

  return { element, show, onKey };
}

/** The form to correct a memory, and the draft that stays until it is saved. */
function editActions({ user, memory, showForm, showMemory, save }) {
  function edit() {
    const { id } = memory();
    const keep = (draft) => (draft ? keepEditDraft(user, id, draft) : dropEditDraft(user, id));
    const form = editForm(memory(), { draft: getEditDraft(user, id), keep, save, cancel: discardDraft });
    showForm(form);
    form.querySelector("textarea").focus();
  }

  /** Drops the edit that is not saved. The notice can bring it back. */
  function discardDraft() {
    const { id } = memory();
    const draft = getEditDraft(user, id);
    dropEditDraft(user, id);
    showMemory();
    if (!draft) return;
    toast("Edit discarded.", () => {
      keepEditDraft(user, id, draft);
      if (memory()?.id === id) showMemory();
    });
  }

  return { edit, discardDraft };
}

const mayEnd = ({ status, kind }) => status === "current" && kind !== "event";

/** What can be done with a memory. Each change can be undone, and an erasure shows its plan first. */
function memoryActions({ user, memory, changed, afterChange, close }) {
  async function act(work, done) {
    try {
      const answer = await work();
      const { revision } = answer.receipt ?? answer;
      toast(done, async () => {
        await undo(user, revision);
        await afterChange();
      });
      await afterChange();
    } catch (error) {
      toast(error.message);
    }
  }
  const change = (changes, done) => act(() => changeMemory(user, memory().id, changes), done);
  return {
    change,
    save: (changes) => {
      const { id } = memory();
      return act(async () => {
        const answer = await changeMemory(user, id, changes);
        dropEditDraft(user, id);
        return answer;
      }, "Saved.");
    },
    end: () => change({ valid_to: new Date().toISOString() }, "Marked as outdated."),
    moveToBin: () => act(() => binMemory(user, memory().id), "Moved to the bin."),
    togglePrivate: () =>
      isPrivate(memory())
        ? change({ private: false }, "Grants may cover it.")
        : change({ private: true }, "Private: no grant covers it."),
    // Its last revision is the one that moved it there.
    restore: () => act(() => undo(user, memory().revision), "Restored."),
    erase: () =>
      askToForget(user, { ids: [memory().id] }, () => {
        changed();
        close();
      }),
  };
}

const isPrivate = ({ metadata }) => metadata?.private === true;

function actionButtons(memory, { change, end, edit, togglePrivate, moveToBin, restore, erase }) {
  const isInBin = memory.status === "retracted";
  return [
    memory.quarantined && button("Approve", () => change({ quarantined: false }, "Approved."), "primary"),
    memory.review && button("It still holds", () => change({ reviewed: true }, "Reviewed."), "primary"),
    button("Edit", edit),
    mayEnd(memory) && button("Mark as outdated", end),
    button(isPrivate(memory) ? "Allow sharing" : "Keep private", togglePrivate),
    isInBin ? button("Restore", restore) : button("Move to bin", moveToBin),
    button("Erase…", erase, "danger-text"),
  ];
}

/** Says that an edit is not saved, with the ways on. */
function draftNote({ edit, discardDraft }) {
  return make(
    "div",
    { class: "draft-note" },
    make("p", {}, "You have an edit of this memory that is not saved."),
    button("Go on editing", edit, "primary"),
    button("Discard", discardDraft),
  );
}

/** The parts of a memory, from the top. */
function detailParts(memory, buttons, draft) {
  const parts = [
    make(
      "header",
      {},
      make(
        "p",
        { class: "row-line" },
        KIND_NAMES[memory.kind],
        badge(memory),
        memory.sensitive && plainBadge("Sensitive"),
        isPrivate(memory) && plainBadge("Private"),
      ),
      make("h3", { class: "detail-text", tabindex: "-1" }, textOf(memory)),
      memory.quarantined && memory.why && make("p", { class: "small" }, memory.why),
    ),
    draft,
    make("div", { class: "detail-actions" }, buttons),
    make("div", { class: "source-place" }),
    timeSection(memory),
    believedSection(memory),
    useSection(memory),
    make("div", { class: "version-place" }),
    make("div", { class: "related-place" }),
    make("p", { class: "small id-line" }, "Id ", make("code", {}, memory.id)),
  ];
  return parts.filter((part) => part !== undefined);
}

/** Loads what comes from other calls, each as it arrives. The places are of this drawing, so a late answer changes no other. */
function loadParts(element, user, memory, changed) {
  const fill = async (target, title, work) => {
    const again = () => fill(target, title, work);
    try {
      target.replaceChildren(...(await work()));
    } catch (error) {
      target.replaceChildren(section(title, problem(error, again)));
    }
  };
  const place = (name) => element.querySelector(name);
  fill(place(".source-place"), "Where it comes from", () => loadSources(user, memory));
  fill(place(".version-place"), "History", async () => versionSection(await listVersions(user, memory.id)));
  const related = place(".related-place");
  const loadRelated = () =>
    fill(related, "Goes with", async () =>
      linkSection(user, memory, await getRelated(user, memory.id), linksChanged),
    );
  async function linksChanged() {
    changed();
    await loadRelated();
    related.querySelector(".small-button")?.focus({ preventScroll: true });
  }
  loadRelated();
}

/** The number of sources that are shown at first, the newest, and that each click adds. */
const MOST_SOURCES = 5;

async function loadSources(user, memory) {
  const newest = memory.sources.slice(-MOST_SOURCES);
  const older = memory.sources.slice(0, -MOST_SOURCES);
  const read = async (sources) => {
    const ids = [...new Set(sources.map(({ message }) => message))];
    const messages = await Promise.all(ids.map((id) => findMessage(user, id)));
    return sources.map((source) => sourceBlock(user, source, messages[ids.indexOf(source.message)]));
  };
  const [part] = sourceSection(memory, await read(newest));
  if (older.length === 0) return [part];
  const more = moreButton(
    () => `Show earlier ones (${number(older.length)})`,
    async () => {
      more.before(...(await read(older.splice(-MOST_SOURCES))));
      return older.length > 0;
    },
  );
  part.append(more);
  return [part];
}

/** A message, or none if it was erased or taken back. */
async function findMessage(user, id) {
  try {
    return await getMessage(user, id);
  } catch (error) {
    if (error.status === 404) return undefined;
    throw error;
  }
}

function failure(error, user, again) {
  if (error.status !== 404) return problem(error, again);
  return emptyState("Not found", `No memory of ${user} has this address. It may have been erased.`);
}

function plainBadge(word) {
  return make("span", { class: "badge plain" }, word);
}

function nothingChosen() {
  return emptyState(
    "Choose a memory",
    "Its words, where they come from, and what happened to it appear here. Press j and k to move, ? for all keys.",
  );
}
