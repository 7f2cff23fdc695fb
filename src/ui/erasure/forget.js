import { erase, planErasure } from "../calls.js";
import { problem } from "../parts/form-parts.js";
import { find, make, say } from "../parts/make.js";
import { counted, day, goneInWords, moment } from "../parts/words.js";
import { erasurePlan, isEmptyPlan } from "./erasure-plan.js";

/**
 * Shows the plan of an erasure; after a confirmation, erases and shows the receipt. `what` is `{ ids }`, or `{ about }`
 * for words that the user typed. `erased` is called with the receipt.
 */
export async function askToForget(user, what, erased) {
  const dialog = find("dialog");
  fill(dialog, "Forget this?", make("p", { class: "small" }, "Finding what would be erased…"));
  dialog.showModal();
  try {
    const plan = await planErasure(user, what);
    const { parts, chosen } = erasurePlan(user, plan);
    if (isEmptyPlan(plan) && !plan.unsure) showNothing(dialog);
    else showPlan(dialog, parts, () => executeErasure(dialog, user, { what, more: chosen(), plan }, erased));
  } catch (error) {
    showFailure(dialog, error);
  }
}

async function executeErasure(dialog, user, { what, more, plan }, erased) {
  try {
    const { receipts, error } = await eraseWithMore(user, { what, more, plan });
    if (receipts.length === 0) return showNothing(dialog);
    const [receipt] = receipts;
    fill(
      dialog,
      `Forgotten: ${goneInWords(receipt)}`,
      ...receipts.flatMap(receiptParts),
      error ? problem(error) : "",
      buttons(closeButton(dialog, "Done", "primary")),
    );
    say(`Forgotten: ${goneInWords(receipt)}.`);
    for (const one of receipts) erased(one);
  } catch (error) {
    showFailure(dialog, error);
  }
}

/** Called with each receipt, so that no erased word stays on another part of the page. */
let whenErased = () => {};
export function onErased(run) {
  whenErased = run;
}

/**
 * Erases what the plan is sure of, and what somebody has ticked beside it. Gives the receipts; with the error, if the first
 * erasure succeeded and the second failed.
 */
export async function eraseWithMore(user, { what, more, plan }) {
  const receipts = [];
  const note = (receipt) => {
    whenErased(receipt);
    receipts.push(receipt);
  };
  if (!isEmptyPlan(plan)) note(await eraseAsPlanned(user, what, plan));
  if (more.length === 0) return { receipts };
  try {
    note(await erase(user, { ids: more }));
  } catch (error) {
    if (receipts.length === 0) throw error;
    return { receipts, error };
  }
  return { receipts };
}

/** The most times that a plan is made again because something was stored meanwhile. */
const MOST_TRIES = 5;

/** Erases what the plan showed and nothing else: the plan is made again if something was stored since, and must be the same. */
async function eraseAsPlanned(user, what, plan) {
  let { revision } = plan;
  for (let tries = 1; ; tries += 1) {
    try {
      return await erase(user, { ...what, if_revision: revision });
    } catch (error) {
      if (error.status !== 409 || tries >= MOST_TRIES) throw error;
    }
    const again = await planErasure(user, what);
    if (toShown(again) !== toShown(plan))
      throw new Error(
        "Something was stored meanwhile, so the erasure would differ from what was shown. Start again.",
      );
    revision = again.revision;
  }
}

/** What a plan shows, to compare it with another. */
function toShown({ memories, messages }) {
  return JSON.stringify([
    memories.map(({ id, text }) => [id, text]),
    messages.map(({ id, words }) => [id, words]),
  ]);
}

function showPlan(dialog, parts, yes) {
  fill(
    dialog,
    "Forget this permanently?",
    make(
      "p",
      { class: "small" },
      "It will be erased from every store, including the history. This cannot be undone.",
    ),
    ...parts,
    buttons(
      closeButton(dialog, "Cancel"),
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
        "Forget permanently",
      ),
    ),
  );
}

function showNothing(dialog) {
  fill(
    dialog,
    "No matches",
    make("p", {}, "I know nothing about that, so nothing would be erased. Try other words."),
    buttons(closeButton(dialog, "Close")),
  );
}

/** Shows a receipt: what was erased, and the result of the re-scan of every store. */
export function receiptParts(receipt) {
  const { erased, verified, complete, backups = [], remains = [] } = receipt;
  // A later scan that found nothing overrides an earlier report of remains.
  const isClean = (remain) => verified.some(({ place, found }) => place === remain.place && found === 0);
  const unreadable = remains.filter((remain) => !isClean(remain));
  const isUnreadable = isClean({ place: "keys of the user" });
  const dated = (name, until) => (until ? `${name} (until ${day(until)})` : name);
  const rows = [
    ["Memories", erased.memories],
    ["Their versions", erased.versions],
    ["Messages with words removed", erased.messages],
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
        ? `Verified: ${verified.length > 0 ? `${counted(verified.length, "store", "stores")} re-scanned, no traces.` : "there was nothing to erase."}`
        : `Traces remain in: ${left.join(", ") || "a store that could not be read"}. Try again in a moment.`,
    ),
    backups.length > 0 &&
      make(
        "p",
        { class: "small" },
        `${isUnreadable ? "Its key is destroyed. Older backups contain it, but cannot be read" : "Older backups still contain it"}: ${backups.map(({ name, until }) => dated(name, until)).join(", ")}.`,
      ),
    unreadable.length > 0 &&
      make(
        "p",
        { class: "small" },
        `No longer readable, but bytes remain in: ${unreadable.map(({ place, until }) => dated(place, until)).join(", ")}.`,
      ),
    make("p", { class: "small" }, `Receipt ${receipt.id}, ${moment(receipt.at)}`),
  ].filter(Boolean);
}

function showFailure(dialog, error) {
  fill(
    dialog,
    "Failed",
    make("p", { class: "problem", role: "alert" }, error.message),
    buttons(closeButton(dialog, "Close")),
  );
}

function fill(dialog, title, ...parts) {
  dialog.replaceChildren(make("h2", { id: "dialog-title", tabindex: "-1" }, title), ...parts.filter(Boolean));
  dialog.querySelector("h2").focus();
}

function buttons(...children) {
  return make("div", { class: "buttons" }, children);
}

function closeButton(dialog, text, look) {
  return make("button", { type: "button", class: look, onclick: () => dialog.close() }, text);
}
