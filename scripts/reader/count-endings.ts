// Counts what the reading `ends` makes of statements that a reader judged or a writer marked: node scripts/reader/count-endings.ts
// `ending-pairs.tsv`: pairs that sound as if the later statement ended the earlier. `talks.txt`: each line beside the nearest lines before it, as
// a write would compare them. Prints how many are taken for an end from each probability on, and how many of them are one.
import { rateEnding } from "../../src/language/en/answers/evidence/endings.ts";
import { embedSentence } from "../../src/language/en/embedding/sentence-vectors.ts";
import { readEndingPairs } from "./ending-pairs.ts";
import { readTalks, type Talk } from "./talks.ts";

const PROBABILITIES = [0.5, 0.7, 0.8, 0.9, 0.95];
/** Lines before, the nearest by the built-in embedder, that a line of a talk is compared with. */
const COMPARED = 3;

interface Rated {
  readonly isEnd: boolean;
  readonly probability: number;
}

function report(title: string, rated: readonly Rated[], ends: number): void {
  console.log(`${title}: ${rated.length} pairs, ${ends} ends or ends of a part`);
  for (const least of PROBABILITIES) {
    const taken = rated.filter(({ probability }) => probability >= least);
    const right = taken.filter(({ isEnd }) => isEnd).length;
    console.log(`  p ${least}: ${taken.length} taken for an end, ${right} of them rightly`);
  }
}

async function rateTalk({ lines }: Talk): Promise<Rated[]> {
  const vectors = lines.map(({ text }) => embedSentence(text));
  const rated: Rated[] = [];
  for (const [at, later] of lines.entries()) {
    const near = lines
      .slice(0, at)
      .map(({ text }, line) => ({ text, line, near: dot(vectors[line], vectors[at]) }))
      .sort((one, other) => other.near - one.near)
      .slice(0, COMPARED);
    for (const { text, line } of near) {
      const isEnd = later.ends.some((one) => one.line === line);
      rated.push({ isEnd, probability: await rateEnding(text, later.text) });
    }
  }
  return rated;
}

function dot(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return one?.reduce((sum, value, i) => sum + value * (other?.[i] ?? 0), 0) ?? 0;
}

const judged: (Rated & { readonly file: string })[] = [];
for (const { file, earlier, later, target } of readEndingPairs())
  judged.push({ file, isEnd: target > 0, probability: await rateEnding(earlier, later) });
for (const [file, own] of Map.groupBy(judged, (pair) => pair.file))
  report(file, own, own.filter(({ isEnd }) => isEnd).length);

const talks = readTalks();
const rated: Rated[] = [];
for (const talk of talks) rated.push(...(await rateTalk(talk)));
const marked = talks.flatMap(({ lines }) => lines.flatMap(({ ends }) => ends)).length;
report(`${talks.length} talks`, rated, marked);
