import { listLinks, listMemories } from "../calls.js";
import { LINK_WORDS } from "../memories/memory-links.js";
import { button, choice, emptyState, labelled, moreButton, problem } from "../parts/form-parts.js";
import { make, say } from "../parts/make.js";
import { textOf } from "../parts/memory-row.js";
import { goTo, linkTo } from "../parts/router.js";
import { subjectName } from "../parts/subject-names.js";
import { counted, number } from "../parts/words.js";
import { mapCanvas, nameOf } from "./map-canvas.js";
import { toGraph } from "./map-graph.js";

const PAGE = 1000;
/** How many of the newest memories are on the map. */
const SIZES = [
  ["", "Newest 300"],
  ["1000", "Newest 1,000"],
  ["5000", "Newest 5,000"],
];
const FIRST_SIZE = 300;
const ROWS = 50;

/** A map of memories and of whom and what they are about, and the same as a list. */
export function mapView({ user }) {
  const parts = viewParts();
  const { size, place, details } = parts;
  let run = 0;
  let loaded;
  let graph;
  let canvas;
  let lastRoute;
  size.onchange = () => goTo(linkTo("map", undefined, { size: size.value }));

  function select(id) {
    const node = graph?.nodes[graph.places.get(id) ?? -1];
    canvas?.select(node ? graph.places.get(id) : -1);
    details.replaceChildren(...(node ? nodeDetails(node, graph, loaded) : []));
    if (node) say(nameOf(node));
  }

  /** Gives whether the map that was asked for is shown. */
  async function load(wanted) {
    run += 1;
    const thisRun = run;
    canvas?.stop();
    try {
      const [{ memories, total }, links] = await Promise.all([
        readNewest(user, Number(wanted) || FIRST_SIZE),
        listLinks(user),
      ]);
      if (thisRun !== run) return false;
      graph = toGraph(memories, links);
      loaded = wanted;
      canvas = drawGraph(parts, graph, {
        shown: memories.length,
        total,
        chosen: ({ id }) => goTo(linkTo("map", id, { size: wanted })),
      });
      return true;
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, () => show(lastRoute)));
      return false;
    }
  }

  async function show(route) {
    lastRoute = route;
    const wanted = route.query.get("size") ?? "";
    size.value = SIZES.some(([one]) => one === wanted) ? wanted : "";
    if (size.value === loaded || (await load(size.value))) select(route.id);
  }

  function refresh() {
    loaded = undefined;
    show(lastRoute);
  }

  return { element: parts.element, title: "Map", show, refresh };
}

function viewParts() {
  const size = choice("size", SIZES, "");
  const count = make("p", { class: "count-line", role: "status" });
  const place = make("div", { class: "map-place" });
  const details = make("div", { class: "map-details", "aria-live": "polite" });
  const list = make("div", {});
  const lead =
    "How memories go together: by the people and things they are about, and by the associations that were made. " +
    "The list below has the same.";
  const element = make(
    "div",
    { class: "page" },
    make("h2", { tabindex: "-1" }, "Map"),
    make("p", { class: "lead" }, lead),
    labelled("How many", size),
    count,
    place,
    details,
    make("h3", {}, "As a list"),
    list,
  );
  return { element, size, count, place, details, list };
}

/** Shows a graph and its list. Gives its canvas; none for a graph without nodes. */
function drawGraph({ count, place, list }, graph, { shown, total, chosen }) {
  const { nodes, hubs, alone } = graph;
  if (nodes.length === 0) {
    count.textContent = "";
    list.replaceChildren();
    place.replaceChildren(nothingYet(total));
    return undefined;
  }
  place.ariaBusy = "true";
  const settled = () => {
    place.ariaBusy = "false";
  };
  const canvas = mapCanvas(graph, { chosen, settled });
  place.replaceChildren(canvas.element, mapButtons(canvas));
  count.textContent = countLine({ shown, total, alone, on: nodes.length - hubs.length, hubs: hubs.length });
  list.replaceChildren(...listParts(graph));
  return canvas;
}

/** The newest current memories, page by page, and the number of all. */
async function readNewest(user, most) {
  const memories = [];
  let [cursor, total] = [undefined, 0];
  do {
    const limit = Math.min(PAGE, most - memories.length);
    const page = await listMemories(user, { status: "current", quarantined: "false", limit, cursor });
    memories.push(...page.items);
    ({ cursor, total } = page);
  } while (cursor !== undefined && memories.length < most);
  return { memories, total };
}

function countLine({ shown, total, alone, on, hubs }) {
  const parts = [
    `${counted(on, "memory", "memories")}, ${counted(hubs, "person or thing", "people and things")}.`,
  ];
  if (alone > 0) parts.push(`${number(alone)} go with no other and are not on it.`);
  if (shown < total) parts.push(`The newest ${number(shown)} of ${number(total)} were looked at.`);
  return parts.join(" ");
}

function nothingYet(total) {
  return emptyState(
    "Nothing to connect yet",
    total === 0
      ? "The map begins with the first memories."
      : "No two memories are about the same person or thing, and none was associated with another.",
    make("a", { href: linkTo("memories"), class: "button" }, "All memories"),
  );
}

function mapButtons(canvas) {
  return make(
    "div",
    { class: "map-buttons", role: "group", "aria-label": "View of the map" },
    make("button", { type: "button", "aria-label": "Zoom in", onclick: canvas.zoomIn }, "+"),
    make("button", { type: "button", "aria-label": "Zoom out", onclick: canvas.zoomOut }, "−"),
    button("Show all", canvas.showAll),
  );
}

/** A chosen node: its words, the way to it, and what it goes with. */
function nodeDetails(node, graph, size) {
  const address = node.hub
    ? linkTo("memories", undefined, { subject: node.hub.value })
    : linkTo("memories", node.id);
  const near = neighbours(graph, graph.places.get(node.id));
  return [
    make("h3", {}, nameOf(node)),
    make("p", {}, make("a", { href: address, class: "button" }, node.hub ? "In the list" : "Open")),
    ...rows(near, (one) => make("a", { href: linkTo("map", one.id, { size }) }, nameOf(one))),
  ];
}

function neighbours({ nodes, edges }, place) {
  const found = new Set();
  for (let i = 0; i < edges.length; i += 2) {
    if (edges[i] === place) found.add(edges[i + 1]);
    if (edges[i + 1] === place) found.add(edges[i]);
  }
  return [...found].map((one) => nodes[one]);
}

/** A list that shows some rows, and more at a click. */
function rows(items, makeContent) {
  const list = make("ul", { class: "plain-rows" });
  let shown = 0;
  const showMore = () => {
    const next = items.slice(shown, shown + ROWS);
    list.append(...next.map((item) => make("li", {}, makeContent(item))));
    shown += next.length;
    return shown < items.length;
  };
  const isMore = showMore();
  return [
    list,
    ...(isMore ? [moreButton(() => `Show more (${number(items.length - shown)})`, showMore)] : []),
  ];
}

function listParts({ hubs, links, nodes, places }) {
  const linkOfMemory = (id) =>
    make("a", { href: linkTo("memories", id) }, textOf(nodes[places.get(id)].memory));
  const linkLine = ({ from, to, type }) => [
    linkOfMemory(from),
    ` · ${(LINK_WORDS[type] ?? [type])[0].toLowerCase()} · `,
    linkOfMemory(to),
  ];
  const parts = hubs.map(({ value, members }) =>
    fold(subjectName(value), members.length, () => rows(members, linkOfMemory)),
  );
  if (links.length > 0)
    parts.unshift(fold("Associations that were made", links.length, () => rows(links, linkLine)));
  return rows(parts, (one) => one);
}

function fold(title, count, makeParts) {
  const place = make("div", {});
  const element = make(
    "details",
    { class: "memory-group" },
    make("summary", {}, title, " ", make("span", { class: "count" }, number(count))),
    place,
  );
  element.ontoggle = () => place.replaceChildren(...(element.open ? makeParts() : []));
  return element;
}
