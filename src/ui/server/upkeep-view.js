import { optimize, undo } from "../calls.js";
import { button, emptyState, labelled, problem, whileDisabled } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { linkTo } from "../parts/router.js";
import { toast } from "../parts/toasts.js";
import { counted } from "../parts/words.js";
import { embedderPart } from "./embedder-part.js";

/** What each job of the upkeep does to a memory, in words. */
const DEEDS = {
  expired: "ends, because its time is over",
  merged: "is merged into",
  faded: "has faded; it ranks lower, and stays",
  archived: "is archived",
};

/** Upkeep of the memories: shows what it would do, does it, and takes it back. And the embedder, if there is a choice. */
export function upkeepView({ user, changed }) {
  const age = make("input", { type: "number", min: "0", max: "100000", placeholder: "default" });
  const importance = make("input", {
    type: "number",
    min: "0",
    max: "1",
    step: "0.05",
    placeholder: "default",
  });
  const place = make("div", { "aria-live": "polite" });
  const embedder = embedderPart(user);
  const toQuery = (isTrial) => ({
    max_age_days: age.value,
    min_importance: importance.value,
    dry_run: isTrial ? "true" : undefined,
  });
  const preview = make("button", { type: "submit" }, "Show what it would do");

  /** Runs the upkeep, and shows its jobs. */
  async function run(isTrial) {
    try {
      const done = await optimize(user, toQuery(isTrial));
      place.replaceChildren(...jobParts(done));
      const isUseful = done.jobs.some(({ memories }) => memories.some(({ action }) => action !== "faded"));
      if (isTrial && isUseful) place.append(doItButton());
      if (isTrial) return say("Nothing has been changed yet.");
      changed();
      const revisions = done.jobs.flatMap(({ revisions: made = [] }) => made);
      toast("The upkeep is done.", revisions.length > 0 ? () => takeBack(revisions) : undefined);
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  }

  function doItButton() {
    const start = button("Do this", () => whileDisabled(start, () => run(false)), "primary");
    return start;
  }

  /** Undoes the newest first, as they were made one after the other. */
  async function takeBack(revisions) {
    for (const revision of revisions.toSorted((one, other) => other - one)) await undo(user, revision);
    place.replaceChildren();
    changed();
  }

  const form = make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        whileDisabled(preview, () => run(true));
      },
    },
    make(
      "div",
      { class: "filter-grid" },
      labelled("Archive what is older than, in days", age),
      labelled("and less important than, 0 to 1", importance),
    ),
    preview,
  );
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Upkeep"),
    make(
      "p",
      { class: "lead" },
      "Merges duplicates, ends expired memories, and archives old, unimportant and unused ones. Nothing is erased, and everything can be undone.",
    ),
    form,
    place,
    embedder.element,
  );
  return { element, title: "Upkeep", show: embedder.show };
}

function jobParts({ dry_run: isTrial, jobs }) {
  const busy = jobs.filter(({ memories }) => memories.length > 0);
  if (busy.length === 0) return [emptyState("Nothing to do", "Your memories are in order.")];
  return busy.map(({ name, memories }) =>
    make(
      "section",
      { class: "panel", "data-job": name },
      make(
        "h3",
        {},
        `${isTrial ? "Would be done" : "Done"}: ${name}, ${counted(memories.length, "memory", "memories")}`,
      ),
      make("ul", { class: "plain-rows" }, memories.map(deedRow)),
    ),
  );
}

function deedRow({ id, action, text, by, by_text: byText, why }) {
  return make(
    "li",
    {},
    make("a", { href: linkTo("memories", id) }, text),
    ` ${DEEDS[action] ?? action}`,
    by === undefined ? "" : " ",
    by === undefined ? "" : make("a", { href: linkTo("memories", by) }, byText),
    make("span", { class: "small" }, ` ${why}`),
  );
}
