import { readFileSync } from "node:fs";
import { createWordCache } from "../../../domain/search/search-terms.ts";
import { runAtOnce, runInSlices } from "../../../domain/time-slicing.ts";
import { countPieces, splitIntoPieces } from "../embedding/sentence-vectors.ts";
import { readModelFile } from "../model-file.ts";
import { type Layer, multiply, readLayer } from "../word-encoder.ts";
import { createTopBlocks, createTransformer, type TopBlocks, type Transformer } from "./transformer.ts";
import { type RoledPieces, type TextToRead, toWindows } from "./windows.ts";

/** The model that `scripts/reader/train_reader.py` trains. */
const FILE = new URL("../../../../assets/reader-en.bin", import.meta.url);
/** The reading that `scripts/reader/train_tops.py` trains on top of the reader's first blocks. */
const TOPS_FILE = new URL("../../../../assets/reader-tops-en.bin", import.meta.url);
const SHARED_BLOCKS = 4;
const HEADS = 12;
const PARTS = 5;
/** Pieces of a sentence that are read. */
const MOST_PIECES = 120;

interface Reader {
  readonly transformer: Transformer;
  readonly request: Layer;
  readonly parts: Layer;
  readonly meant: Layer;
  readonly answers: Layer;
}

let loaded: Reader | undefined;

function loadReader(): Reader {
  if (loaded) return loaded;
  const { tensors } = readModelFile<object>(readFileSync(FILE), "KSREADR2");
  loaded = {
    transformer: createTransformer(tensors, { heads: HEADS }),
    request: readLayer(tensors, "request"),
    parts: readLayer(tensors, "parts"),
    meant: readLayer(tensors, "meant"),
    answers: readLayer(tensors, "answers"),
  };
  return loaded;
}

/** What goes on from the reader's first blocks: whether a statement ends what was said before. */
interface Top {
  readonly blocks: TopBlocks;
  readonly head: Layer;
}

let loadedTop: Top | undefined;

function loadTop({ transformer: { width, mostTokens } }: Reader): Top {
  if (loadedTop) return loadedTop;
  const { tensors } = readModelFile<object>(readFileSync(TOPS_FILE), "KSTOPS01");
  loadedTop = {
    blocks: createTopBlocks(tensors, { heads: HEADS, width, mostTokens, prefix: "ends." }),
    head: readLayer(tensors, "ends.head"),
  };
  return loadedTop;
}

/** What a sentence asks for: the probability that it asks to forget, and of each of its words the part that it belongs to. */
export interface SentenceReading {
  readonly probability: number;
  readonly words: readonly { readonly start: number; readonly part: number }[];
}

/**
 * Reads a sentence for a request to forget. Takes some 15 ms for 15 words; the first call reads the model. Of a sentence of more than
 * 120 word pieces the first are read.
 */
export function readSentenceForRequest(sentence: string): SentenceReading {
  const { transformer, request, parts } = loadReader();
  const pieces = splitIntoPieces(sentence).slice(0, MOST_PIECES);
  if (pieces.length === 0) return { probability: 0, words: [] };
  const tokens = [countPieces(), ...pieces.map(({ row }) => row), countPieces() + 1];
  const rows = runAtOnce(
    transformer.read(
      tokens,
      tokens.map(() => 0),
    ),
  );
  const { width } = transformer;
  const mean = meanOf(rows, width, 1, pieces.length + 1);
  const words: { start: number; part: number }[] = [];
  for (const [i, { start }] of pieces.entries()) {
    if (words.at(-1)?.start === start) continue;
    const scores = multiply(parts, rows, (i + 1) * width, width, PARTS);
    words.push({ start, part: scores.indexOf(Math.max(...scores)) });
  }
  return { probability: toProbability(multiply(request, mean, 0, width, 1)[0] as number), words };
}

/** A request or a question before some of what was said: word pieces with their roles, and where each clause stands among them. */
export interface WindowToRate {
  readonly tokens: readonly number[];
  readonly roles: readonly number[];
  readonly clauses: readonly { readonly from: number; readonly to: number }[];
}

const CACHED_WINDOWS = 32;
const cache = createWordCache<readonly number[]>();
/** The readings in progress. An erasure empties this, too, and what was being read meanwhile is not kept. */
const inProgress = createWordCache<true>();
let readings = 0;
/** Ends with the last reading that was asked for. */
let lastReading: Promise<void> = Promise.resolve();

/**
 * What a clause of a window is rated by: that the request means it, that it answers the question, or that it ends what was said before, which
 * stands in place of a question.
 */
export type Rating = "meant" | "answers" | "ends";

/** One answer's use of the reader. An answer gives up where others use it for too long; a request to forget waits. */
export interface ReaderUse {
  readonly user: string;
}

/** Rates the clauses of a window, here or in another thread. Throws `ReaderBusyError` where a use has waited for too long. */
export type RateWindow = (
  window: WindowToRate,
  rating: Rating,
  use?: ReaderUse,
) => Promise<readonly number[]>;

/** The reader has more to do than an answer can wait for. */
export class ReaderBusyError extends Error {
  constructor() {
    super("The reader is busy.");
  }
}

/** Runs the steps of a reading, between which other work may run. */
type RunReading = <Result>(work: Generator<void, Result, void>) => Promise<Result>;

/**
 * The probability of each clause of a window. The last windows are kept until the next erasure. Windows are read one after the other: read
 * side by side, none would be done sooner, and each would hold megabytes all the while.
 */
export async function rateWindow(
  window: WindowToRate,
  rating: Rating,
  run: RunReading = runInSlices,
): Promise<readonly number[]> {
  const key = JSON.stringify([rating, window]);
  const known = cache.get(key);
  if (known) return known;
  const reader = loadReader();
  readings += 1;
  const reading = String(readings);
  inProgress.set(reading, true);
  const rowsOfWindow = lastReading.then(() => readRows(reader, window, rating, run));
  lastReading = rowsOfWindow.then(ignore, ignore);
  const { rows, head } = await rowsOfWindow;
  const mayKeep = inProgress.delete(reading);
  const { width } = reader.transformer;
  const probabilities = window.clauses.map(({ from, to }) =>
    toProbability(multiply(head, meanOf(rows, width, from, to), 0, width, 1)[0] as number),
  );
  if (!mayKeep) return probabilities;
  if (cache.size >= CACHED_WINDOWS) cache.delete(cache.keys().next().value as string);
  cache.set(key, probabilities);
  return probabilities;
}

function ignore(): void {}

async function readRows(
  reader: Reader,
  { tokens, roles }: WindowToRate,
  rating: Rating,
  run: RunReading,
): Promise<{ rows: Float32Array; head: Layer }> {
  const { transformer } = reader;
  if (rating !== "ends") return { rows: await run(transformer.read(tokens, roles)), head: reader[rating] };
  const { blocks, head } = loadTop(reader);
  const lower = await run(transformer.read(tokens, roles, SHARED_BLOCKS));
  return { rows: await run(blocks.read(lower)), head };
}

/**
 * The probability of each clause of some texts behind a request or a question, in order; clauses without a word piece are left out. Each
 * window is read by `rate` in some 100 ms; by default here, in steps between which other work runs.
 */
export async function rateTexts<C, T extends TextToRead<C>>(
  head: RoledPieces,
  texts: readonly T[],
  rating: Rating,
  rate: RateWindow = (window, rating) => rateWindow(window, rating),
): Promise<{ readonly text: T; readonly clause: C; readonly probability: number }[]> {
  const places = texts.flatMap((text) => {
    let done = 0;
    return text.entries.map(({ clauses }) => {
      const first = done;
      done += clauses.length;
      return { text, first };
    });
  });
  const windows = toWindows(
    head,
    texts.flatMap(({ entries }) => entries),
  );
  const rated: { text: T; clause: C; probability: number }[] = [];
  for (const window of windows) {
    const probabilities = await rate(window, rating);
    for (const [i, { entry, clause }] of window.clauses.entries()) {
      const { text, first } = places[entry] as { text: T; first: number };
      rated.push({
        text,
        clause: text.clauses[first + clause] as C,
        probability: probabilities[i] as number,
      });
    }
  }
  return rated;
}

/** The mean of some rows. */
function meanOf(rows: Float32Array, width: number, from: number, to: number): Float32Array {
  const mean = new Float32Array(width);
  for (let t = from; t < to; t += 1)
    for (let i = 0; i < width; i += 1)
      mean[i] = (mean[i] as number) + (rows[t * width + i] as number) / (to - from);
  return mean;
}

const toProbability = (score: number): number => 1 / (1 + Math.exp(-score));
