import { getHistory, getStats, importFile, undo } from "../calls.js";
import { facts } from "../memories/memory-parts.js";
import { button, choice, labelled, problem, whileDisabled } from "../parts/form-parts.js";
import { make, makeId, say } from "../parts/make.js";
import { toast } from "../parts/toasts.js";
import { counted, number } from "../parts/words.js";

const FORMATS = [
  ["auto", "Recognise it by the content"],
  ["chatgpt", "ChatGPT: conversations.json"],
  ["claude", "Claude: conversations.json or memories.json"],
  ["gemini", "Gemini: MyActivity.json of Google Takeout"],
  ["mem0", "mem0: a list of memories"],
  ["letta", "Letta: an agent file (.af)"],
  ["telegram", "Telegram: result.json"],
  ["whatsapp", "WhatsApp: the text of a chat"],
  ["character", "Character card: JSON or PNG"],
  ["openai", "OpenAI: JSON Lines of messages"],
  ["pam", "Portable AI Memory 1.0"],
  ["keepsake", "Keepsake: an export"],
  ["jsonl", "JSON Lines of messages"],
];
/** The server takes no larger file. */
const MOST_BYTES = 268_435_456;
const ZIP_START = [0x50, 0x4b, 0x03, 0x04];
/** How often the progress is looked at, and how long a stopped import gets to end its last step, in ms. */
const LOOK_MS = 500;
const MOST_LEARNT = 100;
/** Changes that are searched for those of an import that failed. */
const MOST_CHANGES = 20;

/**
 * Gives the elements that show what a file would bring, import it, and undo the import. `changed` runs after each write. What
 * the last import came to stays when another file is looked at.
 */
export function importParts({ user, changed }) {
  const panel = make("div", { class: "erase-panel" });
  const last = make("div", { class: "erase-panel" });
  const file = make("input", { type: "file" });
  const format = choice("format", FORMATS);
  const submit = make("button", { type: "submit", class: "primary" }, "Preview");
  const setBusy = (isBusy) => {
    for (const field of [file, format, submit]) field.disabled = isBusy;
  };
  const clear = () => panel.replaceChildren();
  file.onchange = clear;
  format.onchange = clear;
  const form = make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        const [chosen] = file.files;
        if (!chosen) panel.replaceChildren(problem(new Error("Choose a file first.")));
        else preview({ user, changed, panel, last, setBusy, file: chosen, format: format.value });
      },
    },
    labelled("File", file),
    labelled("Format", format),
    submit,
  );
  return [form, panel, last];
}

/** Tries the import, which stores nothing, and shows what it would do. */
async function preview(task) {
  const result = await work(task, {
    words: `Reading ${task.file.name}`,
    async run(signal) {
      await checkFile(task.file);
      return importFile(task.user, task.file, { format: task.format, dry_run: true }, signal);
    },
  }).catch((error) => showRefusal(task, error));
  if (!result) return;
  const isNothing = result.revision === undefined;
  showState(
    task.panel,
    isNothing ? "Nothing new in this file" : "This would be imported",
    countFacts(result),
    passedOver(result),
    learnt(result, "What would be learnt"),
    buttons(
      button(isNothing ? "Close" : "Cancel", () => task.panel.replaceChildren()),
      !isNothing && button("Import", () => runImport(task, result), "primary"),
    ),
  );
}

function showRefusal({ panel, format }, error) {
  panel.replaceChildren();
  if (error.name === "AbortError") return;
  panel.append(problem(error));
  if (error.status === 400 && format === "auto")
    panel.append(make("p", { class: "small" }, "You can also choose the format, and preview again."));
}

/** Throws if the file cannot be imported. What is seen here need not be sent. */
async function checkFile(file) {
  const start = new Uint8Array(await file.slice(0, ZIP_START.length).arrayBuffer());
  if (ZIP_START.every((byte, at) => start[at] === byte))
    throw new Error(
      "This is a ZIP archive. Unpack it, and choose the file in it: conversations.json for ChatGPT and Claude.",
    );
  if (file.size > MOST_BYTES)
    throw new Error("The file has more than 256 MB. The command line imports it: keepsake import FILE.");
}

/** Imports the file as one request. `importId` names an import that goes on. */
async function runImport(task, expected, importId = makeId()) {
  const { user, panel, last, file, format, changed } = task;
  try {
    const result = await work(task, {
      words: `Importing ${file.name}`,
      most: expected.stored + expected.memories,
      run: (signal) => importFile(user, file, { format, import_id: importId }, signal),
    });
    const text = `Imported: ${counted(result.stored, "new message", "new messages")}, ${counted(result.memories, "new memory", "new memories")}`;
    panel.replaceChildren();
    showState(
      last,
      text,
      countFacts(result),
      passedOver(result),
      learnt(result, "What was learnt"),
      result.revision !== undefined && buttons(turnButton(task, result.revision)),
    );
    // The person may be looking at another view, which this one is not kept for.
    if (!last.isConnected && result.revision !== undefined)
      toast(`${text}.`, () => undo(user, result.revision).then(changed));
  } catch (error) {
    await showFailure(task, { expected, importId, error });
  }
  changed();
}

/** Says how much of a failed or stopped import is stored, and offers to go on or to undo it. */
async function showFailure(task, { expected, importId, error }) {
  const isStopped = error.name === "AbortError";
  if (isStopped) await pause();
  const revision = await findRevision(task.user, importId).catch(() => null);
  const words =
    revision === null
      ? "It is unknown how much of it is stored. Importing the file again stores the rest."
      : revision === undefined
        ? "Nothing of it is stored."
        : "A part of it is stored. Going on stores the rest.";
  showState(
    task.panel,
    isStopped ? "The import is stopped" : "The import failed",
    !isStopped && problem(error),
    make("p", { class: "small" }, words),
    buttons(
      revision ? turnButton(task, revision) : false,
      button("Go on", () => runImport(task, expected, importId), "primary"),
    ),
  );
  // The person is on another view.
  if (!task.panel.isConnected)
    toast(`${isStopped ? "The import is stopped" : "The import failed"}. ${words}`);
}

/** Gives the newest revision that is a part of an import, if there is one. */
async function findRevision(user, importId) {
  const { items } = await getHistory(user, { limit: MOST_CHANGES });
  return items.find(({ import_id }) => import_id === importId)?.revision;
}

const TURNS = {
  undo: { label: "Undo import", done: "The import is undone", next: "redo" },
  redo: { label: "Redo import", done: "The import is back", next: "undo" },
};

/** A button that undoes an import as a whole; the next one has it back. */
function turnButton(task, revision, turn = "undo") {
  const { label, done, next } = TURNS[turn];
  const element = button(label, () =>
    whileDisabled(element, async () => {
      try {
        const receipt = await undo(task.user, revision);
        if (task.panel.contains(element)) task.panel.replaceChildren();
        showState(task.last, done, buttons(turnButton(task, receipt.revision, next)));
        task.changed();
      } catch (error) {
        element.parentNode.after(problem(error));
      }
    }),
  );
  return element;
}

/** Shows a task with its progress and a button that stops it. `most` is how much it stores; without it, nothing is counted. */
async function work({ user, panel, setBusy }, { words, most, run }) {
  const stop = new AbortController();
  const bar = make("progress", { "aria-label": words });
  const line = make("p", { class: "small", tabindex: "-1" }, `${words}…`);
  panel.replaceChildren(line, bar, buttons(button("Stop", () => stop.abort())));
  line.focus();
  say(`${words}…`);
  setBusy(true);
  const watch = most > 0 ? watchProgress(user, { most, bar, line, words }) : undefined;
  try {
    return await run(stop.signal);
  } finally {
    watch?.end();
    setBusy(false);
  }
}

/** Compares what is stored with what will be, until it is ended. */
function watchProgress(user, { most, bar, line, words }) {
  let isOver = false;
  const look = async () => {
    let before;
    while (!isOver) {
      const stored = await getStats(user).then(countStored, () => undefined);
      before ??= stored;
      if (stored !== undefined && !isOver) {
        const count = Math.min(stored - before, most);
        bar.max = most;
        bar.value = count;
        line.textContent = `${words}: ${number(count)} of ${number(most)}`;
      }
      await pause();
    }
  };
  look();
  return {
    end() {
      isOver = true;
    },
  };
}

const countStored = ({ messages, current, superseded, retracted }) =>
  messages + current + superseded + retracted;

const pause = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));

const countAll = (counts) => counts.reduce((sum, { count }) => sum + count, 0);

function countFacts({ read, stored, known, memories, passed_over: passed }) {
  return facts([
    ["Messages in it", number(read)],
    ["New messages", number(stored)],
    ["New memories", number(memories)],
    ["Known before", number(known)],
    ["Passed over", number(countAll(passed))],
  ]);
}

function passedOver({ passed_over: passed }) {
  if (passed.length === 0) return false;
  const items = passed.map(({ why, count }) => make("li", {}, `${number(count)} × ${why}`));
  return make("div", {}, make("h4", {}, "Passed over"), make("ul", { class: "passed-over" }, items));
}

function learnt({ learnt: lines }, title) {
  if (lines.length === 0) return false;
  const more = lines.length - MOST_LEARNT;
  return make(
    "details",
    { open: true },
    make("summary", {}, title),
    make(
      "ul",
      {},
      lines.slice(0, MOST_LEARNT).map(({ text }) => make("li", {}, text)),
      more > 0 && make("li", {}, `and ${counted(more, "more", "more")}`),
    ),
  );
}

const buttons = (...some) => make("div", { class: "buttons" }, ...some);

/** Shows what has become of the import, and moves the focus there. */
function showState(panel, title, ...parts) {
  panel.replaceChildren(make("h3", { tabindex: "-1" }, title), ...parts.filter(Boolean));
  panel.querySelector("h3").focus();
  say(`${title}.`);
}
