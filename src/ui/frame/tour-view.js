import { converse, eraseUser, listReceipts, planErasure } from "../calls.js";
import { chips, why } from "../chat/reply-parts.js";
import { verifyReceipts } from "../erasure/verify-receipts.js";
import { button, problem } from "../parts/form-parts.js";
import { make, makeId, say } from "../parts/make.js";
import { linkTo } from "../parts/router.js";
import { goneInWords } from "../parts/words.js";

/** The name of this browser's sandbox user, and whether something of it may be stored. */
const SANDBOX = "keepsake.tour";
const IN_USE = "keepsake.tour.in-use";

const STEPS = [
  {
    title: "Tell it something",
    says: "I live in Porto. I use Shram and Magnet as productivity tools.",
    teaches: "Your words are kept, and each fact in them is a memory of its own.",
  },
  {
    title: "Say what changed",
    says: "I live in Faro now.",
    teaches: "The new fact replaces the old one, which stays in the history.",
  },
  {
    title: "Ask",
    says: "Where do I live?",
    teaches: "The answer names the words that it comes from. What was replaced is not in it.",
  },
  {
    title: "Have something forgotten",
    says: "Forget that I ever mentioned Magnet.",
    teaches: "It is erased everywhere, with a receipt that anyone can verify.",
  },
];

/** The story of a memory in four clicks, with a made-up person. What the person said is erased at the end, or if one leaves. */
export function tourView() {
  const sandbox = createSandbox();
  const list = make("ol", { class: "tour" });
  const end = make("div", { role: "status" });
  let hasLeft = false;
  /** What is being said, perhaps since before one left and came back. */
  let saying = Promise.resolve();

  /** Begins the story anew. Gives what enables a step; the first is not enabled yet. */
  function restart() {
    end.replaceChildren();
    const steps = STEPS.map((step, i) => stepItem(step, (place) => run(step, i, place)));
    list.replaceChildren(...steps.map(({ element }) => element));
    return (i) => steps[i]?.allow();
  }

  let enableStep = restart();

  async function run({ says }, i, place) {
    const enable = enableStep;
    const said = sandbox.say(says);
    saying = said.catch(() => {});
    const { reply, receipt, memories_used: used } = await said;
    // Whoever has left in the meantime does not come back to clear it.
    if (hasLeft) await sandbox.clear();
    if (hasLeft || enable !== enableStep) return;
    place.replaceChildren(make("p", { class: "answer" }, reply), ...chips(receipt), ...why(used));
    say(reply);
    if (i + 1 < STEPS.length) enable(i + 1);
    else {
      place.append(await sandbox.verify());
      end.replaceChildren(...endParts(await sandbox.clear(), again));
    }
  }

  function again() {
    enableStep = restart();
    enableStep(0);
    list.querySelector("button")?.focus();
  }

  async function show() {
    hasLeft = false;
    // What was said before was erased when one left.
    const enable = restart();
    enableStep = enable;
    try {
      await saying;
      await sandbox.open();
      enable(0);
    } catch (error) {
      end.replaceChildren(error.status === 403 ? mayNotErase() : problem(error));
    }
  }

  async function leave() {
    hasLeft = true;
    await sandbox.clear();
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "A tour in four clicks"),
    make(
      "p",
      { class: "lead" },
      "A made-up person talks here, apart from your memory. All of it is erased after the last click, or when you leave.",
    ),
    list,
    end,
  );
  return { element, title: "Tour", show, leave };
}

/** One step: its button, and the place of the reply. `work` runs once; after a failure, again. */
function stepItem({ title, says, teaches }, work) {
  const place = make("div", { class: "tour-reply" });
  const start = make("button", { type: "button", class: "tour-says", disabled: true }, make("q", {}, says));
  start.onclick = async () => {
    start.disabled = true;
    try {
      await work(place);
      place.append(make("p", { class: "small" }, teaches));
    } catch (error) {
      start.disabled = false;
      place.replaceChildren(problem(error));
    }
  };
  const allow = () => {
    start.disabled = false;
  };
  return { element: make("li", {}, make("h3", {}, title), start, place), allow };
}

function mayNotErase() {
  return make(
    "p",
    { class: "problem", role: "alert" },
    "This key may not erase what the made-up person says, so the tour does not begin. Sign in with a key that may erase.",
  );
}

function endParts(erased, again) {
  return [
    make(
      "p",
      {},
      erased ? `The tour is over. Its memory was erased: ${goneInWords(erased)}.` : "The tour is over.",
    ),
    make(
      "div",
      { class: "buttons" },
      button("Once more", again),
      make("a", { href: "#/", class: "button" }, "Begin with your own"),
      make("a", { href: linkTo("data"), class: "button" }, "Import"),
    ),
  ];
}

/** The made-up person: a user of this browser alone, whose name stays, so that there is only one. */
function createSandbox() {
  const name = localStorage.getItem(SANDBOX) ?? `tour-${makeId().slice(0, 12)}`;
  const session = `tour-${makeId().slice(0, 12)}`;
  const onHide = () => clear({ keepalive: true }).catch(() => {});

  /** Erases everything of the person. Gives the receipt; undefined if there was nothing. */
  async function clear(options) {
    if (localStorage.getItem(IN_USE) === null) return undefined;
    const receipt = await eraseUser(name, options);
    localStorage.removeItem(IN_USE);
    removeEventListener("pagehide", onHide);
    return receipt;
  }

  return {
    clear,
    /** Checks that all of the person can be erased, and erases what is left from before. Throws if it cannot. */
    async open() {
      await planErasure(name, { everything: true });
      await clear();
    },
    async say(text) {
      localStorage.setItem(SANDBOX, name);
      const note = () => localStorage.setItem(IN_USE, "yes");
      addEventListener("pagehide", onHide);
      note();
      try {
        return await converse(name, session, text);
      } finally {
        // It was perhaps cleared meanwhile, and before this was stored.
        note();
      }
    },
    /** Verifies the person's receipts in this browser. Gives a line about it. */
    async verify() {
      try {
        const problems = [...(await verifyReceipts(await listReceipts(name))).values()].filter(Boolean);
        const text = problems.length === 0 ? "Your browser verified the receipt." : problems[0];
        return make("p", { class: "small" }, text);
      } catch (error) {
        return make("p", { class: "small" }, error.message);
      }
    },
  };
}
