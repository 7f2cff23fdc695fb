/**
 * Creates an element. Strings become text nodes, never HTML, so messages cannot inject markup. A property that begins with
 * "on" is a listener. Properties that are `undefined` or `false` are left out.
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== false));
  return element;
}

/** Gives the element with an id. The page must contain it. */
export function find(id) {
  return document.getElementById(id);
}

/** Announces a text to screen readers. */
export function say(text) {
  find("said").textContent = text;
}

/** Gives a new id. `crypto.randomUUID` is missing unless the page is served over TLS or locally. */
export function makeId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
