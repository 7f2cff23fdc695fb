import { readParserModel } from "./model-file.ts";
import { createNetwork, MAX_WORDS } from "./network.ts";
import { createTokenizer, type Tokenizer, type WordSpan } from "./tokenizer.ts";
import { createTransitionParser, type ParsedRun } from "./transitions.ts";

/** A word of a sentence with its place in the tree. */
export interface ParsedToken {
  readonly text: string;
  readonly lower: string;
  /** Offsets in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The Penn Treebank tag: `NN`, `VBD`, … */
  readonly tag: string;
  /** The universal part of speech: `NOUN`, `VERB`, … */
  readonly pos: string;
  /** The index of the head in the sentence; -1 for the root. */
  readonly head: number;
  /** The relation to the head, from Universal Dependencies: `nsubj`, `obj`, …; `root` for the root. */
  readonly label: string;
}

/** A sentence with one root. */
export interface ParsedSentence {
  readonly start: number;
  readonly end: number;
  readonly tokens: readonly ParsedToken[];
}

export interface DependencyParser {
  /** The sentences of an English text, in order. Every word is in one of them. It takes time in proportion to the length. */
  parse(text: string): ParsedSentence[];
  /** The words of those sentences, without their trees. */
  readonly tokenize: Tokenizer;
}

/**
 * A dependency parser from the bytes of a model file (`assets/parser-en.bin`). Sentences are cut at punctuation and line ends first,
 * inside by the model; runs of more than 200 words are cut. It keeps no state between texts. Throws `corrupt` for other bytes. With
 * `isPlain` it does without WebAssembly.
 */
export function loadParser(bytes: Uint8Array, options: { isPlain?: boolean } = {}): DependencyParser {
  const model = readParserModel(bytes);
  const tokenize = createTokenizer(model.exceptions);
  const network = createNetwork(model, options.isPlain);
  const parseRun = createTransitionParser(model.moves, network.score);
  return {
    tokenize,
    parse(text) {
      const sentences: ParsedSentence[] = [];
      for (const words of findSentenceRuns(tokenize(text), text, MAX_WORDS)) {
        const { tags, parts } = network.read(words);
        const run = parseRun(words.length);
        const labels = Array.from(words, (_, i) => model.moves[run.moves[i] as number]?.[1] ?? "root");
        const bounds = findSentences(run, words.length);
        const heads = restoreHeads(run, labels);
        for (const [from, to] of bounds) {
          const tokens = words.slice(from, to).map((word, i) => {
            const index = from + i;
            const head = heads[index] as number;
            return {
              text: word.text,
              lower: word.text.toLowerCase(),
              start: word.start,
              end: word.end,
              tag: model.tags[tags[index] as number] as string,
              pos: model.parts[parts[index] as number] as string,
              head: head < 0 ? -1 : head - from,
              label: labels[index] as string,
            };
          });
          sentences.push(createSentence(tokens));
        }
      }
      return sentences;
    },
  };
}

function createSentence(tokens: readonly ParsedToken[]): ParsedSentence {
  return { start: tokens[0]?.start ?? 0, end: tokens.at(-1)?.end ?? 0, tokens };
}

/** Sentences as [from, to) of a run: each begins at the leftmost word of a root's tree. */
function findSentences({ heads }: ParsedRun, count: number): [from: number, to: number][] {
  const roots = new Int32Array(count);
  const findRoot = (word: number): number => {
    let root = word;
    while ((heads[root] as number) >= 0) root = heads[root] as number;
    return root;
  };
  for (let i = 0; i < count; i += 1) roots[i] = findRoot(i);
  const bounds: [from: number, to: number][] = [];
  let from = 0;
  for (let i = 1; i <= count; i += 1) {
    if (i < count && roots[i] === roots[from]) continue;
    bounds.push([from, i]);
    from = i;
  }
  return bounds;
}

const PSEUDO = "||";

/**
 * Heads with crossing arcs put back. Training makes trees projective: the label `obj||xcomp` says that the head is the nearest
 * `xcomp` below the head given (Nivre and Nilsson 2005). Labels are shortened in place.
 */
function restoreHeads({ heads }: ParsedRun, labels: string[]): Int32Array {
  const restored = heads.slice(0, labels.length);
  labels.forEach((label, word) => {
    const cut = label.indexOf(PSEUDO);
    if (cut < 0) return;
    labels[word] = label.slice(0, cut);
    restored[word] = findLabelBelow(restored, labels, word, label.slice(cut + PSEUDO.length));
  });
  return restored;
}

/** The nearest word of a label below the head of a word, breadth first; the head itself if there is none. */
function findLabelBelow(heads: Int32Array, labels: readonly string[], word: number, label: string): number {
  const head = heads[word] as number;
  let level = [head];
  while (level.length > 0) {
    const below: number[] = [];
    for (const parent of level) {
      for (let child = 0; child < labels.length; child += 1) {
        if (heads[child] !== parent || child === word) continue;
        if (labels[child] === label) return child;
        below.push(child);
      }
    }
    level = below;
  }
  return head;
}

const CLOSING = /^(?:["'”’)\]}»]|\.|!|\?)+$/;
const ENDING = /^(?:[!?]|\.|…|\.{2,})$/;
const UNSURE = /^(?:…|\.{2,})$/;

/**
 * Cuts words into runs that no sentence crosses: at line ends, and after `.`, `!` and `?` with what closes a quotation. Dots of
 * omission end a sentence only before a capital. A run has at most `limit` words; the parser may find several sentences in it.
 */
function findSentenceRuns(words: readonly WordSpan[], text: string, limit: number): WordSpan[][] {
  const runs: WordSpan[][] = [];
  let run: WordSpan[] = [];
  words.forEach((word, index) => {
    run.push(word);
    const next = words[index + 1];
    if (!next || run.length === limit || isBoundary(run, next, text)) {
      runs.push(run);
      run = [];
    }
  });
  return runs;
}

function isBoundary(run: readonly WordSpan[], next: WordSpan, text: string): boolean {
  const last = run.at(-1) as WordSpan;
  if (last.end === next.start) return false;
  if (/[\n\r\u2028\u2029]/.test(text.slice(last.end, next.start))) return true;
  let at = run.length - 1;
  while (at > 0 && CLOSING.test((run[at] as WordSpan).text) && !ENDING.test((run[at] as WordSpan).text))
    at -= 1;
  const mark = (run[at] as WordSpan).text;
  if (!ENDING.test(mark) || at === 0) return false;
  return !UNSURE.test(mark) || /^\p{Lu}/u.test(next.text);
}
