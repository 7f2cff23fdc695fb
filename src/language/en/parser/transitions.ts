import type { MoveKind } from "./model-file.ts";
import { CONTEXT_WORDS, MAX_WORDS, type Network } from "./network.ts";

/** An arc-eager parse of a run of words; the arrays are overwritten by the next one. */
export interface ParsedRun {
  /** The head of each word, -1 for a root. */
  readonly heads: Int32Array;
  /** The move that made the arc of each word, -1 for a root. */
  readonly moves: Int32Array;
}

type MoveTable = readonly (readonly [kind: MoveKind, label: string])[];

const KINDS: readonly MoveKind[] = ["S", "D", "L", "R", "B"];
const SHIFT = 0;
const REDUCE = 1;
const LEFT = 2;
const RIGHT = 3;
const BREAK = 4;

/**
 * Parses runs greedily, by the transition system of spaCy: arc-eager, non-monotonic (a word without a head goes back to the buffer),
 * with breaks between sentences. It takes at most four moves a word.
 */
export function createTransitionParser(
  table: MoveTable,
  score: Network["score"],
): (count: number) => ParsedRun {
  const kinds = Uint8Array.from(table, ([kind]) => KINDS.indexOf(kind));
  const state = createParseState();
  const context = new Int32Array(CONTEXT_WORDS);
  const isValid = new Uint8Array(KINDS.length);
  return (count) => {
    state.start(count);
    while (!state.isFinal()) {
      state.describe(context);
      state.findValid(isValid);
      const move = findBest(score(context), kinds, isValid);
      if (move < 0) break;
      state.apply(kinds[move] as number, move);
    }
    return state.arcs;
  };
}

function findBest(scores: Float32Array, kinds: Uint8Array, isValid: Uint8Array): number {
  let best = -1;
  let most = Number.NEGATIVE_INFINITY;
  for (let move = 0; move < kinds.length; move += 1) {
    const score = scores[move] as number;
    if (score > most && isValid[kinds[move] as number]) {
      best = move;
      most = score;
    }
  }
  return best;
}

/** The words that are being read: a stack, and the buffer with words that went back to it. */
interface WordQueue {
  start(count: number): void;
  /** Words of the stack. */
  depth(): number;
  /** Words of the buffer. */
  rest(): number;
  /** A word of the stack, from the top; -1 past its end. */
  stackAt(i: number): number;
  /** A word of the buffer, from its beginning; -1 past its end. */
  bufferAt(i: number): number;
  push(): void;
  pop(): void;
  /** Puts the top of the stack back before the buffer. */
  returnTop(): void;
}

function createWordQueue(): WordQueue {
  const stack = new Int32Array(MAX_WORDS);
  const returned = new Int32Array(MAX_WORDS);
  let length = 0;
  let depth = 0;
  let returnedCount = 0;
  let next = 0;
  const bufferAt = (i: number): number => {
    if (i < returnedCount) return returned[returnedCount - 1 - i] as number;
    const word = next + i - returnedCount;
    return word < length ? word : -1;
  };
  return {
    start(count) {
      length = count;
      depth = 0;
      returnedCount = 0;
      next = 0;
    },
    depth: () => depth,
    rest: () => length - next + returnedCount,
    stackAt: (i) => (i < depth ? (stack[depth - 1 - i] as number) : -1),
    bufferAt,
    push() {
      stack[depth] = bufferAt(0);
      depth += 1;
      if (returnedCount > 0) returnedCount -= 1;
      else next += 1;
    },
    pop() {
      depth -= 1;
    },
    returnTop() {
      depth -= 1;
      returned[returnedCount] = stack[depth] as number;
      returnedCount += 1;
    },
  };
}

interface ArcSet extends ParsedRun {
  start(count: number): void;
  /** The newest child of a word on a side; -1 if it has none. */
  lastLeft(word: number): number;
  lastRight(word: number): number;
  add(head: number, child: number, move: number): void;
}

function createArcSet(): ArcSet {
  const heads = new Int32Array(MAX_WORDS);
  const moves = new Int32Array(MAX_WORDS);
  const left = new Int32Array(MAX_WORDS);
  const right = new Int32Array(MAX_WORDS);
  // For each word, the child before it on the same side of its head.
  const before = new Int32Array(MAX_WORDS);
  return {
    heads,
    moves,
    start(count) {
      for (const array of [heads, moves, left, right, before]) array.fill(-1, 0, count);
    },
    lastLeft: (word) => (word < 0 ? -1 : (left[word] as number)),
    lastRight: (word) => (word < 0 ? -1 : (right[word] as number)),
    add(head, child, move) {
      const old = heads[child] as number;
      if (old >= 0) {
        // Only the newest child of its head can get another one.
        const siblings = old > child ? left : right;
        if (siblings[old] === child) siblings[old] = before[child] as number;
      }
      const children = head > child ? left : right;
      before[child] = children[head] as number;
      children[head] = child;
      heads[child] = head;
      moves[child] = move;
    },
  };
}

interface ParseState {
  readonly arcs: ArcSet;
  start(count: number): void;
  isFinal(): boolean;
  /** Writes the words that the scores depend on: two of the buffer, three of the stack, and three outer children. */
  describe(context: Int32Array): void;
  findValid(isValid: Uint8Array): void;
  apply(kind: number, move: number): void;
}

function createParseState(): ParseState {
  const arcs = createArcSet();
  const queue = createWordQueue();
  const isUnshiftable = new Uint8Array(MAX_WORDS);
  const isStart = new Uint8Array(MAX_WORDS + 1);
  const reduce = (): void => {
    const top = queue.stackAt(0);
    if ((arcs.heads[top] as number) >= 0 || queue.depth() === 1) queue.pop();
    else {
      isUnshiftable[top] = 1;
      queue.returnTop();
    }
  };
  return {
    arcs,
    start(count) {
      arcs.start(count);
      queue.start(count);
      isUnshiftable.fill(0, 0, count);
      isStart.fill(0, 0, count);
    },
    isFinal: () => queue.depth() === 0 && queue.rest() === 0,
    describe(context) {
      const b0 = queue.bufferAt(0);
      const s0 = queue.stackAt(0);
      context[0] = b0;
      context[1] = queue.bufferAt(1);
      context[2] = s0;
      context[3] = queue.stackAt(1);
      context[4] = queue.stackAt(2);
      context[5] = arcs.lastLeft(b0);
      context[6] = arcs.lastLeft(s0);
      context[7] = arcs.lastRight(s0);
    },
    findValid(isValid) {
      const b0 = queue.bufferAt(0);
      const b1 = queue.bufferAt(1);
      const hasStack = queue.depth() > 0;
      const mayLink = hasStack && b0 >= 0 && !isStart[b0];
      isValid[SHIFT] = Number(!hasStack || (mayLink && b1 >= 0 && !isUnshiftable[b0]));
      isValid[REDUCE] = Number(hasStack);
      isValid[LEFT] = Number(mayLink);
      isValid[RIGHT] = Number(mayLink);
      isValid[BREAK] = Number(b1 >= 0 && b1 === b0 + 1 && !isStart[b1]);
    },
    apply(kind, move) {
      if (kind === SHIFT) queue.push();
      else if (kind === REDUCE) reduce();
      else if (kind === LEFT) {
        const b0 = queue.bufferAt(0);
        arcs.add(b0, queue.stackAt(0), move);
        isUnshiftable[b0] = 0;
        queue.pop();
      } else if (kind === RIGHT) {
        arcs.add(queue.stackAt(0), queue.bufferAt(0), move);
        queue.push();
      } else isStart[queue.bufferAt(1)] = 1;
    },
  };
}
