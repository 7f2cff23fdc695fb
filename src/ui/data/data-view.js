import { exportUser, getStats } from "../calls.js";
import { facts } from "../memories/memory-parts.js";
import { choice, labelled, problem, whileDisabled } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { saveFile } from "../parts/saving.js";
import { toast } from "../parts/toasts.js";
import { number } from "../parts/words.js";
import { importParts } from "./import-form.js";

const EXPORTS = [
  ["jsonl", "Everything, as JSON Lines"],
  ["pam", "Memories, as Portable AI Memory 1.0, signed"],
  ["markdown", "Memories by topic, as Markdown"],
];
const ENDINGS = { jsonl: "jsonl", pam: "pam.json", markdown: "md" };

/** More in, everything out, and how much there is. */
export function dataView({ user, changed }) {
  const sizes = make("div", {});

  async function show() {
    try {
      sizes.replaceChildren(sizeFacts(await getStats(user)));
    } catch (error) {
      sizes.replaceChildren(problem(error, show));
    }
  }

  function afterChange() {
    changed();
    show();
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Import and export"),
    make("h3", {}, "Import"),
    make(
      "p",
      { class: "lead" },
      "An export of ChatGPT, Claude, Gemini, mem0, Letta, Telegram, WhatsApp or Keepsake, a character card, a Portable AI Memory, or JSON lines. You first see what it would bring. What is known is left alone, and afterwards the import can be undone.",
    ),
    ...importParts({ user, changed: afterChange }),
    make("h3", {}, "Export"),
    make(
      "p",
      { class: "lead" },
      "JSON Lines have everything that is stored for this user: messages, memories, associations. Another Keepsake imports them as they are. The other formats have the memories alone.",
    ),
    exportForm(user),
    make("h3", {}, "What is stored"),
    sizes,
  );
  return { element, title: "Import and export", show };
}

function exportForm(user) {
  const format = choice("export", EXPORTS);
  const save = make("button", { type: "submit" }, "Export");
  const run = async () => {
    try {
      const file = await exportUser(user, format.value);
      saveFile(`keepsake-${user.replace(/[^\w-]+/g, "_")}.${ENDINGS[format.value]}`, file);
      say("Exported.");
    } catch (error) {
      toast(error.message);
    }
  };
  return make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        whileDisabled(save, run);
      },
    },
    labelled("What to export", format),
    save,
  );
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
