import { readFileSync } from "node:fs";
import { createWordCache } from "../../../../domain/search/search-terms.ts";
import { findTensor, readModelFile } from "../../model-file.ts";
import { tokenizeEnglish } from "../../parser/english-trees.ts";
import { readSentenceForRequest } from "../../transformer/reader.ts";
import { createWordEncoder, type Layer, multiply, readLayer, type WordEncoder } from "../../word-encoder.ts";

/** The model that `scripts/forgetting/train.py` trains on sentences of `requests.txt` and of real chats. */
const FILE = new URL("../../../../../assets/requests-en.bin", import.meta.url);
/** Words of a sentence that are read; a sentence of more is no request that somebody types. */
const MOST_WORDS = 120;
const LAYERS = 2;
const HEADS = 2;
/** What a run of words in a request says. */
export type RequestPart = "target" | "told" | "kept" | "when";
const PARTS: readonly (RequestPart | undefined)[] = [undefined, "target", "told", "kept", "when"];
/** The number of each part in the models; 0 is none of them. */
export const PART_NUMBERS: { readonly [part in RequestPart]: number } = {
  target: 1,
  told: 2,
  kept: 3,
  when: 4,
};

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

const NO_REQUEST: ReadRequest = { probability: 0, spans: [] };

interface RequestModel {
  readonly width: number;
  readonly encode: WordEncoder;
  readonly attention: Layer;
  readonly output: Layer;
}

let loaded: RequestModel | undefined;

function loadModel(): RequestModel {
  if (loaded) return loaded;
  const { header, tensors } = readModelFile<{ readonly words: readonly string[] }>(
    readFileSync(FILE),
    "KSREQST1",
  );
  loaded = {
    width: findTensor(tensors, "words").columns,
    encode: createWordEncoder(tensors, header.words, { layers: LAYERS, mostWords: MOST_WORDS }),
    attention: readLayer(tensors, "attention"),
    output: readLayer(tensors, "output"),
  };
  return loaded;
}

/** Reads a sentence as `readRequest` does, here or in another thread. */
export type ReadSentence = (sentence: string) => Promise<ReadRequest> | ReadRequest;

/**
 * Whether a sentence asks to forget, and what its words mean. A small network of two convolutions over the vectors of its words, trained
 * by `scripts/forgetting/train.py`, looks first, in some 0.3 ms for 15 words. What may be a request is read by the transformer, in some
 * 15 ms. The first call reads the models and the table of word vectors.
 */
export function readRequest(sentence: string): ReadRequest {
  const known = cache.get(sentence);
  if (known) return known;
  const first = readWords(sentence);
  const read = first.probability < WORTH_READING ? first : readWhole(sentence);
  if (sentence.length > CACHED_LENGTH) return read;
  if (cache.size >= CACHED_SENTENCES) cache.delete(cache.keys().next().value as string);
  cache.set(sentence, read);
  return read;
}

const CACHED_SENTENCES = 64;
const CACHED_LENGTH = 1_000;
const cache = createWordCache<ReadRequest>();

/** Below this probability of the small network, a sentence is not read by the large one: a server reads most of what it is told only once. */
const WORTH_READING = 0.2;

function readWhole(sentence: string): ReadRequest {
  const { probability, words } = readSentenceForRequest(sentence);
  return { probability, spans: probability < 0.5 ? [] : toSpans(sentence, words) };
}

/** Runs of words of one part. */
function toSpans(
  sentence: string,
  words: readonly { readonly start: number; readonly part: number }[],
): RequestSpan[] {
  const spans: RequestSpan[] = [];
  let before: RequestPart | undefined;
  for (const [i, word] of words.entries()) {
    const part = PARTS[word.part];
    const end = word.start + sentence.slice(word.start, words[i + 1]?.start).trimEnd().length;
    const last = spans.at(-1);
    if (part !== undefined && part === before && last) spans[spans.length - 1] = { ...last, end };
    else if (part !== undefined) spans.push({ part, start: word.start, end });
    before = part;
  }
  return spans;
}

/** What the small network makes of a sentence: a probability. */
function readWords(sentence: string): ReadRequest {
  const words = tokenizeEnglish(sentence);
  if (words.length === 0 || words.length > MOST_WORDS) return NO_REQUEST;
  const model = loadModel();
  const rows = model.encode(words);
  const pooled = attend(model, rows, words.length);
  const score = scoreSentence(model, rows, words.length, pooled);
  return { probability: 1 / (1 + Math.exp(-score)), spans: [] };
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
