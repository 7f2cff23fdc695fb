import { erase, planErasure } from "./calls.js";
import { find, make, say } from "./make.js";
import { counted, day, goneInWords, moment } from "./words.js";

/**
 * Shows what forgetting would take; on a yes, erases it and shows the receipt. `what` is `{ ids }`, or `{ about }` for
 * words that somebody typed. `erased` is told of it.
 */
export async function askToForget(user, what, erased) {
  const dialog = find("forget");
  fill(dialog, "Forget this?", make("p", { class: "small" }, "Looking at what would go…"));
  dialog.showModal();
  try {
    const plan = await planErasure(user, what);
    if (plan.memories.length + plan.messages.length === 0) showNothing(dialog);
    else showPlan(dialog, plan, () => carryOut(dialog, user, what, erased));
  } catch (error) {
    showFailure(dialog, error);
  }
}

async function carryOut(dialog, user, what, erased) {
  try {
    const receipt = await erase(user, what);
    fill(
      dialog,
      `Forgotten: ${goneInWords(receipt)}`,
      ...receiptParts(receipt),
      buttons(closeButton(dialog, "Done", "primary")),
    );
    say(`Forgotten: ${goneInWords(receipt)}.`);
    erased(receipt);
  } catch (error) {
    showFailure(dialog, error);
  }
}

function showPlan(dialog, plan, yes) {
  const words = plan.messages.flatMap((message) => message.words);
  fill(
    dialog,
    "Forget this for good?",
    make("p", { class: "small" }, "It goes from every place, also from the history. This cannot be undone."),
    plan.memories.length > 0 &&
      section(
        counted(plan.memories.length, "memory", "memories"),
        plan.memories.map((memory) => make("li", {}, memory.display)),
      ),
    words.length > 0 &&
      section(
        `These words, from ${counted(plan.messages.length, "message", "messages")}`,
        words.map((quote) => make("li", {}, make("q", {}, quote.trim()))),
      ),
    buttons(
      closeButton(dialog, "Keep it"),
      make(
        "button",
        {
          type: "button",
          class: "danger",
          onclick: (event) => {
            event.currentTarget.disabled = true;
            yes();
          },
        },
        "Forget for good",
      ),
    ),
  );
}

function showNothing(dialog) {
  fill(
    dialog,
    "There is nothing like that",
    make("p", {}, "Nothing that I know is about that, so nothing would be forgotten. Try other words."),
    buttons(closeButton(dialog, "Close")),
  );
}

function section(title, items) {
  return make("div", { class: "plan" }, make("h3", {}, title), make("ul", {}, items));
}

/** What an erasure took, from where, and that every place was read again. */
export function receiptParts(receipt) {
  const { erased, verified, complete, backups = [], remains = [] } = receipt;
  // What was read again since is not among it any more.
  const isClean = (one) => verified.some(({ place, found }) => place === one.place && found === 0);
  const stays = remains.filter((one) => !isClean(one));
  const dated = (name, until) => (until ? `${name} (until ${day(until)})` : name);
  const rows = [
    ["Memories", erased.memories],
    ["Versions of them", erased.versions],
    ["Messages with words taken out", erased.messages],
    ["Passages", erased.passages],
    ["Vectors", erased.vectors],
  ];
  const left = verified.filter((place) => place.found > 0).map((place) => place.place);
  return [
    make(
      "dl",
      { class: "counts" },
      rows.map(([name, count]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(count)))),
    ),
    make(
      "p",
      { class: complete ? "checked" : "problem" },
      complete
        ? `Checked: ${verified.length > 0 ? `${counted(verified.length, "place", "places")} read again, nothing found.` : "there was nothing to find."}`
        : `Still found in: ${left.join(", ") || "a place that could not be read"}. Ask for it again in a moment.`,
    ),
    backups.length > 0 &&
      make(
        "p",
        { class: "small" },
        `Backups made before still hold it: ${backups.map(({ name, until }) => dated(name, until)).join(", ")}.`,
      ),
    stays.length > 0 &&
      make(
        "p",
        { class: "small" },
        `No read gives it any more; its bytes stay in: ${stays.map(({ place, until }) => dated(place, until)).join(", ")}.`,
      ),
    make("p", { class: "small" }, `Receipt ${receipt.id}, ${moment(receipt.at)}`),
  ];
}

function showFailure(dialog, error) {
  fill(
    dialog,
    "That did not work",
    make("p", { class: "problem", role: "alert" }, error.message),
    buttons(closeButton(dialog, "Close")),
  );
}

function fill(dialog, title, ...parts) {
  dialog.replaceChildren(make("h2", { id: "forget-title", tabindex: "-1" }, title), ...parts.filter(Boolean));
  dialog.querySelector("h2").focus();
}

function buttons(...all) {
  return make("div", { class: "buttons" }, all);
}

function closeButton(dialog, text, look) {
  return make("button", { type: "button", class: look, onclick: () => dialog.close() }, text);
}
