import { make } from "../parts/make.js";
import { textOf } from "../parts/memory-row.js";
import { subjectName } from "../parts/subject-names.js";
import { createLayout } from "./map-layout.js";

/** Milliseconds of a frame for the layout, and those for the whole frame: drawing takes the rest. */
const LAYOUT_MS = 4;
const FRAME_MS = 7;
/** Above so many nodes, memories are squares, which are drawn in a third of the time. */
const MOST_ROUND = 1500;
const MOST_LABELS = 24;
const LABEL_LENGTH = 34;
/** Pixels around a node in which it is hit. */
const HIT = 14;
const ZOOM = 1.3;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Draws a graph. `chosen` gets the node that is clicked. While the layout settles, each frame shows it, and the view holds all of it
 * until somebody moves it; for those who ask for less motion it is drawn once it has settled. `settled` is called then.
 */
export function mapCanvas(graph, { chosen, settled }) {
  const element = make("canvas", { class: "map-canvas", role: "img", "aria-label": describe(graph) });
  const layout = createLayout(graph.nodes.length, graph.edges);
  const view = { scale: 1, left: 0, top: 0, isHeld: false };
  let selected = -1;
  let frame;
  let isSettled = false;
  let drawMs = 0;

  function run() {
    frame = undefined;
    if (!element.isConnected) return;
    if (!isSettled) {
      isSettled = layout.step(Math.max(1, Math.min(LAYOUT_MS, FRAME_MS - drawMs)));
      if (isSettled) settled();
    }
    if (isSettled || !isStill()) {
      const start = performance.now();
      if (!view.isHeld) fit(element, layout, view);
      drawMap(element, { graph, layout, view, selected });
      drawMs = performance.now() - start;
    }
    if (!isSettled) request();
  }
  function request() {
    frame ??= requestAnimationFrame(run);
  }

  function zoom(factor, [px, py] = [element.clientWidth / 2, element.clientHeight / 2]) {
    view.left = px - (px - view.left) * factor;
    view.top = py - (py - view.top) * factor;
    view.scale *= factor;
    view.isHeld = true;
    request();
  }
  listenToPointer(element, { graph, layout, view, chosen, zoom, request });
  new ResizeObserver(request).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", request);

  return {
    element,
    zoomIn: () => zoom(ZOOM),
    zoomOut: () => zoom(1 / ZOOM),
    showAll() {
      view.isHeld = false;
      request();
    },
    select(place) {
      selected = place;
      request();
    },
    stop() {
      cancelAnimationFrame(frame);
    },
  };
}

function describe({ nodes, hubs, edges }) {
  return `Map of ${nodes.length - hubs.length} memories, ${hubs.length} people and things, and ${edges.length / 2} associations. The list below has the same.`;
}

/** Moves and scales the view so that it holds all nodes. */
function fit({ clientWidth, clientHeight }, { x, y }, view) {
  let [left, top, right, bottom] = [-40, -40, 40, 40];
  for (let i = 0; i < x.length; i += 1) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    top = Math.min(top, y[i]);
    bottom = Math.max(bottom, y[i]);
  }
  const scale = Math.min(2, clientWidth / (right - left + 60), clientHeight / (bottom - top + 60));
  view.scale = scale;
  view.left = clientWidth / 2 - ((left + right) / 2) * scale;
  view.top = clientHeight / 2 - ((top + bottom) / 2) * scale;
}

function listenToPointer(element, { graph, layout, view, chosen, zoom, request }) {
  let last;
  let isDragged = false;
  const pointOf = ({ offsetX, offsetY }) => [offsetX, offsetY];
  element.onpointerdown = (event) => {
    last = pointOf(event);
    isDragged = false;
    element.setPointerCapture(event.pointerId);
  };
  element.onpointermove = (event) => {
    const [px, py] = pointOf(event);
    if (last === undefined) {
      element.title = nameOf(graph.nodes[findNode(layout, view, [px, py])]);
      return;
    }
    if (!isDragged && Math.hypot(px - last[0], py - last[1]) < 4) return;
    isDragged = true;
    view.isHeld = true;
    view.left += px - last[0];
    view.top += py - last[1];
    last = [px, py];
    request();
  };
  element.onpointerup = (event) => {
    last = undefined;
    if (isDragged) return;
    const node = graph.nodes[findNode(layout, view, pointOf(event))];
    if (node) chosen(node);
  };
  element.onpointercancel = () => {
    last = undefined;
  };
  // A plain wheel scrolls the page. Browsers give a pinch as a wheel with the control key.
  element.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(2 ** (-event.deltaY / 200), pointOf(event));
  });
}

/** The place of the nearest node; -1 for none. */
function findNode({ x, y }, { scale, left, top }, [px, py]) {
  let [found, nearest] = [-1, HIT];
  for (let i = 0; i < x.length; i += 1) {
    const distance = Math.hypot(x[i] * scale + left - px, y[i] * scale + top - py);
    if (distance < nearest) [found, nearest] = [i, distance];
  }
  return found;
}

/** The name of a node; empty for none. */
export function nameOf(node) {
  if (!node) return "";
  return node.hub ? subjectName(node.hub.value) : textOf(node.memory);
}

function drawMap(element, { graph, layout, view, selected }) {
  const ratio = devicePixelRatio;
  const [width, height] = [element.clientWidth * ratio, element.clientHeight * ratio].map(Math.round);
  if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
  const context = element.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  const { scale, left, top } = view;
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
  const colours = readColours(element);
  drawEdges(context, { graph, layout, scale, selected, colours });
  drawNodes(context, { graph, layout, scale, selected, colours });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawLabels(context, { graph, layout, view, selected, colours, element });
}

function readColours(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(`--${name}`);
  return {
    soft: read("soft"),
    accent: read("accent"),
    amber: read("amber"),
    ink: read("ink"),
    card: read("card"),
    font: style.fontFamily,
  };
}

function drawEdges(context, { graph: { edges, links }, layout: { x, y }, scale, selected, colours }) {
  const stored = links.length * 2;
  const trace = (from, to, isWanted) => {
    context.beginPath();
    for (let place = from; place < to; place += 2) {
      const [a, b] = [edges[place], edges[place + 1]];
      if (!isWanted(a, b)) continue;
      context.moveTo(x[a], y[a]);
      context.lineTo(x[b], y[b]);
    }
    context.stroke();
  };
  context.lineWidth = 1 / scale;
  context.strokeStyle = colours.soft;
  context.globalAlpha = 0.45;
  trace(stored, edges.length, () => true);
  context.globalAlpha = 1;
  context.strokeStyle = colours.amber;
  trace(0, stored, () => true);
  if (selected < 0) return;
  context.lineWidth = 2 / scale;
  context.strokeStyle = colours.accent;
  trace(0, edges.length, (a, b) => a === selected || b === selected);
}

const radiusOf = (node, degree) => (node.hub ? 4 + 1.5 * Math.sqrt(degree) : 3.5);

function drawNodes(context, { graph: { nodes, hubs }, layout: { x, y, degrees }, scale, selected, colours }) {
  const isRound = nodes.length <= MOST_ROUND;
  const size = Math.max(3.5, 1.2 / scale);
  const circle = (i, radius) => {
    context.moveTo(x[i] + radius, y[i]);
    context.arc(x[i], y[i], radius, 0, 2 * Math.PI);
  };
  context.fillStyle = colours.soft;
  context.beginPath();
  for (let i = 0; i < nodes.length; i += 1) {
    if (nodes[i].hub) continue;
    if (isRound) circle(i, size);
    else context.rect(x[i] - size, y[i] - size, 2 * size, 2 * size);
  }
  context.fill();
  context.fillStyle = colours.accent;
  context.beginPath();
  for (let i = 0; hubs.length > 0 && i < nodes.length; i += 1)
    if (nodes[i].hub) circle(i, radiusOf(nodes[i], degrees[i]));
  context.fill();
  if (selected < 0) return;
  context.lineWidth = 3 / scale;
  context.strokeStyle = colours.ink;
  context.beginPath();
  circle(selected, radiusOf(nodes[selected], degrees[selected]) + 3 / scale);
  context.stroke();
}

/** Names the selected node and the largest persons and things, and memories where few are in sight. A name covers no other. */
function drawLabels(
  context,
  { graph: { nodes }, layout, view: { scale, left, top }, selected, colours, element },
) {
  const { x, y, degrees } = layout;
  const places = [];
  for (let i = 0; i < nodes.length; i += 1) {
    const [px, py] = [x[i] * scale + left, y[i] * scale + top];
    const isSeen = px > 0 && py > 0 && px < element.clientWidth && py < element.clientHeight;
    if (isSeen && (nodes[i].hub || scale > 1.2 || i === selected)) places.push([i, px, py]);
  }
  const rank = (i) => (i === selected ? 1e9 : nodes[i].hub ? 1e6 + degrees[i] : degrees[i]);
  places.sort(([one], [other]) => rank(other) - rank(one));
  context.font = `12px ${colours.font}`;
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = colours.card;
  context.fillStyle = colours.ink;
  const taken = [];
  for (const [i, px, py] of places.slice(0, MOST_LABELS)) {
    const text = shorten(nameOf(nodes[i]));
    const width = context.measureText(text).width;
    const away = radiusOf(nodes[i], degrees[i]) * scale + 4;
    // On the left, where the right edge would cut it.
    const start = px + away + width < element.clientWidth ? px + away : Math.max(2, px - away - width);
    const isFree = taken.every(([l, t, w]) => start > l + w || l > start + width || Math.abs(py - t) > 14);
    if (!isFree) continue;
    taken.push([start, py, width]);
    context.strokeText(text, start, py);
    context.fillText(text, start, py);
  }
}

function shorten(text) {
  return text.length <= LABEL_LENGTH ? text : `${text.slice(0, LABEL_LENGTH - 1).toWellFormed()}…`;
}
