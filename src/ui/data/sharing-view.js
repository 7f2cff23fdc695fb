import {
  answerGrant,
  giveGrant,
  listGrants,
  listGroups,
  listShared,
  MOST_SHARED,
  withdrawGrant,
} from "../calls.js";
import { button, choice, labelled, problem, toTime } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { day, KINDS, number } from "../parts/words.js";
import { groupParts } from "./group-parts.js";

/** What the user shares with others and with groups, and what others share with the user. */
export function sharingView({ user }) {
  const place = make("div", {});
  const failure = make("div", {});
  const form = shareForm(act);
  const groups = groupParts({ user, act });
  let run = 0;

  async function load() {
    run += 1;
    const thisRun = run;
    try {
      const [grants, shared, all] = await Promise.all([listGrants(user), listShared(user), listGroups(user)]);
      if (thisRun !== run) return;
      form.showGroups(all.groups.filter(({ owner }) => owner === user));
      groups.show(all.groups);
      place.replaceChildren(givenPart(grants, act), receivedPart(grants, shared, act));
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, load));
    }
  }

  /** Makes a change, says what it did, and shows what is there then. */
  async function act(work, done) {
    failure.replaceChildren();
    try {
      await work(user);
      say(done);
    } catch (error) {
      failure.replaceChildren(problem(error));
    }
    await load();
  }

  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Sharing"),
    make(
      "p",
      { class: "lead" },
      "Others read what you share in your memory, until you withdraw it. Nothing is copied. Sensitive memories stay private.",
    ),
    form.element,
    failure,
    place,
    groups.element,
  );
  return { element, title: "Sharing", show: load };
}

function shareForm(act) {
  const reader = make("input", { maxlength: "200", autocomplete: "off" });
  const group = choice("group", [["", "No group"]]);
  const about = make("input", { maxlength: "200", autocomplete: "off", placeholder: "the dentist" });
  const kind = choice("kind", [["", "Any kind"], ...KINDS, ["everything", "Everything"]]);
  const until = make("input", { type: "date" });
  const share = (user) => {
    const words = about.value.trim();
    const isAll = kind.value === "everything";
    const name = reader.value.trim();
    if ((name === "") === (group.value === "")) throw new Error("Name a user, or choose a group.");
    // A form that is not filled in must not give everything away.
    if (words === "" && kind.value === "")
      throw new Error("Say what it is about, or choose a kind or everything.");
    return giveGrant(user, {
      ...(name === "" ? { to_group: group.value } : { to_user: name }),
      ...(words === "" || isAll ? {} : { about: [words] }),
      ...(kind.value === "" || isAll ? {} : { kinds: [kind.value] }),
      ...(isAll ? { everything: true } : {}),
      until: toTime(until.value),
    });
  };
  const place = make("div", {});
  const groupField = labelled("Or a group of yours", group);
  const showGroups = (groups) => {
    const options = [["", "No group"], ...groups.map(({ id, name }) => [id, name])];
    group.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
    place.replaceChildren(...(groups.length > 0 ? [groupField] : []));
  };
  const element = make(
    "form",
    {
      class: "erase-form",
      onsubmit: (event) => {
        event.preventDefault();
        act(share, "Shared.");
      },
    },
    make(
      "div",
      { class: "filter-grid" },
      labelled("With whom", reader),
      place,
      labelled("What it is about", about),
      labelled("Kind", kind),
      labelled("Until", until),
    ),
    make("button", { type: "submit", class: "primary" }, "Share"),
  );
  return { element, showGroups };
}

function givenPart({ given }, act) {
  const rows = given.map((grant) =>
    make(
      "li",
      {},
      describe(grant, `With ${grant.to_user ?? `the group ${grant.to_group?.name}`}${declinedOf(grant)}`),
      button("Withdraw", () => act((user) => withdrawGrant(user, grant.id), "Withdrawn."), "small-button"),
    ),
  );
  return part("given", "You share", rows, "You share nothing.");
}

/** Who declined what the user shares. */
function declinedOf({ state, declined_by: members = [] }) {
  if (state === "declined") return ", declined";
  return members.length === 0 ? "" : `, declined by ${members.join(", ")}`;
}

function receivedPart({ received }, { items }, act) {
  const rows = received.map((grant) => {
    const isDeclined = grant.state === "declined";
    const read = items.filter((memory) => memory.grant === grant.id);
    return make(
      "li",
      {},
      describe(grant, `From ${grant.owner}${isDeclined ? ", declined" : ""}`),
      make(
        "ul",
        {},
        read.map(({ text, owner }) => make("li", {}, text, make("span", { class: "small" }, ` ${owner}`))),
      ),
      button(
        isDeclined ? "Accept" : "Decline",
        () => act((user) => answerGrant(user, grant.id, !isDeclined), isDeclined ? "Accepted." : "Declined."),
        "small-button",
      ),
    );
  });
  if (items.length === MOST_SHARED)
    rows.push(
      make("li", { class: "small" }, `Of what they share, the newest ${number(MOST_SHARED)} are shown.`),
    );
  return part("received", "Others share with you", rows, "No one shares anything with you.");
}

function part(look, title, rows, none) {
  return make(
    "section",
    { class: look },
    make("h3", {}, title),
    rows.length === 0 ? make("p", { class: "small" }, none) : make("ul", { class: "plain-rows" }, rows),
  );
}

/** Who, what and until when, in a line. */
function describe({ what: covered, until }, who) {
  const { everything, kinds, about, where, where_text: text, ids } = covered;
  const what = [
    everything && "everything",
    about && `about ${about.join(", ")}`,
    kinds && `of kind ${kinds.join(", ")}`,
    (where || text) && "what a filter chooses",
    ids && `${ids.length} chosen`,
  ].filter(Boolean);
  return make("p", {}, `${who}: ${what.join("; ")}${until ? `, until ${day(until)}` : ""}`);
}
