import { binMemory, changeMemory, getMemory, undo } from "../calls.js";
import { button, labelled, problem, whileDisabled } from "../parts/form-parts.js";
import { find, make } from "../parts/make.js";
import { textOf } from "../parts/memory-row.js";
import { toast } from "../parts/toasts.js";
import { counted } from "../parts/words.js";

/** The most memories that are merged at once: a person reads all of them. */
export const MOST_MERGED = 20;

const revisionOf = (answer) => (answer.receipt ?? answer).revision;

/** Asks which of some memories stays, and in which words. `done` runs after the merge, and after its undo. */
export async function askToMerge(user, ids, done) {
  const dialog = find("dialog");
  const place = make("div", {});
  try {
    const memories = await Promise.all(ids.map((id) => getMemory(user, id)));
    const form = mergeForm(memories, {
      cancel: () => dialog.close(),
      async merge(stays, text) {
        try {
          await mergeInto(user, { stays, text, others: memories.filter((one) => one !== stays), done });
          dialog.close();
        } catch (error) {
          place.replaceChildren(problem(error));
        }
      },
      place,
    });
    dialog.replaceChildren(form);
    dialog.showModal();
    form.querySelector("input:checked").focus();
  } catch (error) {
    toast(error.message);
  }
}

function mergeForm(memories, { cancel, merge, place }) {
  let stays = memories[0];
  const others = memories.length === 2 ? "The other moves" : `The ${memories.length - 1} others move`;
  const text = make("textarea", { rows: "3", required: true, maxlength: "10000" });
  text.value = stays.text;
  const options = memories.map((memory) =>
    make(
      "li",
      {},
      make(
        "label",
        { class: "choice" },
        make("input", {
          type: "radio",
          name: "stays",
          checked: memory === stays,
          onchange() {
            stays = memory;
            text.value = memory.text;
          },
        }),
        " ",
        textOf(memory),
      ),
    ),
  );
  const submit = make("button", { type: "submit", class: "primary" }, "Merge");
  return make(
    "form",
    {
      class: "edit",
      onsubmit: (event) => {
        event.preventDefault();
        whileDisabled(submit, () => merge(stays, text.value.trim()));
      },
    },
    make("h2", { id: "dialog-title" }, `Merge ${memories.length} memories`),
    make("fieldset", { class: "choices" }, make("legend", {}, "Which one stays"), make("ul", {}, options)),
    labelled("In these words", text),
    make(
      "p",
      { class: "small" },
      `The one that stays keeps its source, its dates and its associations. ${others} to the bin with its source. You can undo all of it.`,
    ),
    place,
    make("div", { class: "buttons" }, button("Cancel", cancel), submit),
  );
}

/** Rewords the memory that stays, and moves the others to the bin. A failure undoes what was done before it. */
async function mergeInto(user, { stays, text, others, done }) {
  const revisions = [];
  const undoAll = async () => {
    for (const revision of revisions) await undo(user, revision);
    done();
  };
  try {
    if (text !== "" && text !== stays.text)
      revisions.unshift(revisionOf(await changeMemory(user, stays.id, { content: text })));
    for (const { id } of others) revisions.unshift(revisionOf(await binMemory(user, id)));
  } catch (error) {
    await undoAll();
    throw error;
  }
  toast(`Merged: ${counted(others.length + 1, "memory", "memories")} into one.`, undoAll);
  done();
}
