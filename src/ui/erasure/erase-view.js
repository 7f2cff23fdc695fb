import { listSessions, planErasure } from "../calls.js";
import { button, choice, emptyState, labelled, moreButton, problem, toTime } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { toNextDay } from "../parts/memory-source.js";
import { linkTo } from "../parts/router.js";
import { counted, day, goneInWords, number } from "../parts/words.js";
import { erasurePlan, isEmptyPlan } from "./erasure-plan.js";
import { eraseWithMore, receiptParts } from "./forget.js";
import { receiptList } from "./receipt-list.js";

const WAYS = [
  ["about", "By words"],
  ["period", "By time"],
  ["session_id", "A conversation"],
  ["topic", "A topic"],
  ["everything", "Everything"],
];
const TOPICS =
  "health, money, beliefs, work, study, family, relationships, home, food, travel, hobbies, pets, secrets".split(
    ", ",
  );

/** Erasing with a plan, and the receipts of what was erased. */
export function eraseView({ user, changed }) {
  const receipts = receiptList(user);
  const panel = make("div", { class: "erase-panel" });
  const form = eraseForm(user, panel, (made) => {
    receipts.load();
    changed(made);
  });
  const home = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Erase"),
    make(
      "p",
      { class: "lead" },
      "What you erase leaves every store, with its history and the words it came from. You see the plan first. The receipt proves it. To choose one by one, ",
      make("a", { href: linkTo("memories") }, "select memories"),
      ".",
    ),
    form,
    panel,
    receipts.element,
  );
  const one = make("div", { class: "page", hidden: true });
  const element = make("div", { class: "stack" }, home, one);

  async function show(route) {
    home.hidden = route.id !== undefined;
    one.hidden = route.id === undefined;
    await receipts.load();
    if (route.id !== undefined) one.replaceChildren(...receipts.detail(route.id));
  }

  return { element, title: "Erase", show, refresh: receipts.load };
}

function eraseForm(user, panel, erased) {
  const way = choice("way", WAYS);
  const fields = {
    about: make("input", { maxlength: "500", placeholder: "A name, my salary, what I said about my boss…" }),
    from: make("input", { type: "date" }),
    to: make("input", { type: "date" }),
    session_id: choice("session", []),
    topic: make("input", { list: "topics", maxlength: "100", placeholder: "health, work, money…" }),
  };
  const topics = make(
    "datalist",
    { id: "topics" },
    TOPICS.map((value) => make("option", { value })),
  );
  const place = make("div", { class: "erase-fields" });
  const preview = make("button", { type: "submit", class: "primary" }, "Preview");

  const PLACES = {
    about: () => [labelled("What to erase", fields.about)],
    period: () => [labelled("Said from", fields.from), labelled("Said until", fields.to)],
    session_id: () => [labelled("Conversation", fields.session_id)],
    topic: () => [labelled("Topic", fields.topic), topics],
    everything: () => [
      make("p", { class: "small" }, `Everything that is known of ${user}: memories, messages and history.`),
    ],
  };

  /** What was typed to name the erased words is gone too. */
  function done(receipts) {
    if (receipts.length > 0) for (const field of [fields.about, fields.topic]) field.value = "";
    erased(receipts);
  }

  way.onchange = () => {
    panel.replaceChildren();
    place.replaceChildren(...PLACES[way.value]());
    if (way.value === "session_id") offerSessions(user, fields.session_id, place);
  };
  way.onchange();

  return make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        const what = toTarget(way.value, fields);
        if (what) showPlan(user, panel, what, done);
        else panel.replaceChildren(problem(new Error("Say what to erase.")));
      },
    },
    labelled("How", way),
    place,
    preview,
  );
}

/** The target of an erasure as the server takes it; `undefined` if nothing is named. */
function toTarget(way, fields) {
  if (way === "everything") return { everything: true };
  if (way === "period") {
    const { from, to } = fields;
    const until = to.value ? toNextDay(to.value) : undefined;
    return from.value || until ? { from: toTime(from.value), to: until } : undefined;
  }
  const value = fields[way].value.trim();
  return value === "" ? undefined : { [way]: value };
}

/** The number of conversations that are offered at first, the newest, and that each click adds. */
const SESSION_PAGE = 500;

/** Puts the conversations into a choice. What is not offered yet, or could not be read, is said in `place`. */
async function offerSessions(user, field, place) {
  field.replaceChildren();
  let cursor;
  let left = 0;
  const readOn = async () => {
    const page = await listSessions(user, { limit: SESSION_PAGE, cursor });
    field.append(...page.items.map(sessionOption));
    ({ cursor } = page);
    left = page.total - field.options.length;
    return Boolean(cursor);
  };
  const isShown = () => place.contains(field);
  try {
    if ((await readOn()) && isShown())
      place.append(moreButton(() => `Offer older conversations (${number(left)})`, readOn));
  } catch (error) {
    const failure = problem(error, () => {
      failure.remove();
      offerSessions(user, field, place);
    });
    if (isShown()) place.append(failure);
  }
}

function sessionOption({ id, messages, to }) {
  return make("option", { value: id }, `${id}: ${counted(messages, "message", "messages")}, ${day(to)}`);
}

async function showPlan(user, panel, what, erased) {
  panel.replaceChildren(make("p", { class: "small", role: "status" }, "Finding what would be erased…"));
  try {
    const plan = await planErasure(user, what);
    if (isEmptyPlan(plan) && !plan.unsure) {
      panel.replaceChildren(
        emptyState("No matches", "Nothing is known about that, so nothing would be erased."),
      );
      return;
    }
    const { parts, chosen } = erasurePlan(user, plan);
    const yes = button("Erase permanently", () => execute(), "danger");
    const execute = async () => {
      yes.disabled = true;
      try {
        const { receipts, error } = await eraseWithMore(user, { what, more: chosen(), plan });
        showDone(panel, receipts);
        if (error) panel.append(problem(error));
        erased(receipts);
      } catch (error) {
        yes.disabled = false;
        panel.append(problem(error));
      }
    };
    panel.replaceChildren(
      make("h3", { tabindex: "-1" }, "This would go"),
      ...parts.filter(Boolean),
      make(
        "div",
        { class: "buttons" },
        button("Cancel", () => panel.replaceChildren()),
        yes,
      ),
    );
    panel.querySelector("h3").focus();
  } catch (error) {
    panel.replaceChildren(problem(error));
  }
}

function showDone(panel, receipts) {
  const text = receipts.map(goneInWords).join(", ") || "nothing was ticked";
  panel.replaceChildren(
    make("h3", { tabindex: "-1" }, `Erased: ${text}`),
    ...receipts.flatMap((receipt) => receiptParts(receipt)),
  );
  panel.querySelector("h3").focus();
  say(`Erased: ${text}.`);
}
