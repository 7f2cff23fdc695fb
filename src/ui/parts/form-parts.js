import { make } from "./make.js";

let count = 0;

/** A label with its field below. `field` is an element without an id. */
export function labelled(text, field, look = "field") {
  count += 1;
  field.id = field.id || `field-${count}`;
  return make("div", { class: look }, make("label", { for: field.id }, text), field);
}

/** A choice. `options` are `[value, text]`. */
export function choice(name, options, value) {
  const field = make(
    "select",
    { name },
    options.map(([one, text]) => make("option", { value: one, selected: one === value }, text)),
  );
  return field;
}

export function button(text, onclick, look) {
  return make("button", { type: "button", class: look, onclick }, text);
}

/** Runs `work` while a button is disabled. */
export async function whileDisabled(element, work) {
  element.disabled = true;
  try {
    await work();
  } finally {
    element.disabled = false;
  }
}

/** An ISO day in a date field as an ISO time: the beginning of that day where the browser is. */
export function toTime(value) {
  return value === "" ? undefined : new Date(`${value}T00:00`).toISOString();
}

/** The day of an ISO time where the browser is, for a date field. */
export function toDayField(time) {
  if (!time) return "";
  const date = new Date(time);
  const pad = (part) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** A message that stands for content: nothing there, or a failure. */
export function emptyState(title, text, ...more) {
  return make("div", { class: "nothing" }, make("h3", {}, title), text && make("p", {}, text), ...more);
}

/** A failure in words. With `again`, there is a button that tries it once more. */
export function problem(error, again) {
  const text = make("p", { class: "problem", role: "alert" }, error.message);
  return again ? make("div", { class: "failure" }, text, button("Try again", again)) : text;
}

/**
 * A button that reads on. `read` shows what comes next, and gives whether there is still more; then the button stays. A failure
 * is said beside the button, and a click tries again. `label` gives its text.
 */
export function moreButton(label, read) {
  const place = make("div", { class: "more-place" });
  const more = button(label(), () => whileDisabled(more, readOn), "more");
  async function readOn() {
    place.querySelector(".problem")?.remove();
    try {
      if (!(await read())) return place.remove();
      more.textContent = label();
    } catch (error) {
      place.append(problem(error));
    }
  }
  place.append(more);
  return place;
}
