import { memoizeByWord } from "../../domain/search/search-terms.ts";
import { embedWord, SENTENCE_DIMENSIONS } from "./embedding/sentence-vectors.ts";
import { findTensor, type Tensor, toFloats } from "./model-file.ts";
import { createConvolution } from "./parser/convolution.ts";
import type { WordSpan } from "./parser/tokenizer.ts";
import { type Norm, normaliseRows } from "./transformer/row-functions.ts";

/** Words that each convolution looks at. */
const WINDOW = 3;
const CACHED_WORDS = 5_000;

/** Makes a row of numbers of each word of a text, one behind the other. `roles` has the number of a role for each word. */
export type WordEncoder = (words: readonly WordSpan[], roles?: readonly number[]) => Float32Array;

/** A linear layer: a row of weights for each output. */
export interface Layer {
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

type Tensors = ReadonlyMap<string, Tensor>;

/** The numbers of a tensor, row by row. */
export function readFloats(tensors: Tensors, name: string): Float32Array {
  return toFloats(findTensor(tensors, name));
}

/** A layer with its bias. */
export function readLayer(tensors: Tensors, name: string): Layer {
  return { weights: readFloats(tensors, `${name}.weights`), bias: readFloats(tensors, `${name}.bias`) };
}

/**
 * The lower half of the small networks that read requests to forget: the projection of each word's vector in the built-in embedder's
 * table, plus a row of its own if it is a frequent word, plus rows for its shape and its role; then residual convolutions over three words.
 * `scripts/forgetting/word_network.py` is the same in training. A text has at most `mostWords` words.
 */
export function createWordEncoder(
  tensors: Tensors,
  frequent: readonly string[],
  { layers, mostWords }: { readonly layers: number; readonly mostWords: number },
): WordEncoder {
  const width = findTensor(tensors, "words").columns;
  const [rowsOfWords, shapes] = [readFloats(tensors, "words"), readFloats(tensors, "shapes")];
  const roleRows = tensors.has("roles") ? readFloats(tensors, "roles") : undefined;
  const projection = readLayer(tensors, "projection");
  const places = new Map(frequent.map((word, i) => [word, i + 1]));
  const norms = Array.from({ length: layers + 1 }, (_, i) => ({
    gain: readFloats(tensors, `norm${i}.gain`),
    shift: readFloats(tensors, `norm${i}.shift`),
  }));
  const convolution = createConvolution(
    Array.from({ length: layers }, (_, i) => ({
      weights: findTensor(tensors, `layer${i}.weights`),
      bias: readFloats(tensors, `layer${i}.bias`),
    })),
    { words: mostWords, window: WINDOW },
  );
  const projectWord = memoizeByWord(CACHED_WORDS, (word): Float32Array => {
    const row = multiply(projection, embedWord(word), 0, SENTENCE_DIMENSIONS, width);
    addTo(row, 0, rowsOfWords, (places.get(word) ?? 0) * width, width);
    return row;
  });
  return (words, roles) => {
    const rows = new Float32Array(words.length * width);
    for (const [t, { text, norm }] of words.entries()) {
      addTo(rows, t * width, projectWord(norm.toLowerCase()), 0, width);
      addTo(rows, t * width, shapes, shapeOf(text, t) * width, width);
      if (roleRows) addTo(rows, t * width, roleRows, (roles?.[t] ?? 0) * width, width);
    }
    normaliseRows(norms[0] as Norm, rows, words.length, EPSILON);
    for (let layer = 0; layer < layers; layer += 1) {
      const made = convolution(layer, rows, words.length);
      for (let i = 0; i < made.length; i += 1) made[i] = Math.max(0, made[i] as number);
      normaliseRows(norms[layer + 1] as Norm, made, words.length, EPSILON);
      addTo(rows, 0, made, 0, rows.length);
    }
    return rows;
  };
}

/** Of a word: whether it begins with a capital inside the sentence, holds a digit, begins with two capitals. As bits. */
export function shapeOf(text: string, place: number): number {
  return (
    (place > 0 && /^\p{Lu}/u.test(text) ? 1 : 0) +
    (/\p{N}/u.test(text) ? 2 : 0) +
    (/^\p{Lu}{2,}/u.test(text) ? 4 : 0)
  );
}

function addTo(rows: Float32Array, to: number, values: Float32Array, from: number, count: number): void {
  for (let i = 0; i < count; i += 1) rows[to + i] = (rows[to + i] as number) + (values[from + i] as number);
}

const EPSILON = 1e-5;

/** The product of a matrix of `count` rows with the `size` values from a place on, plus the bias. */
export function multiply(
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
