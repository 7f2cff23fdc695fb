import { getSession } from "./calls.js";
import { make } from "./make.js";

/** The most messages that are shown. */
const MOST_SHOWN = 1000;

/**
 * The messages of a conversation that were said before the page was loaded. `load` reads them, and reads them again after an
 * erasure, so that no erased word stays on the screen.
 */
export function earlierMessages(user, session) {
  const element = make("div", { class: "earlier" });
  /** The messages that there were at first: later ones are shown as they are said. */
  let ids;

  async function load() {
    try {
      const { items, total } = await getSession(user, session, { limit: MOST_SHOWN });
      ids ??= new Set(items.map(({ id }) => id));
      const note = make("p", { class: "note" }, "The beginning is shown. Conversations has all of it.");
      const shown = items.filter(({ id }) => ids.has(id)).map(messageElement);
      element.replaceChildren(...(total > items.length ? [note] : []), ...shown);
    } catch (error) {
      // Without a message left there is no conversation.
      const parts =
        error.status === 404 ? [] : [make("p", { class: "problem", role: "alert" }, error.message)];
      element.replaceChildren(...parts);
    }
  }

  return { element, load };
}

function messageElement({ role, content }) {
  if (role === "user") return make("p", { class: "said" }, content);
  return make("div", { class: "reply" }, make("p", { class: "answer" }, content));
}
