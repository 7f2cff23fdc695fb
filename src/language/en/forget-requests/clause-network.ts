import { readFileSync } from "node:fs";
import { mapInSlices } from "../../../domain/time-slicing.ts";
import { findTensor, readModelFile } from "../model-file.ts";
import {
  createWordEncoder,
  type Layer,
  multiply,
  readFloats,
  readLayer,
  type WordEncoder,
} from "../word-encoder.ts";
import { MOST_WORDS, type RoledWords } from "./clause-words.ts";

/** The model that `scripts/forgetting/train_clauses.py` trains on the conversations beside it. */
const FILE = new URL("../../../../assets/clauses-en.bin", import.meta.url);
const LAYERS = 1;
/** Ways to compare the words of a request with those of a clause, and the size of the vectors that are compared. */
const [WAYS, SIZE] = [4, 16];
/** What the products of the two means are summed up in. */
const PRODUCTS = 8;
const FAR = -1;

/** A clause as the model reads it: its sentence with the role of each word, and its signs by name. */
export interface ClauseToRate {
  readonly text: RoledWords;
  readonly signs: Readonly<Record<string, number>>;
}

interface ClauseModel {
  readonly width: number;
  readonly signs: readonly string[];
  readonly encode: WordEncoder;
  readonly ofRequest: Layer;
  readonly ofClause: Layer;
  readonly requestAttention: Layer;
  readonly clauseAttention: Layer;
  readonly products: Layer;
  readonly output: Layer;
}

let loaded: ClauseModel | undefined;

function loadModel(): ClauseModel {
  if (loaded) return loaded;
  const { header, tensors } = readModelFile<{
    readonly words: readonly string[];
    readonly signs: readonly string[];
  }>(readFileSync(FILE), "KSCLAUS1");
  const compared = (name: string): Layer => ({
    weights: readFloats(tensors, `${name}.weights`),
    bias: new Float32Array(WAYS * SIZE),
  });
  loaded = {
    width: findTensor(tensors, "words").columns,
    signs: header.signs,
    encode: createWordEncoder(tensors, header.words, { layers: LAYERS, mostWords: MOST_WORDS }),
    ofRequest: compared("ofRequest"),
    ofClause: compared("ofClause"),
    requestAttention: readLayer(tensors, "requestAttention"),
    clauseAttention: readLayer(tensors, "clauseAttention"),
    products: readLayer(tensors, "products"),
    output: readLayer(tensors, "output"),
  };
  return loaded;
}

/**
 * The probability of each clause that a request means it: a network that compares the words of both, in the kind of kernel pooling (Xiong
 * and others 2017) with learned projections, beside the signs that are given. What it finds in a clause counts by itself and beside
 * what it finds in all others. Trained and calibrated by `scripts/forgetting/train_clauses.py`.
 */
export async function rateClauses(request: RoledWords, clauses: readonly ClauseToRate[]): Promise<number[]> {
  if (request.words.length === 0 || clauses.length === 0) return clauses.map(() => 0);
  const model = loadModel();
  const read = readTheRequest(model, request);
  const found = await mapInSlices(clauses, (clause) => compare(model, read, clause), 8);
  const count = found[0]?.length ?? 0;
  const mean = new Float32Array(count);
  const most = new Float32Array(count).fill(Number.NEGATIVE_INFINITY);
  for (const one of found)
    for (let i = 0; i < count; i += 1) {
      mean[i] = (mean[i] as number) + (one[i] as number) / found.length;
      most[i] = Math.max(most[i] as number, one[i] as number);
    }
  const all = new Float32Array(3 * count);
  return found.map((one) => {
    for (let i = 0; i < count; i += 1) {
      all[i] = one[i] as number;
      all[count + i] = (one[i] as number) - (mean[i] as number);
      all[2 * count + i] = (one[i] as number) - (most[i] as number);
    }
    return 1 / (1 + Math.exp(-(multiply(model.output, all, 0, all.length, 1)[0] as number)));
  });
}

interface ReadRequestWords {
  /** The vectors of each word that are compared, way by way, of length 1. */
  readonly vectors: Float32Array;
  /** How much each word counts in each way, and in the mean. */
  readonly shares: Float32Array;
  readonly mean: Float32Array;
  readonly count: number;
}

function readTheRequest(model: ClauseModel, { words, roles }: RoledWords): ReadRequestWords {
  const rows = model.encode(words, roles);
  const shares = attend(model, model.requestAttention, rows, words.length, () => true);
  return {
    vectors: project(model, model.ofRequest, rows, words.length),
    shares,
    mean: meanOf(model, rows, shares, words.length),
    count: words.length,
  };
}

/** What the comparison of a request with a clause finds. */
function compare(model: ClauseModel, request: ReadRequestWords, { text, signs }: ClauseToRate): Float32Array {
  const { words, roles } = text;
  const count = words.length;
  const found = new Float32Array(3 * WAYS + PRODUCTS + model.signs.length);
  for (const [i, name] of model.signs.entries()) found[3 * WAYS + PRODUCTS + i] = signs[name] ?? 0;
  const rows = model.encode(words, roles);
  const own = Math.max(...roles);
  const isOwn = (t: number): boolean => roles[t] === own;
  const shares = attend(model, model.clauseAttention, rows, count, isOwn);
  const vectors = project(model, model.ofClause, rows, count);
  for (let way = 0; way < WAYS; way += 1) matchWords(request, { vectors, shares, count, isOwn }, way, found);
  const mean = meanOf(model, rows, shares, count);
  for (let i = 0; i < model.width; i += 1) mean[i] = (mean[i] as number) * (request.mean[i] as number);
  found.set(multiply(model.products, mean, 0, model.width, PRODUCTS), 3 * WAYS);
  return found;
}

interface ComparedClause {
  readonly vectors: Float32Array;
  readonly shares: Float32Array;
  readonly count: number;
  readonly isOwn: (word: number) => boolean;
}

/**
 * In one way: how near the request's words come to the nearest of the clause, how near the clause's come to the nearest of the request, and
 * how near the request's come to the nearest of the sentence. Each word counts by its share.
 */
function matchWords(
  request: ReadRequestWords,
  clause: ComparedClause,
  way: number,
  found: Float32Array,
): void {
  const nearestOfClause = new Float32Array(clause.count).fill(FAR);
  const [toOwn, back, toAny] = [way, WAYS + way, 2 * WAYS + way];
  for (let q = 0; q < request.count; q += 1) {
    let [own, any] = [FAR, FAR];
    for (let c = 0; c < clause.count; c += 1) {
      const near = dot(request.vectors, (q * WAYS + way) * SIZE, clause.vectors, (c * WAYS + way) * SIZE);
      if (near > any) any = near;
      if (near > own && clause.isOwn(c)) own = near;
      if (near > (nearestOfClause[c] as number)) nearestOfClause[c] = near;
    }
    const share = request.shares[q * (WAYS + 1) + way] as number;
    found[toOwn] = (found[toOwn] as number) + share * own;
    found[toAny] = (found[toAny] as number) + share * any;
  }
  for (let c = 0; c < clause.count; c += 1)
    found[back] =
      (found[back] as number) +
      (clause.shares[c * (WAYS + 1) + way] as number) * (nearestOfClause[c] as number);
}

function dot(one: Float32Array, from: number, other: Float32Array, at: number): number {
  let sum = 0;
  for (let i = 0; i < SIZE; i += 1) sum += (one[from + i] as number) * (other[at + i] as number);
  return sum;
}

/** The share of each word in each way and in the mean; of words that do not count, none. */
function attend(
  { width }: ClauseModel,
  attention: Layer,
  rows: Float32Array,
  count: number,
  counts: (word: number) => boolean,
): Float32Array {
  const ways = WAYS + 1;
  const shares = new Float32Array(count * ways).fill(Number.NEGATIVE_INFINITY);
  for (let t = 0; t < count; t += 1)
    if (counts(t)) shares.set(multiply(attention, rows, t * width, width, ways), t * ways);
  for (let way = 0; way < ways; way += 1) {
    let [most, total] = [Number.NEGATIVE_INFINITY, 0];
    for (let at = way; at < shares.length; at += ways) most = Math.max(most, shares[at] as number);
    for (let at = way; at < shares.length; at += ways) {
      shares[at] = Math.exp((shares[at] as number) - most);
      total += shares[at] as number;
    }
    for (let at = way; at < shares.length; at += ways) shares[at] = (shares[at] as number) / total;
  }
  return shares;
}

/** The vectors that are compared, each of length 1. */
function project({ width }: ClauseModel, layer: Layer, rows: Float32Array, count: number): Float32Array {
  const all = new Float32Array(count * WAYS * SIZE);
  for (let t = 0; t < count; t += 1)
    all.set(multiply(layer, rows, t * width, width, WAYS * SIZE), t * WAYS * SIZE);
  for (let at = 0; at < all.length; at += SIZE) {
    const length = Math.sqrt(dot(all, at, all, at));
    for (let i = 0; i < SIZE; i += 1) all[at + i] = (all[at + i] as number) / Math.max(length, 1e-12);
  }
  return all;
}

function meanOf(
  { width }: ClauseModel,
  rows: Float32Array,
  shares: Float32Array,
  count: number,
): Float32Array {
  const mean = new Float32Array(width);
  for (let t = 0; t < count; t += 1) {
    const share = shares[t * (WAYS + 1) + WAYS] as number;
    for (let i = 0; i < width; i += 1)
      mean[i] = (mean[i] as number) + share * (rows[t * width + i] as number);
  }
  return mean;
}
