import { createKey, listKeys, revokeKey } from "../calls.js";
import { button, labelled, problem, toTime } from "../parts/form-parts.js";
import { find, make, say } from "../parts/make.js";
import { day } from "../parts/words.js";

const SCOPES = [
  ["read", "Read"],
  ["write", "Write"],
  ["erase", "Erase"],
  ["admin", "Administer"],
];

/** The keys of the project: a list, a form for another, and their end. Only an administrator's key may see them. */
export function keysPart() {
  const list = make("div", {});
  const failure = make("div", {});
  const issued = make("div", { role: "status" });
  const form = keyForm(create);
  const element = make(
    "section",
    { class: "panel keys" },
    make("h3", {}, "Keys"),
    list,
    failure,
    issued,
    form,
  );

  async function load() {
    try {
      const { items } = await listKeys();
      form.hidden = false;
      list.replaceChildren(
        make(
          "ul",
          { class: "plain-rows" },
          items.map((key) =>
            keyRow(key, () => confirmEnd(key, () => act(() => revokeKey(key.id), "Revoked."))),
          ),
        ),
      );
    } catch (error) {
      form.hidden = true;
      list.replaceChildren(error.status === 403 ? forAdministratorsOnly() : problem(error));
    }
  }

  async function act(work, done) {
    failure.replaceChildren();
    try {
      const result = await work();
      say(done);
      return result;
    } catch (error) {
      failure.replaceChildren(problem(error));
      return undefined;
    } finally {
      await load();
    }
  }

  async function create(fields) {
    const made = await act(() => createKey(fields), "A key was made.");
    if (!made) return;
    const field = make("input", {
      readonly: true,
      value: made.key,
      class: "issued-key",
      onfocus: () => field.select(),
    });
    issued.replaceChildren(
      labelled("The new key. It is shown this once: copy it now.", field),
      button("Done", () => issued.replaceChildren(), "small-button"),
    );
    field.focus();
  }

  /** Takes a new key off the page. */
  const leave = () => issued.replaceChildren();

  return { element, load, leave };
}

function forAdministratorsOnly() {
  return make("p", { class: "small" }, "Only an administrator's key may manage keys.");
}

function keyRow(key, end) {
  const {
    id,
    label,
    scopes,
    user_id: user,
    created_at: made,
    last_used_at: used,
    expires_at: until,
    status,
  } = key;
  const facts = [
    scopes.join(", "),
    user && `only ${user}`,
    `made ${day(made)}`,
    used ? `last used ${day(used)}` : "not used yet",
    until && (status === "expired" ? `expired ${day(until)}` : `expires ${day(until)}`),
  ].filter(Boolean);
  return make(
    "li",
    { class: "key-row" },
    make("span", {}, make("b", {}, label ?? id), label ? make("code", {}, ` ${id}`) : ""),
    make("span", { class: "small" }, facts.join(" · ")),
    make(
      "button",
      { type: "button", class: "small-button", onclick: end, "aria-label": `Revoke ${label ?? id}` },
      "Revoke",
    ),
  );
}

/** Asks before a key ends: what uses it stops at once. */
function confirmEnd({ id, label }, end) {
  const dialog = find("dialog");
  const close = () => dialog.close();
  dialog.replaceChildren(
    make("h2", { id: "dialog-title" }, `Revoke ${label ?? id}?`),
    make("p", {}, "What uses this key stops at once. If you are signed in with it, you are signed out."),
    make(
      "div",
      { class: "buttons" },
      button("Keep it", close),
      button(
        "Revoke",
        () => {
          close();
          end();
        },
        "danger",
      ),
    ),
  );
  dialog.showModal();
}

function keyForm(create) {
  const label = make("input", { maxlength: "100", autocomplete: "off", placeholder: "the phone" });
  const user = make("input", { maxlength: "200", autocomplete: "off", placeholder: "all users" });
  const until = make("input", { type: "date" });
  const boxes = SCOPES.map(([name, text]) => [
    name,
    make("input", { type: "checkbox", checked: name === "read" || name === "write" }),
    text,
  ]);
  const form = make(
    "form",
    {
      class: "erase-form",
      hidden: true,
      onsubmit: async (event) => {
        event.preventDefault();
        const words = (field) => field.value.trim() || undefined;
        await create({
          label: words(label),
          user_id: words(user),
          expires_at: toTime(until.value),
          scopes: boxes.filter(([, box]) => box.checked).map(([name]) => name),
        });
        form.reset();
      },
    },
    make("h4", {}, "Make a key"),
    make(
      "div",
      { class: "filter-grid" },
      labelled("Name", label),
      labelled("Only for the user", user),
      labelled("Expires", until),
    ),
    make(
      "fieldset",
      { class: "scopes" },
      make("legend", {}, "What it may do"),
      boxes.map(([, box, text]) => make("label", {}, box, ` ${text}`)),
    ),
    make("button", { type: "submit", class: "primary" }, "Make a key"),
  );
  return form;
}
