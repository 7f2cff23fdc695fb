import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Embedder } from "../ports/language/embedder.ts";

/** What the suite needs of an embedder. */
export interface EmbedderHarness {
  /** Shown in the test output: "static", "openai". */
  readonly name: string;
  /** Starts what the embedder needs, once. */
  setup?(): Promise<void>;
  /** Opens an embedder as a program would. Each call returns another one, all of one embedding space. */
  open(): Promise<Embedder>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** Timeout of one case, in ms (default 20,000). */
  readonly timeoutMs?: number;
  /** Case title -> reason. Each case runs and must fail; a case that passes breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/**
 * Runs the whole contract of `ports/language/embedder.ts` against one adapter. Call it at the top level of a
 * test file.
 */
export function embedderConformance(harness: EmbedderHarness): void {
  const gaps = harness.knownGaps ?? {};
  const timeout = harness.timeoutMs ?? 20_000;
  describe(`Embedder: ${harness.name}`, () => {
    let embedder: Embedder;
    beforeAll(async () => {
      await harness.setup?.();
      embedder = await harness.open();
    }, timeout);
    afterAll(() => harness.teardown?.());

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in EMBEDDER_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(EMBEDDER_CASES)) {
      const test = title in gaps ? it.fails : it;
      const shown = title in gaps ? `${title} [known gap: ${gaps[title]}]` : title;
      test(shown, { timeout }, () => run(embedder, () => harness.open()));
    }
  });
}

/**
 * One rule of the contract in `ports/language/embedder.ts`, tested on an embedder; `again` opens another like
 * it.
 */
type EmbedderCase = (embedder: Embedder, again: () => Promise<Embedder>) => Promise<void>;
type EmbedderCases = { readonly [title: string]: EmbedderCase };

const TEXTS: readonly string[] = [
  "I use Shram and Magnet as productivity tools.",
  "The cat sleeps on the warm windowsill.",
  "We flew to Porto in March and ate grilled sardines.",
  "My sister works as a nurse in Ghent.",
  "Please remind me to water the plants on Sunday.",
  "The invoice for the roof came to four thousand euros.",
  "He plays the cello in an amateur orchestra.",
];

/** More texts than fit into one request of any server, each with distinct words. */
function makeTexts(count: number): string[] {
  const things = ["garden", "bicycle", "violin", "kitchen", "river", "museum", "letter"];
  const doings = ["painted", "sold", "visited", "repaired", "photographed"];
  return Array.from(
    { length: count },
    (_, i) =>
      `On day ${i} we ${doings[i % doings.length]} the ${things[i % things.length]} number ${i * 37}, ` +
      `and somebody else's ${things[(i >> 2) % things.length]}.`,
  );
}

/** Texts that often break programs. */
const UNUSUAL: readonly string[] = [
  "🦄🦄🦄",
  "👩‍👩‍👧‍👦 family",
  "\ud83e",
  "half \udd8a a pair",
  "نص عربي قصير",
  "我住在波尔图",
  "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
  "a\u0000b",
  "\u202eright to left\u202c",
  '{"json": "quoted \\" text"}',
  "<|endoftext|> [CLS] [SEP] </s>",
  "!!! ??? ...",
  "\u200b\u200b",
];

const isZero = (vector: Float32Array | undefined): boolean => vector?.every((part) => part === 0) ?? false;

const computeLength = (vector: Float32Array): number =>
  Math.sqrt(vector.reduce((sum, part) => sum + part * part, 0));

function computeCosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  if (!one || !other) return Number.NaN;
  return one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
}

async function embedOne(embedder: Embedder, text: string): Promise<Float32Array> {
  const [vector] = await embedder.embed([text]);
  return vector ?? new Float32Array(0);
}

/** Exactly equal for a local embedder. A server's model may round differently each time. */
function expectSame(
  embedder: Embedder,
  got: Float32Array | undefined,
  wanted: Float32Array | undefined,
): void {
  if (embedder.local) expect(got).toEqual(wanted);
  else expect(computeCosine(got, wanted)).toBeGreaterThan(0.999);
}

/** The vector has the right length, finite numbers, and is either all zeros or of unit length. */
function expectSound(embedder: Embedder, vector: Float32Array | undefined): void {
  expect(vector).toBeInstanceOf(Float32Array);
  expect(vector).toHaveLength(embedder.dimensions);
  const size = computeLength(vector ?? new Float32Array(0));
  if (size !== 0) expect(Math.abs(size - 1)).toBeLessThan(1e-4);
}

/** One rule of the contract per case. */
export const EMBEDDER_CASES: EmbedderCases = {
  "names its space by the same fingerprint each time, with the dimensions at its end": async (
    embedder,
    again,
  ) => {
    expect(embedder.fingerprint).toMatch(/^[\x21-\x7e]{1,200}$/);
    expect(embedder.fingerprint.endsWith(`/${embedder.dimensions}`)).toBe(true);
    expect(embedder.dimensions).toBeGreaterThan(0);
    expect(Number.isInteger(embedder.dimensions)).toBe(true);
    const other = await again();
    expect([other.fingerprint, other.dimensions]).toEqual([embedder.fingerprint, embedder.dimensions]);
  },

  "has a floor that is a cosine below that of a text with itself": async (embedder) => {
    expect(embedder.floor).toBeGreaterThanOrEqual(0);
    expect(embedder.floor).toBeLessThan(1);
    const [a, b] = await embedder.embed([TEXTS[0] ?? "", TEXTS[0] ?? ""]);
    expect(computeCosine(a, b)).toBeGreaterThan(embedder.floor);
  },

  "returns vectors of unit length with the named dimensions": async (embedder) => {
    for (const vector of await embedder.embed(TEXTS)) {
      expectSound(embedder, vector);
      expect(isZero(vector)).toBe(false);
    }
  },

  "returns one vector per text, in order": async (embedder) => {
    const together = await embedder.embed(TEXTS);
    const reversed = await embedder.embed([...TEXTS].reverse());
    expect(together).toHaveLength(TEXTS.length);
    for (const [i, text] of TEXTS.entries()) {
      expectSame(embedder, together[i], await embedOne(embedder, text));
      expectSame(embedder, reversed[TEXTS.length - 1 - i], together[i]);
    }
    for (const [i, vector] of together.entries())
      for (const other of together.slice(i + 1)) expect(computeCosine(vector, other)).toBeLessThan(0.999);
  },

  "gives the same text the same vector, in any batch and from another instance": async (embedder, again) => {
    const [text = "", ...others] = TEXTS;
    const alone = await embedOne(embedder, text);
    const [first, second] = await embedder.embed([text, text]);
    const among = await embedder.embed([...others, "word ".repeat(300), text]);
    for (const vector of [first, second, among.at(-1), await embedOne(await again(), text)]) {
      expectSame(embedder, vector, alone);
    }
  },

  "returns no vector for no text": async (embedder) => {
    expect(await embedder.embed([])).toEqual([]);
  },

  "returns the zero vector for a text without a word, also among others": async (embedder) => {
    for (const text of ["", " ", "\n\t  \u00a0"]) expect(isZero(await embedOne(embedder, text))).toBe(true);
    const vectors = await embedder.embed(["", TEXTS[0] ?? "", " ", TEXTS[1] ?? ""]);
    expect(vectors.map((vector) => isZero(vector))).toEqual([true, false, true, false]);
    for (const vector of vectors) expectSound(embedder, vector);
    expectSame(embedder, vectors[3], await embedOne(embedder, TEXTS[1] ?? ""));
  },

  "returns the zero vector or one of unit length for unknown words": async (embedder) => {
    for (const text of ["zxqv wvut qqxz", "xyzzy", "🜁🜂🜃"])
      expectSound(embedder, await embedOne(embedder, text));
  },

  "embeds long texts: of many words, of one word, and of one unbroken run": async (embedder) => {
    const texts = [
      TEXTS.join(" ").repeat(300),
      "x".repeat(100_000),
      "漢字仮名".repeat(20_000),
      "🦄".repeat(30_000),
    ];
    const vectors = await embedder.embed([...texts, TEXTS[1] ?? ""]);
    expect(vectors).toHaveLength(5);
    for (const vector of vectors) expectSound(embedder, vector);
    expect(isZero(vectors[0])).toBe(false);
    expectSame(embedder, vectors[4], await embedOne(embedder, TEXTS[1] ?? ""));
  },

  "accepts unusual characters without affecting other texts": async (embedder) => {
    const vectors = await embedder.embed(UNUSUAL.flatMap((text) => [text, TEXTS[3] ?? ""]));
    expect(vectors).toHaveLength(2 * UNUSUAL.length);
    const plain = await embedOne(embedder, TEXTS[3] ?? "");
    for (const [i, vector] of vectors.entries()) {
      expectSound(embedder, vector);
      if (i % 2 === 1) expectSame(embedder, vector, plain);
    }
  },

  "embeds a batch larger than any server accepts at once, completely and in order": async (embedder) => {
    const texts = makeTexts(260);
    const vectors = await embedder.embed(texts);
    expect(vectors).toHaveLength(texts.length);
    for (const vector of vectors) expectSound(embedder, vector);
    for (const i of [0, 1, 99, 100, 101, 199, 259]) {
      expectSame(embedder, vectors[i], await embedOne(embedder, texts[i] ?? ""));
    }
  },

  "does not mix simultaneous calls": async (embedder) => {
    const all = await Promise.all(TEXTS.map((text, i) => embedder.embed([text, ...TEXTS.slice(0, i)])));
    const together = await embedder.embed(TEXTS);
    for (const [i, vectors] of all.entries()) {
      expect(vectors).toHaveLength(i + 1);
      expectSame(embedder, vectors[0], together[i]);
    }
  },

  "returns vectors that the caller may change without later effect": async (embedder) => {
    const [before, twin] = await embedder.embed([TEXTS[2] ?? "", TEXTS[2] ?? ""]);
    const kept = Float32Array.from(before ?? []);
    before?.fill(0.5);
    expect(twin).toEqual(kept);
    expectSame(embedder, await embedOne(embedder, TEXTS[2] ?? ""), kept);
  },

  "does not change its input": async (embedder) => {
    const texts = Object.freeze([...TEXTS, "", "\ud83e"]);
    await embedder.embed(texts);
    expect(texts).toEqual([...TEXTS, "", "\ud83e"]);
  },

  "rejects an aborted call with the signal's reason, and the next call works": async (embedder) => {
    const reason = new Error("enough");
    await expect(embedder.embed([...TEXTS], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const later = new AbortController();
    const call = embedder.embed(makeTexts(120), { signal: later.signal });
    later.abort(reason);
    // It may have completed already, but must not fail for another reason.
    await call.catch((error: unknown) => expect(error).toBe(reason));
    expectSound(embedder, await embedOne(embedder, "Afterwards all is well."));
  },

  "gives texts close in meaning a small angle": async (embedder) => {
    const [query, near, far] = await embedder.embed([
      "the productivity tools that he uses",
      "He uses Shram and Magnet, the productivity tools.",
      "The soup was cold on the ferry to Bergen.",
    ]);
    expect(computeCosine(query, near)).toBeGreaterThan(computeCosine(query, far) + 0.05);
    expect(computeCosine(query, near)).toBeGreaterThan(embedder.floor);
  },
};
