import { attachmentFigures } from "../parts/attachment-figure.js";
import { compareWords } from "../parts/diff.js";
import { moreButton } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { markSpans } from "../parts/marks.js";
import { linkTo } from "../parts/router.js";
import { counted, day, KIND_NAMES, moment, number, ORIGINS, percent } from "../parts/words.js";

/** A part of a memory's view, with its heading. */
export function section(title, ...parts) {
  return make("section", { class: "part" }, make("h4", {}, title), ...parts);
}

/** A list of names and values; rows without a value are left out. */
export function facts(rows) {
  return make(
    "dl",
    { class: "facts" },
    rows
      .filter(([, value]) => value !== undefined && value !== "")
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
}

/** Where a memory comes from. `blocks` are made by `sourceBlock`. */
export function sourceSection(memory, blocks) {
  if (blocks.length === 0)
    return [
      section(
        "Where it comes from",
        make("p", { class: "small" }, ORIGINS[memory.origin] ?? "Added by hand"),
      ),
    ];
  return [section("Where it comes from", ...blocks)];
}

/** A quote in its message. Without the message, which may have been erased, the quote stands alone. */
export function sourceBlock(user, { quote, start, end, session, message: id, role, name, at }, message) {
  const isThere = message && message.content.slice(start, end) === quote;
  const speaker = name ?? (role === "assistant" ? "Assistant" : role === "tool" ? "Tool" : "You");
  return make(
    "figure",
    { class: "quote" },
    make("blockquote", {}, isThere ? markSpans(message.content, [[start, end]]) : make("q", {}, quote)),
    message ? attachmentFigures(user, message) : [],
    make(
      "figcaption",
      {},
      `${speaker}, `,
      make("time", { datetime: at }, at ? moment(at) : "time unknown"),
      session && " · ",
      session && make("a", { href: linkTo("conversations", session, {}, id) }, "Read the conversation"),
    ),
  );
}

/** When it was true, and when that was known. */
export function timeSection({ valid_from, valid_to, at, stored_at, when, expires_at, status }) {
  const isOver = valid_to && (status !== "current" || new Date(valid_to) <= new Date());
  return section(
    "When",
    facts([
      ["True from", valid_from ? day(valid_from) : "unknown"],
      [
        "True until",
        valid_to ? `${day(valid_to)}${isOver ? "" : " (to come)"}` : status === "current" ? "now" : "unknown",
      ],
      ["Takes place", when],
      ["Said", moment(at)],
      ["Stored in this form", moment(stored_at)],
      ["Disappears", expires_at && moment(expires_at)],
    ]),
  );
}

export function believedSection({
  evidence,
  confidence,
  importance,
  origin,
  why,
  quarantined,
  metadata,
  claim,
}) {
  return section(
    "Why it is believed",
    facts([
      ["Origin", ORIGINS[origin] ?? origin],
      ["Said", evidence > 1 ? `${evidence} times` : "once"],
      ["Certainty", percent(confidence)],
      ["Importance", percent(importance)],
      [
        "Read as",
        claim && [claim.subject, claim.relation, claim.value, claim.qualifier].filter(Boolean).join(" · "),
      ],
      ["Last change", quarantined ? undefined : why],
      ["Metadata", metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined],
    ]),
  );
}

export function useSection({ usage, decay_score }) {
  if (!usage) return "";
  return section(
    "When it was used",
    facts([
      ["Recalled", usage.count === 0 ? "never" : counted(usage.count, "time", "times")],
      ["Last", usage.last_at && moment(usage.last_at)],
      ["Freshness", decay_score === undefined ? undefined : percent(decay_score)],
    ]),
  );
}

const VERSION_ACTIONS = {
  added: "Learnt",
  merged: "Confirmed",
  updated: "Changed",
  superseded: "Outdated",
  retracted: "Moved to the bin",
  quarantined: "Quarantined",
  restored: "Restored",
};

/** The number of versions that are shown at first, the newest, and that each click adds. */
const VERSION_PAGE = 50;

/** All versions, newest first, each with what changed from the one before. */
export function versionSection(versions) {
  if (versions.length < 2) return [];
  const list = make("ol", { class: "versions" });
  let left = versions.length;
  const showMore = () => {
    const from = Math.max(0, left - VERSION_PAGE);
    const items = versions
      .slice(from, left)
      .map((version, i) => versionItem(version, versions[from + i - 1]));
    list.append(...items.reverse());
    left = from;
    return left > 0;
  };
  const isMore = showMore();
  return [
    section(
      `History, ${counted(versions.length, "version", "versions")}`,
      list,
      isMore && moreButton(() => `Show earlier versions (${number(left)})`, showMore),
    ),
  ];
}

const TAGS = { removed: "del", added: "ins" };

/** What a version may change beside the text, and how it is said. */
const CHANGED_FIELDS = [
  ["kind", "kind", (kind) => KIND_NAMES[kind] ?? kind],
  ["importance", "importance", percent],
  ["confidence", "certainty", percent],
  ["status", "state", String],
  ["valid_from", "true from", day],
  ["valid_to", "true until", day],
  ["expires_at", "disappears", day],
  ["quarantined", "quarantined", (isAside) => (isAside ? "yes" : "no")],
];

/** What differs between two versions beside the text, in words. */
function fieldChanges(version, before) {
  return CHANGED_FIELDS.filter(([field]) => version[field] !== before[field]).map(([field, name, show]) => {
    const [from, to] = [before[field], version[field]].map((value) =>
      value === undefined ? "none" : show(value),
    );
    return `${name}: ${from} → ${to}`;
  });
}

function versionItem(version, before) {
  const changes = before ? fieldChanges(version, before) : [];
  const pieces = before ? compareWords(before.text, version.text) : [["same", version.text]];
  return make(
    "li",
    {},
    make(
      "p",
      { class: "small" },
      make("b", {}, VERSION_ACTIONS[version.action] ?? version.action),
      ", ",
      make("time", { datetime: version.stored_at }, moment(version.stored_at)),
      version.why && before && `: ${version.why}`,
    ),
    changes.length > 0 && make("p", { class: "small" }, changes.join(" · ")),
    make(
      "p",
      { class: "version-text" },
      pieces.map(([kind, text]) => (TAGS[kind] ? make(TAGS[kind], {}, text) : text)),
    ),
  );
}
