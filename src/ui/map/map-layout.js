/** How far nodes push each other away, and the width of a cell of the grid by which neighbours are found. */
const REACH = 60;
const PUSH = 26;
const PULL = 0.35;
const TO_CENTRE = 0.012;
const KEPT_SPEED = 0.6;
const COOLING = 0.98;
/** Above so many nodes, each step cools more, so that a large map settles in some seconds too. */
const MOST_SLOW = 1500;
const FAST_COOLING = 0.94;
const COLD = 0.012;
/** The length of an edge at rest. */
const LENGTH = 34;
/** The distance of nodes on the spiral on which they begin. */
const SPACING = 26;
/** Nodes or edges of one slice of work: some tens of microseconds. */
const SLICE = 64;
/** Of the nodes in a cell, these many push. Where there are more, they are spread within some steps. */
const MOST_IN_CELL = 12;

/**
 * A force layout: nodes push each other away, edges pull, all are drawn to the centre, and everything cools down. `edges` are pairs
 * of places. `step(budget)` works for about so many milliseconds, and gives whether the layout has settled. The same graph gives
 * the same layout. `now` tells the time in milliseconds.
 */
export function createLayout(count, edges, now = () => performance.now()) {
  const x = new Float32Array(count);
  const y = new Float32Array(count);
  const speeds = { x: new Float32Array(count), y: new Float32Array(count) };
  const degrees = new Uint16Array(count);
  for (const place of edges) degrees[place] += 1;
  placeOnSpiral(x, y);
  const body = { count, x, y, speeds, degrees, edges };
  const work = settle(body);
  let isSettled = count === 0;
  return {
    x,
    y,
    degrees,
    step(budget) {
      const end = now() + budget;
      do isSettled ||= work.next().done === true;
      while (!isSettled && now() < end);
      return isSettled;
    },
  };
}

/** Nodes that follow each other begin side by side. */
function placeOnSpiral(x, y) {
  const turn = SPACING / (2 * Math.PI);
  for (let i = 0; i < x.length; i += 1) {
    const angle = Math.sqrt((2 * (i + 1) * SPACING) / turn);
    x[i] = turn * angle * Math.cos(angle);
    y[i] = turn * angle * Math.sin(angle);
  }
}

/** The whole work, in slices. */
function* settle(body) {
  const cooling = body.count > MOST_SLOW ? FAST_COOLING : COOLING;
  for (let heat = 1; heat > COLD; heat *= cooling) {
    const grid = createGrid(body);
    for (let from = 0; from < body.count; from += SLICE) {
      for (let i = from; i < Math.min(body.count, from + SLICE); i += 1) pushAway(body, grid, i, heat);
      yield;
    }
    for (let from = 0; from < body.edges.length; from += SLICE * 8) {
      pullTogether(body, from, Math.min(body.edges.length, from + SLICE * 8), heat);
      yield;
    }
    move(body, heat);
    yield;
  }
}

/** The nodes by cell: `order` has them sorted by cell, and `starts` where each cell begins in it. */
function createGrid({ count, x, y }) {
  let [left, top, right, bottom] = [0, 0, 0, 0];
  for (let i = 0; i < count; i += 1) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    top = Math.min(top, y[i]);
    bottom = Math.max(bottom, y[i]);
  }
  const columns = Math.floor((right - left) / REACH) + 1;
  const rows = Math.floor((bottom - top) / REACH) + 1;
  const cellOf = (i) => Math.floor((y[i] - top) / REACH) * columns + Math.floor((x[i] - left) / REACH);
  const starts = new Int32Array(columns * rows + 1);
  for (let i = 0; i < count; i += 1) starts[cellOf(i) + 1] += 1;
  for (let cell = 0; cell < columns * rows; cell += 1) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  const order = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    const cell = cellOf(i);
    order[next[cell]] = i;
    next[cell] += 1;
  }
  return { columns, rows, cellOf, starts, order };
}

function pushAway(body, { columns, rows, cellOf, starts, order }, i, heat) {
  const cell = cellOf(i);
  const [column, row] = [cell % columns, Math.floor(cell / columns)];
  for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r += 1)
    for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c += 1) {
      const start = starts[r * columns + c];
      const end = Math.min(starts[r * columns + c + 1], start + MOST_IN_CELL);
      for (let place = start; place < end; place += 1)
        if (order[place] !== i) push(body, i, order[place], heat);
    }
}

function push({ x, y, speeds }, i, other, heat) {
  // Two nodes at the same spot are parted by their numbers.
  const dx = x[i] - x[other] || (i - other) * 1e-3;
  const dy = y[i] - y[other];
  const distance = Math.hypot(dx, dy);
  if (distance >= REACH) return;
  const force = (PUSH * heat * (1 - distance / REACH)) / (distance + 4);
  speeds.x[i] += dx * force * 0.2;
  speeds.y[i] += dy * force * 0.2;
}

function pullTogether({ x, y, speeds, degrees, edges }, from, to, heat) {
  for (let place = from; place < to; place += 2) {
    const [a, b] = [edges[place], edges[place + 1]];
    const dx = x[b] - x[a];
    const dy = y[b] - y[a];
    const distance = Math.hypot(dx, dy) || 1;
    const length = LENGTH + 3 * Math.sqrt(Math.max(degrees[a], degrees[b]));
    const force = (PULL * heat * (distance - length)) / distance / Math.min(degrees[a], degrees[b], 8);
    // The one with fewer edges moves more.
    const share = degrees[a] / (degrees[a] + degrees[b]);
    speeds.x[b] -= dx * force * share;
    speeds.y[b] -= dy * force * share;
    speeds.x[a] += dx * force * (1 - share);
    speeds.y[a] += dy * force * (1 - share);
  }
}

function move({ count, x, y, speeds }, heat) {
  for (let i = 0; i < count; i += 1) {
    speeds.x[i] = (speeds.x[i] - x[i] * TO_CENTRE * heat) * KEPT_SPEED;
    speeds.y[i] = (speeds.y[i] - y[i] * TO_CENTRE * heat) * KEPT_SPEED;
    x[i] += speeds.x[i];
    y[i] += speeds.y[i];
  }
}
