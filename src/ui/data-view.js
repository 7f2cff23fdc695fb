import { exportUser, getStats, importLines, undo } from "./calls.js";
import { button, labelled, problem } from "./form-parts.js";
import { make, say } from "./make.js";
import { facts } from "./memory-parts.js";
import { saveFile } from "./saving.js";
import { toast } from "./toasts.js";
import { counted, number } from "./words.js";

/** Lines sent at once: few enough that progress is seen. */
const LINES_AT_ONCE = 200;

/** Everything out, or more in. */
export function dataView({ user, changed }) {
  const place = make("div", {});
  const sizes = make("div", {});
  const file = make("input", { type: "file", accept: ".jsonl,.ndjson,.json,application/x-ndjson" });
  const form = make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        if (file.files.length === 0) place.replaceChildren(problem(new Error("Choose a file first.")));
        else importFile(user, file.files[0], place, afterChange);
      },
    },
    labelled("File with JSON lines: messages, or an export", file),
    make("button", { type: "submit", class: "primary" }, "Import"),
  );
  const save = button(
    "Export",
    async () => {
      save.disabled = true;
      try {
        saveFile(`keepsake-${user.replace(/[^\w-]+/g, "_")}.jsonl`, await exportUser(user));
        say("Exported.");
      } catch (error) {
        toast(error.message);
      }
      save.disabled = false;
    },
    "small-button fit",
  );

  function afterChange() {
    changed();
    show();
  }

  async function show() {
    try {
      sizes.replaceChildren(sizeFacts(await getStats(user)));
    } catch (error) {
      sizes.replaceChildren(problem(error));
    }
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Import and export"),
    sizes,
    make("h3", {}, "Export"),
    make(
      "p",
      { class: "lead" },
      `Everything that is stored about ${user}, as JSON lines: messages, memories, associations. Another Keepsake imports it as it is.`,
    ),
    save,
    make("h3", {}, "Import"),
    make(
      "p",
      { class: "lead" },
      "What is there already is left alone, so a file can be imported again. Afterwards the import can be undone.",
    ),
    form,
    place,
  );
  return { element, title: "Import and export", show };
}

function sizeFacts({ current, superseded, retracted, messages, links, revision }) {
  return facts([
    ["True now", number(current)],
    ["Outdated", number(superseded)],
    ["In the bin", number(retracted)],
    ["Messages", number(messages)],
    ["Associations", number(links)],
    ["Changes so far", number(revision)],
  ]);
}

/** Sends the lines of a file in parts, and shows how far it is. */
async function importFile(user, file, place, changed) {
  const bar = make("progress", { max: "1", value: "0", "aria-label": "Import" });
  const line = make("p", { class: "small", role: "status" }, "Reading…");
  place.replaceChildren(bar, line);
  const sum = { read: 0, stored: 0, known: 0, memories: 0 };
  try {
    const lines = (await file.text()).split("\n").filter((one) => one.trim() !== "");
    const { revision: before } = await getStats(user);
    for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
      const part = await importLines(user, lines.slice(from, from + LINES_AT_ONCE).join("\n"));
      for (const name of Object.keys(sum)) sum[name] += part[name];
      bar.value = Math.min(1, (from + LINES_AT_ONCE) / lines.length);
      line.textContent = inWords(sum);
    }
    const { revision: after } = await getStats(user);
    place.replaceChildren(
      make("p", { class: "checked", role: "status" }, `Imported: ${inWords(sum)}.`),
      after > before ? undoButton(user, { before, after, place, changed }) : "",
    );
    changed();
  } catch (error) {
    place.replaceChildren(
      problem(error),
      make("p", { class: "small" }, `Until then: ${inWords(sum)}. Importing the file again completes it.`),
    );
    changed();
  }
}

const inWords = ({ stored, known, memories }) =>
  `${counted(stored, "new message", "new messages")}, ${counted(memories, "new memory", "new memories")}, ${number(known)} known before`;

/** Undoes every change since before the import, newest first. */
function undoButton(user, { before, after, place, changed }) {
  const element = button("Undo import", async () => {
    element.disabled = true;
    try {
      for (let revision = after; revision > before; revision -= 1) await undo(user, revision);
      place.replaceChildren(make("p", { class: "checked", role: "status" }, "The import is undone."));
    } catch (error) {
      place.append(problem(error));
    }
    changed();
  });
  return element;
}
