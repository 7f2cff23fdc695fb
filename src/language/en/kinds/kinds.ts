import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { memoizeByWord } from "../../../domain/search/search-terms.ts";

/** The noun hierarchy of WordNet, as `scripts/kinds/make-kinds.ts` writes it. */
const FILE = new URL("../../../../assets/kinds-en.bin", import.meta.url);
const TAB = 9;
const LINE_END = 10;
/** The deepest path of the hierarchy is shorter. */
const MAX_DEPTH = 24;

interface Hierarchy {
  readonly synsets: number;
  readonly bytes: Uint8Array;
  /** Where the nouns begin. */
  readonly nouns: number;
}

let hierarchy: Hierarchy | undefined;

function loadHierarchy(): Hierarchy {
  if (hierarchy) return hierarchy;
  const bytes = gunzipSync(readFileSync(FILE));
  const synsets = bytes.readUInt32LE(0);
  hierarchy = { synsets, bytes, nouns: 4 + 4 * synsets };
  return hierarchy;
}

/**
 * Whether a noun names something of a kind, by the noun hierarchy of WordNet: `isHyponym("coriander", "herb")`. Both in singular, lower
 * case; a noun is of its own kind. It looks at the three most frequent senses of the noun and two of the kind; false for unknown words. The
 * first call reads the table, in some 15 ms.
 */
export function isHyponym(noun: string, kind: string, senses = 3): boolean {
  const kinds = findSenses(kind).slice(0, 2);
  if (kinds.length === 0) return false;
  return findSenses(noun)
    .slice(0, senses)
    .some((sense) => {
      for (let at = sense, depth = 0; depth < MAX_DEPTH; depth += 1) {
        if (kinds.includes(at)) return true;
        const above = hypernymOf(at);
        if (above === at) return false;
        at = above;
      }
      return false;
    });
}

/** The number of steps from the most frequent sense of a noun to the root of the hierarchy; 0 for an unknown word. */
export function countSteps(noun: string): number {
  let [at] = findSenses(noun);
  if (at === undefined) return 0;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const above = hypernymOf(at);
    if (above === at) return depth;
    at = above;
  }
  return MAX_DEPTH;
}

/** Whether the hierarchy holds a noun. */
export function isKnownNoun(noun: string): boolean {
  return findSenses(noun).length > 0;
}

function hypernymOf(synset: number): number {
  const { bytes, synsets } = loadHierarchy();
  let index = 0;
  for (let plane = 0; plane < 4; plane += 1)
    index += (bytes[4 + plane * synsets + synset] ?? 0) * 256 ** plane;
  return index;
}

/** The senses of a noun, most frequent first; found by halving the sorted lines. */
const findSenses = memoizeByWord(5_000, readSenses);

function readSenses(noun: string): readonly number[] {
  const { bytes, nouns } = loadHierarchy();
  const wanted = Buffer.from(noun, "latin1");
  let low = nouns;
  let high = bytes.length;
  while (low < high) {
    let start = (low + high) >>> 1;
    while (start > low && bytes[start - 1] !== LINE_END) start -= 1;
    const tab = bytes.indexOf(TAB, start);
    const end = bytes.indexOf(LINE_END, tab);
    const order = Buffer.compare(wanted, bytes.subarray(start, tab));
    if (order === 0) {
      const text = Buffer.from(bytes.subarray(tab + 1, end)).toString("latin1");
      return text.split(" ").map((sense) => Number.parseInt(sense, 36));
    }
    if (order < 0) high = start;
    else low = end + 1;
  }
  return [];
}
