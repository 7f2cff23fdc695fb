import { readFileSync } from "node:fs";
import { createWordCache, memoizeByWord } from "../../../../domain/search/search-terms.ts";
import { embedWord, SENTENCE_DIMENSIONS } from "../../embedding/sentence-vectors.ts";
import { findTensor, readModelFile, type Tensor, toFloats } from "../../model-file.ts";
import { type Convolution, createConvolution } from "../../parser/convolution.ts";
import { tokenizeEnglish } from "../../parser/english-trees.ts";
import type { WordSpan } from "../../parser/tokenizer.ts";

/** The model that `scripts/forgetting/train.py` trains on sentences of `requests.txt` and of real chats. */
const FILE = new URL("../../../../../assets/requests-en.bin", import.meta.url);
/** Words of a sentence that are read; a sentence of more is no request that somebody types. */
const MOST_WORDS = 120;
const LAYERS = 2;
/** Words that each convolution looks at. */
const WINDOW = 3;
const HEADS = 2;
/** What a run of words in a request says. */
export type RequestPart = "target" | "told" | "kept" | "when";
const PARTS: readonly (RequestPart | undefined)[] = [undefined, "target", "told", "kept", "when"];

/** A run of words of a request, with offsets in its sentence. */
export interface RequestSpan {
  readonly part: RequestPart;
  readonly start: number;
  readonly end: number;
}

/** A sentence as the model reads it. */
export interface ReadRequest {
  /** The probability that it asks to forget something, or not to keep it. */
  readonly probability: number;
  /** What its words say if it is likelier than not, in order: what is to go, what is told and not to be kept, what is to stay, and when. */
  readonly spans: readonly RequestSpan[];
}

const CACHED_WORDS = 5_000;

const NO_REQUEST: ReadRequest = { probability: 0, spans: [] };

interface Layer {
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

interface Norm {
  readonly gain: Float32Array;
  readonly shift: Float32Array;
}

interface RequestModel {
  readonly width: number;
  readonly words: ReadonlyMap<string, number>;
  readonly wordRows: Float32Array;
  readonly shapes: Float32Array;
  readonly projection: Layer;
  readonly norms: readonly Norm[];
  readonly convolution: Convolution;
  readonly attention: Layer;
  readonly output: Layer;
  readonly parts: Layer;
}

let loaded: RequestModel | undefined;

function loadModel(): RequestModel {
  if (loaded) return loaded;
  const { header, tensors } = readModelFile<{
    readonly words: readonly string[];
    readonly signsWeight: number;
  }>(readFileSync(FILE), "KSREQST1");
  const tensor = (name: string): Tensor => findTensor(tensors, name);
  const values = (name: string): Float32Array => toFloats(tensor(name));
  const layer = (name: string): Layer => ({
    weights: values(`${name}.weights`),
    bias: values(`${name}.bias`),
  });
  loaded = {
    width: tensor("words").columns,
    words: new Map(header.words.map((word, i) => [word, i + 1])),
    wordRows: values("words"),
    shapes: values("shapes"),
    projection: layer("projection"),
    norms: Array.from({ length: LAYERS + 1 }, (_, i) => ({
      gain: values(`norm${i}.gain`),
      shift: values(`norm${i}.shift`),
    })),
    convolution: createConvolution(
      Array.from({ length: LAYERS }, (_, i) => ({
        weights: tensor(`layer${i}.weights`),
        bias: values(`layer${i}.bias`),
      })),
      { words: MOST_WORDS, window: WINDOW },
    ),
    attention: layer("attention"),
    output: layer("output"),
    parts: layer("parts"),
  };
  return loaded;
}

/**
 * Whether a sentence asks to forget, and what its words mean: a network of two convolutions over the vectors of its words, trained and
 * calibrated by `scripts/forgetting/train.py`. It takes some 0.3 ms for 15 words. The first call reads the model and the table of word vectors.
 */
export function readRequest(sentence: string): ReadRequest {
  const known = cache.get(sentence);
  if (known) return known;
  const read = readWords(sentence);
  if (sentence.length > CACHED_LENGTH) return read;
  if (cache.size >= CACHED_SENTENCES) cache.delete(cache.keys().next().value as string);
  cache.set(sentence, read);
  return read;
}

const CACHED_SENTENCES = 64;
const CACHED_LENGTH = 1_000;
const cache = createWordCache<ReadRequest>();

function readWords(sentence: string): ReadRequest {
  const words = tokenizeEnglish(sentence);
  if (words.length === 0 || words.length > MOST_WORDS) return NO_REQUEST;
  const model = loadModel();
  let rows = embedWords(model, words);
  for (let i = 0; i < LAYERS; i += 1) rows = convolve(model, i, rows, words.length);
  const pooled = attend(model, rows, words.length);
  const score = scoreSentence(model, rows, words.length, pooled);
  const spans = score < 0 ? [] : labelWords(model, rows, words, pooled);
  return { probability: 1 / (1 + Math.exp(-score)), spans };
}

/** The projection of a word's vector, with its own row if it is a frequent one. */
const projectWord = memoizeByWord(CACHED_WORDS, (word): Float32Array => {
  const { projection, words, wordRows, width } = loadModel();
  const own = (words.get(word) ?? 0) * width;
  const row = multiply(projection, embedWord(word), 0, SENTENCE_DIMENSIONS, width);
  for (let i = 0; i < width; i += 1) row[i] = (row[i] as number) + (wordRows[own + i] as number);
  return row;
});

function embedWords(model: RequestModel, words: readonly WordSpan[]): Float32Array {
  const { width, shapes } = model;
  const rows = new Float32Array(words.length * width);
  for (const [t, { text, norm }] of words.entries()) {
    const word = projectWord(norm.toLowerCase());
    const shape = shapeOf(text, t) * width;
    for (let i = 0; i < width; i += 1)
      rows[t * width + i] = (word[i] as number) + (shapes[shape + i] as number);
  }
  normalise(model.norms[0] as Norm, rows, width);
  return rows;
}

/** Of a word: whether it begins with a capital inside the sentence, holds a digit, begins with two capitals. As bits. */
export function shapeOf(text: string, place: number): number {
  const bits =
    (place > 0 && /^\p{Lu}/u.test(text) ? 1 : 0) +
    (/\p{N}/u.test(text) ? 2 : 0) +
    (/^\p{Lu}{2,}/u.test(text) ? 4 : 0);
  return bits;
}

/** Adds to each row what a convolution makes of it and of its neighbours. */
function convolve(
  { width, convolution, norms }: RequestModel,
  layer: number,
  rows: Float32Array,
  count: number,
): Float32Array {
  const made = convolution(layer, rows, count);
  for (let i = 0; i < made.length; i += 1) made[i] = Math.max(0, made[i] as number);
  normalise(norms[layer + 1] as Norm, made, width);
  for (let i = 0; i < made.length; i += 1) made[i] = (made[i] as number) + (rows[i] as number);
  return made;
}

const EPSILON = 1e-5;

/** Layer normalisation (Ba, Kiros and Hinton 2016) of each row, in place. */
function normalise({ gain, shift }: Norm, rows: Float32Array, width: number): void {
  for (let at = 0; at < rows.length; at += width) {
    let [mean, squares] = [0, 0];
    for (let i = 0; i < width; i += 1) mean += rows[at + i] as number;
    mean /= width;
    for (let i = 0; i < width; i += 1) squares += ((rows[at + i] as number) - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / width + EPSILON);
    for (let i = 0; i < width; i += 1)
      rows[at + i] = ((rows[at + i] as number) - mean) * scale * (gain[i] as number) + (shift[i] as number);
  }
}

/** The mean of the rows by the attention of each head, one head behind the other. */
function attend({ width, attention }: RequestModel, rows: Float32Array, count: number): Float32Array {
  const pooled = new Float32Array(HEADS * width);
  const scores = Array.from({ length: count }, (_, t) => multiply(attention, rows, t * width, width, HEADS));
  for (let head = 0; head < HEADS; head += 1) {
    const most = Math.max(...scores.map((one) => one[head] as number));
    const shares = scores.map((one) => Math.exp((one[head] as number) - most));
    const total = shares.reduce((sum, one) => sum + one, 0);
    for (const [t, share] of shares.entries())
      for (let i = 0; i < width; i += 1)
        pooled[head * width + i] =
          (pooled[head * width + i] as number) + (share / total) * (rows[t * width + i] as number);
  }
  return pooled;
}

function scoreSentence(
  { width, output }: RequestModel,
  rows: Float32Array,
  count: number,
  pooled: Float32Array,
): number {
  const all = new Float32Array((HEADS + 1) * width).fill(Number.NEGATIVE_INFINITY);
  all.set(pooled);
  for (let t = 0; t < count; t += 1)
    for (let i = 0; i < width; i += 1) {
      const at = HEADS * width + i;
      all[at] = Math.max(all[at] as number, rows[t * width + i] as number);
    }
  return multiply(output, all, 0, all.length, 1)[0] as number;
}

/** Runs of words of one part. */
function labelWords(
  model: RequestModel,
  rows: Float32Array,
  words: readonly WordSpan[],
  pooled: Float32Array,
): RequestSpan[] {
  const { width, parts } = model;
  const spans: RequestSpan[] = [];
  const both = new Float32Array(2 * width);
  both.set(pooled.subarray(0, width), width);
  let before: RequestPart | undefined;
  for (const [t, { start, end }] of words.entries()) {
    both.set(rows.subarray(t * width, (t + 1) * width));
    const scores = multiply(parts, both, 0, both.length, PARTS.length);
    const part = PARTS[scores.indexOf(Math.max(...scores))];
    const last = spans.at(-1);
    if (part !== undefined && part === before && last) spans[spans.length - 1] = { ...last, end };
    else if (part !== undefined) spans.push({ part, start, end });
    before = part;
  }
  return spans;
}

/** The product of a matrix of `count` rows with the `size` values from a place on, plus the bias. */
function multiply(
  { weights, bias }: Layer,
  values: Float32Array,
  from: number,
  size: number,
  count: number,
): Float32Array {
  const product = new Float32Array(count);
  for (let o = 0; o < count; o += 1) {
    let sum = bias[o] as number;
    for (let i = 0; i < size; i += 1) sum += (weights[o * size + i] as number) * (values[from + i] as number);
    product[o] = sum;
  }
  return product;
}
