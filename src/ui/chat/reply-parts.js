import { receiptParts } from "../erasure/forget.js";
import { make } from "../parts/make.js";
import { linkTo } from "../parts/router.js";
import { ACTIONS, counted, day, goneInWords } from "../parts/words.js";

const EXAMPLES = [
  ["Tell me something about you", "I use Shram and Magnet as productivity tools."],
  ["Ask a question, now or in a new conversation", "What productivity tools do I use?"],
  ["Say what changed", "I don't use Magnet anymore."],
  ["Have something forgotten", "Forget that I ever mentioned Magnet."],
];

/** Shows the introduction of an empty conversation, with four example messages. */
export function welcome(choose) {
  return make(
    "div",
    { class: "welcome" },
    make("h3", {}, "What should I remember?"),
    make(
      "p",
      {},
      "Tell me something about yourself in your own words. I remember it, use it in later conversations, update it when it changes, and erase it when you ask. For example:",
    ),
    make(
      "ol",
      {},
      EXAMPLES.map(([title, text]) =>
        make(
          "li",
          {},
          make(
            "button",
            { type: "button", onclick: () => choose(text) },
            make("span", {}, title),
            make("q", {}, text),
          ),
        ),
      ),
    ),
    make(
      "p",
      { class: "ways" },
      make("a", { href: linkTo("tour") }, "Take the tour"),
      " in four clicks, or ",
      make("a", { href: linkTo("data") }, "import"),
      " what another program knows.",
    ),
  );
}

/** Shows what a write did: a chip for each memory, and one for each erasure with its receipt. */
export function chips(receipt) {
  const lines = receipt.memories.filter(({ action }) => action !== "erased");
  const erasures = receipt.erasures ?? [];
  if (lines.length + erasures.length === 0) return [];
  return [
    make(
      "ul",
      { class: "chips", "aria-label": "What changed" },
      lines.map(({ action, display, why: reason }) => chip(action, display || reason || "")),
      erasures.map((erasure) => chip("erased", goneInWords(erasure), receiptFold(erasure))),
    ),
  ];
}

function chip(action, text, ...more) {
  const [sign, word] = ACTIONS[action] ?? ["·", action];
  return make(
    "li",
    { class: `chip ${action}` },
    make("span", { class: "sign", "aria-hidden": "true" }, sign),
    make("span", {}, make("b", {}, word), ` ${text}`, ...more),
  );
}

export function receiptFold(receipt) {
  return make("details", { class: "fold" }, make("summary", {}, "Receipt"), ...receiptParts(receipt));
}

const WAITING_TITLES = {
  erase: "This would be erased:",
  supersede: "This would be marked as outdated:",
  retract: "This would move to the bin:",
};

/** Shows what a request that is asked back would do, with buttons. `agree` is called for a yes. */
export function waitingPart(waiting = [], agree) {
  return waiting.map(({ action, memories, quotes }) => {
    const items = [...memories.map(({ text }) => text), ...quotes.map(({ quote }) => quote.trim())];
    const element = make(
      "div",
      { class: "plan waiting-for-yes" },
      make("p", { class: "small" }, WAITING_TITLES[action]),
      make(
        "ul",
        {},
        items.map((text) => make("li", {}, text)),
      ),
    );
    const close = (run) => () => {
      element.querySelector(".buttons").remove();
      run?.();
    };
    element.append(
      make(
        "div",
        { class: "buttons" },
        make("button", { type: "button", onclick: close() }, "Leave it"),
        make("button", { type: "button", class: "danger", onclick: close(agree) }, "Yes, do it"),
      ),
    );
    return element;
  });
}

/** Shows the sources of an answer. */
export function why(used) {
  const sources = used.flatMap((item) =>
    item.sources.length > 0
      ? item.sources.map((source) => [source.quote, source.at])
      : [[item.text, item.at]],
  );
  const distinct = [...new Map(sources.map((source) => [source.join(" "), source])).values()];
  if (distinct.length === 0) return [];
  return [
    make(
      "details",
      { class: "fold why", ontoggle: showWhole },
      make("summary", {}, `Why? ${counted(distinct.length, "source", "sources")}`),
      make(
        "ul",
        {},
        distinct.map(([quote, at]) =>
          make("li", {}, make("q", {}, quote), " ", make("time", { datetime: at }, day(at))),
        ),
      ),
    ),
  ];
}

/** Scrolls to what was opened: at the end of the chat it would be under the message box. */
function showWhole({ currentTarget }) {
  if (currentTarget.open) currentTarget.scrollIntoView({ block: "nearest" });
}
