import { make } from "../parts/make.js";
import { badge } from "../parts/memory-row.js";
import { linkTo } from "../parts/router.js";
import { day } from "../parts/words.js";

/** Items of a recall, best first, with the parts of their scores. `reasons` has the parts of items that lack their own. */
export function scoreTable(items, reasons) {
  const byId = new Map(reasons.map((reason) => [reason.id, reason]));
  return make(
    "ol",
    { class: "scores" },
    items.map((item) => scoreRow(item, item.why ?? byId.get(item.id) ?? {})),
  );
}

function scoreRow(item, { arms = {}, parts = {}, adds, factors, words = [] }) {
  const score = item.score ?? 0;
  const address = item.type === "memory" ? linkTo("memories", item.id) : passageAddress(item);
  const bar = make("meter", {
    min: "0",
    max: "1",
    value: String(score),
    "aria-label": `Score ${score.toFixed(2)}`,
  });
  return make(
    "li",
    {},
    make("div", { class: "score-line" }, bar, make("span", { class: "small" }, score.toFixed(3))),
    make("a", { href: address }, item.display ?? item.text),
    make(
      "p",
      { class: "row-line" },
      badge(item),
      item.type === "memory" ? "Memory" : "Words of a message",
      item.at && ` · ${day(item.at)}`,
      words.length > 0 && ` · matched ${words.join(", ")}`,
    ),
    partsFold({ arms, parts, adds, factors }),
  );
}

function passageAddress({ sources }) {
  const source = sources?.[0];
  return source?.session ? linkTo("conversations", source.session, {}, source.message) : undefined;
}

function partsFold({ arms, parts, adds, factors }) {
  const rows = [
    ...Object.entries(arms).map(([name, { rank, score }]) => [
      `found by ${name}`,
      `rank ${rank}, ${score.toFixed(3)}`,
    ]),
    ...Object.entries(parts).map(([name, value]) => [name, value.toFixed(3)]),
    ...Object.entries(adds ?? {}).map(([name, value]) => [`+ ${name}`, value.toFixed(3)]),
    ...Object.entries(factors ?? {}).map(([name, value]) => [`× ${name}`, value.toFixed(3)]),
  ];
  if (rows.length === 0) return "";
  return make(
    "details",
    { class: "fold" },
    make("summary", {}, "Parts of the score"),
    make(
      "dl",
      { class: "facts" },
      rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    ),
  );
}
