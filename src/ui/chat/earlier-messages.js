import { getSession } from "../calls.js";
import { moreButton, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { number } from "../parts/words.js";

/** The number of messages that are shown at first, the newest, and that each click adds. */
const PAGE = 200;

/**
 * The messages of a conversation that were said before the page was loaded, with a button that goes back. `load` reads them,
 * and reads them again after an erasure, so that no erased word stays on the screen.
 */
export function earlierMessages(user, session) {
  const element = make("div", { class: "earlier" });
  /** The turn of the first message that is not shown here: from it on they are shown as they are said. */
  let end;
  /** Newest first. */
  let items = [];
  let cursor;
  let total = 0;
  let run = 0;

  /** Reads at least `count` messages, going back from `from`. */
  async function readBack(count, from) {
    const found = [];
    let next = from;
    do {
      const page = await getSession(user, session, { sort: "newest", limit: PAGE, cursor: next });
      end ??= (page.items[0]?.turn ?? -1) + 1;
      found.push(...page.items.filter(isEarlier));
      total = page.total;
      next = page.cursor;
    } while (next && found.length < count);
    return { found, next };
  }

  const isEarlier = ({ turn }) => turn < end;

  async function load() {
    run += 1;
    const thisRun = run;
    try {
      const { found, next } = await readBack(Math.max(PAGE, items.length));
      if (thisRun !== run) return;
      [items, cursor] = [found, next];
      draw();
    } catch (error) {
      if (thisRun !== run) return;
      // Without a message left there is no conversation.
      if (error.status !== 404) return element.replaceChildren(problem(error, load));
      end ??= 0;
      items = [];
      element.replaceChildren();
    }
  }

  async function goBack() {
    const thisRun = run;
    const { found, next } = await readBack(PAGE, cursor);
    if (thisRun !== run) return true;
    items.push(...found);
    cursor = next;
    const scroller = element.closest(".log");
    const fromEnd = scroller ? scroller.scrollHeight - scroller.scrollTop : 0;
    draw();
    if (scroller) scroller.scrollTop = scroller.scrollHeight - fromEnd;
    return true;
  }

  function draw() {
    const shown = items.filter(isEarlier).map(messageElement).reverse();
    const left = () => `Show earlier messages (${number(Math.max(0, total - items.length))})`;
    element.replaceChildren(...(cursor ? [moreButton(left, goBack)] : []), ...shown);
  }

  /** Leaves the messages from a turn on to the conversation that goes on. */
  function endBefore(turn) {
    if (end !== undefined && turn >= end) return;
    end = turn;
    draw();
  }

  return { element, load, endBefore };
}

function messageElement({ role, content }) {
  const text = content || "(no text)";
  if (role === "user") return make("p", { class: "said" }, text);
  return make("div", { class: "reply" }, make("p", { class: "answer" }, text));
}
