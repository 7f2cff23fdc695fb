/**
 * Makes an element. Children that are texts become text nodes, and there is no other way in: what people said is
 * never read as HTML. A property that begins with "on" is a listener; `undefined` and `false` leave a property out.
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

/** The element with an id, which the page is known to have. */
export function find(id) {
  return document.getElementById(id);
}

/** Says something to people who hear the page. */
export function say(text) {
  find("said").textContent = text;
}
