import { addMemory } from "../calls.js";
import { button, choice, labelled, problem, toDayField, toTime } from "../parts/form-parts.js";
import { find, make } from "../parts/make.js";
import { KIND_NAMES } from "../parts/words.js";

const KIND_OPTIONS = Object.entries(KIND_NAMES);

/** The fields of a memory that a person may change. */
function memoryFields(memory) {
  const text = make("textarea", { rows: "3", required: true, maxlength: "10000" });
  text.value = memory.text ?? "";
  return {
    text,
    kind: choice("kind", KIND_OPTIONS, memory.kind ?? "fact"),
    importance: make("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.05",
      value: memory.importance ?? 0.5,
    }),
    from: make("input", { type: "date", value: toDayField(memory.valid_from) }),
    to: make("input", { type: "date", value: toDayField(memory.valid_to) }),
    expires: make("input", { type: "date", value: toDayField(memory.expires_at) }),
  };
}

/** The fields of a draft: their values by name. */
function readFields(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
}

/**
 * The form to correct a memory. `draft` fills it with what was typed before. `save` gets only what differs; `keep` gets the draft
 * after each change, or nothing if it says what the memory says.
 */
export function editForm(memory, { draft, keep, save, cancel }) {
  const fields = memoryFields(memory);
  for (const [name, field] of Object.entries(fields)) field.value = draft?.[name] ?? field.value;
  const isChanged = () => Object.keys(changesOf(fields, memory)).length > 0;
  const element = make(
    "form",
    {
      class: "edit",
      onsubmit: (event) => {
        event.preventDefault();
        const changes = changesOf(fields, memory);
        if (Object.keys(changes).length === 0) cancel();
        else save(changes);
      },
      oninput: () => keep(isChanged() ? { ...readFields(fields), version: memory.version } : undefined),
      onkeydown: (event) => {
        if (event.key === "Escape") cancel();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element.requestSubmit();
      },
    },
    make("h3", {}, "Edit memory"),
    make(
      "p",
      { class: "small" },
      "Write about “the user”: the page shows it as “you”. The earlier version stays in the history, and its source is unchanged.",
    ),
    draft &&
      draft.version !== memory.version &&
      make(
        "p",
        { class: "problem" },
        "The memory has changed since you wrote this. Saving replaces that change.",
      ),
    labelled("Statement", fields.text),
    grid(fields, labelled("True until", fields.to)),
    make(
      "div",
      { class: "buttons" },
      button("Cancel", cancel),
      make("button", { type: "submit", class: "primary" }, "Save"),
    ),
  );
  return element;
}

function grid({ kind, importance, from, expires }, ...more) {
  return make(
    "div",
    { class: "filter-grid" },
    labelled("Kind", kind),
    labelled("Importance", importance),
    labelled("True from", from),
    ...more,
    labelled("Disappears on", expires),
  );
}

function changesOf(fields, memory) {
  const importance = Number(fields.importance.value);
  const changes = {
    content: fields.text.value.trim(),
    type: fields.kind.value,
    importance,
    valid_from: changedDay(fields.from, memory.valid_from),
    valid_to: changedDay(fields.to, memory.valid_to),
    expires_at: changedDay(fields.expires, memory.expires_at),
    clear: clearedTimes(fields, memory),
  };
  if (changes.content === memory.text || changes.content === "") delete changes.content;
  if (changes.type === memory.kind) delete changes.type;
  if (Math.abs(importance - memory.importance) < 0.025) delete changes.importance;
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/** The times whose fields were emptied; `undefined` for none. */
function clearedTimes({ from, to, expires }, { valid_from, valid_to, expires_at }) {
  const cleared = [
    [from, valid_from, "valid_from"],
    [to, valid_to, "valid_to"],
    [expires, expires_at, "expires_at"],
  ].flatMap(([field, before, name]) => (before && field.value === "" ? [name] : []));
  return cleared.length > 0 ? cleared : undefined;
}

/** The time of a day that was changed. */
function changedDay(field, before) {
  return field.value === toDayField(before) ? undefined : toTime(field.value);
}

/** Asks for a new memory in a dialog. `added` gets its id. */
export function addMemoryForm(user, added) {
  const dialog = find("dialog");
  const fields = memoryFields({});
  const place = make("div", {});
  const form = make(
    "form",
    {
      class: "edit",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          const { id } = await addMemory(user, {
            content: fields.text.value.trim(),
            type: fields.kind.value,
            importance: Number(fields.importance.value),
            ...(fields.from.value ? { valid_from: toTime(fields.from.value) } : {}),
            ...(fields.expires.value ? { expires_at: toTime(fields.expires.value) } : {}),
          });
          dialog.close();
          added(id);
        } catch (error) {
          place.replaceChildren(problem(error));
        }
      },
    },
    make("h2", { id: "dialog-title" }, "Add a memory"),
    labelled("Statement, in one sentence", fields.text),
    grid(fields),
    place,
    make(
      "div",
      { class: "buttons" },
      button("Cancel", () => dialog.close()),
      make("button", { type: "submit", class: "primary" }, "Add"),
    ),
  );
  dialog.replaceChildren(form);
  dialog.showModal();
  fields.text.focus();
}
