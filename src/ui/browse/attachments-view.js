import { addAttachment, eraseAttachment, listAttachments } from "../calls.js";
import { attachmentFigures } from "../parts/attachment-figure.js";
import { button, choice, emptyState, labelled, problem, whileDisabled } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { linkTo } from "../parts/router.js";
import { moment } from "../parts/words.js";

const TYPES = [
  ["", "Images and recordings"],
  ["image", "Images"],
  ["audio", "Recordings"],
];
const ACCEPTED = "image/png,image/jpeg,image/gif,image/webp,audio/*";
const PAGE_SIZE = 50;

/** The images and recordings of the user's messages, newest first, with a form that adds one. */
export function attachmentsView({ user, changed }) {
  const place = make("div", {});
  const type = choice("type", TYPES);
  type.onchange = () => load();
  let run = 0;

  async function load(cursor) {
    run += 1;
    const thisRun = run;
    try {
      const page = await listAttachments(user, { type: type.value, limit: PAGE_SIZE, cursor });
      if (thisRun === run) draw(page, cursor !== undefined);
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error));
    }
  }

  function draw({ items, total, cursor }, isMore) {
    place.querySelector(".more-button")?.remove();
    const rows = items.map((one) => attachmentRow(user, one, afterChange));
    if (!isMore) {
      place.replaceChildren(
        total === 0
          ? emptyState("Nothing yet", "Add an image or a recording, or send one in a conversation.")
          : make("ul", { class: "plain-rows" }, rows),
      );
    } else place.querySelector("ul")?.append(...rows);
    if (cursor) place.append(button("Show more", () => load(cursor), "more-button"));
  }

  async function afterChange(text) {
    say(text);
    changed();
    await load();
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Images and recordings"),
    make(
      "p",
      { class: "lead" },
      "Each is kept with its message. It is found by what it shows or says, so describe it.",
    ),
    addForm(user, afterChange),
    labelled("Show", type),
    place,
  );
  return { element, title: "Images and recordings", show: () => load() };
}

function addForm(user, afterChange) {
  const file = make("input", { type: "file", accept: ACCEPTED, required: true });
  const description = make("input", { maxlength: "500", autocomplete: "off", placeholder: "My cat Quixote" });
  const words = make("input", { maxlength: "500", autocomplete: "off" });
  const failure = make("div", {});
  const add = make("button", { type: "submit", class: "primary" }, "Add");
  const send = async () => {
    failure.replaceChildren();
    try {
      const query = { description: description.value.trim(), text: words.value.trim() };
      await addAttachment(user, file.files[0], query);
      for (const field of [file, description, words]) field.value = "";
      await afterChange("Added.");
    } catch (error) {
      failure.replaceChildren(problem(error));
    }
  };
  return make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        whileDisabled(add, send);
      },
    },
    make(
      "div",
      { class: "filter-grid" },
      labelled("File", file),
      labelled("What it shows or says", description),
      labelled("Your words with it", words),
    ),
    add,
    failure,
  );
}

function attachmentRow(user, shown, afterChange) {
  const { id, type, media_type: mediaType, size, url, description, described_by: by, session, at } = shown;
  const failure = make("div", {});
  const erase = button("Erase…", ask, "small-button danger-text");
  function ask() {
    erase.replaceWith(really);
    really.focus();
  }
  const really = button(
    "Erase it for good",
    () =>
      whileDisabled(really, async () => {
        try {
          await eraseAttachment(user, id);
          await afterChange("Erased.");
        } catch (error) {
          failure.replaceChildren(problem(error));
        }
      }),
    "small-button danger",
  );
  return make(
    "li",
    { class: "attachment-row" },
    attachmentFigures(user, { parts: [{ type, id, mediaType, size, url, description }] }),
    make("p", {}, description ?? "No description yet."),
    make(
      "p",
      { class: "small" },
      moment(at),
      by === "model" ? ", described by a model" : "",
      session === undefined ? "" : ", ",
      session === undefined ? "" : make("a", { href: linkTo("conversations", session) }, session),
    ),
    erase,
    failure,
  );
}
