import { find, make } from "../parts/make.js";
import { linkTo } from "../parts/router.js";

/** Pages, in the order of the navigation: name, text, and whether a phone's bar shows it. */
const PAGES = [
  ["", "Chat", true],
  ["memories", "Memories", true],
  ["people", "People and things", false],
  ["conversations", "Conversations", true],
  ["decide", "To decide", false],
  ["timeline", "Timeline", false],
  ["map", "Map", false],
  ["overview", "Overview", false],
  ["attachments", "Images and recordings", false],
  ["erase", "Erase", true],
  ["sharing", "Sharing", false],
  ["data", "Import and export", false],
  ["upkeep", "Upkeep", false],
  ["context", "What models see", false],
  ["server", "Server and costs", false],
  ["settings", "Settings", false],
  ["api", "API", false],
  ["tour", "Tour", false],
];
/** Pages that begin a group: to look back, to keep control, and for those who run a server or write programs. */
const GROUP_STARTS = new Set(["timeline", "erase", "context"]);

const addressOf = (name) => (name === "" ? "#/" : linkTo(name));

/** Draws the navigation: a column on wide screens, a bar at the bottom of narrow ones, where the rest is under "More". */
export function drawNavigation() {
  const items = PAGES.map(([name, text, isMain]) =>
    make(
      "li",
      {
        class: [!isMain && "wide-only", GROUP_STARTS.has(name) && "group-start"].filter(Boolean).join(" "),
      },
      make(
        "a",
        { href: addressOf(name), "data-page": name },
        text,
        make("span", { class: "count", "data-count": name }),
      ),
    ),
  );
  const more = make(
    "li",
    { class: "narrow-only" },
    make("a", { href: linkTo("more"), "data-page": "more" }, "More"),
  );
  find("nav").replaceChildren(make("ul", {}, items, more));
}

/** Marks the page that is shown. */
export function markPage(name) {
  const isInBar = PAGES.some(([page, , isMain]) => page === name && isMain);
  for (const link of find("nav").querySelectorAll("a")) {
    const { page } = link.dataset;
    const isHere = page === name || (page === "more" && !isInBar);
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Shows a number beside a page's name; none for 0. */
export function showCount(name, count) {
  const place = find("nav").querySelector(`[data-count="${name}"]`);
  if (place) place.textContent = count > 0 ? String(count) : "";
}

/** The pages that a phone's bar has no room for. */
export function moreView() {
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "More"),
    make(
      "ul",
      { class: "more-list" },
      PAGES.filter(([, , isMain]) => !isMain).map(([name, text]) =>
        make("li", {}, make("a", { href: addressOf(name) }, text)),
      ),
    ),
  );
  return { element, title: "More", show() {} };
}
