/**
 * Finds the threshold from which memories that say the same in other words are merged: `node scripts/duplicates/calibrate.ts`, for
 * the embedder of the settings (`KEEPSAKE_EMBEDDER` and so on). The threshold belongs into `duplicateFloor` of the embedder.
 *
 * It uses the odd rows of `pairs.txt`. The even rows only judge. For comparison, it judges a threshold alone, without the
 * rules of the vocabulary.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { openEmbedder } from "../../src/config/memory-from-settings.ts";
import { readSettings } from "../../src/config/settings.ts";
import type { Memory } from "../../src/domain/memory.ts";
import { toMeaningKey } from "../../src/language/en/paraphrases/meaning-key.ts";
import type { Embedder } from "../../src/ports/language/embedder.ts";
import { makeMemory } from "../../src/testing/memory-store/change-sets.ts";

/** A labelled pair, and what is known of it. */
export interface ComparedPair {
  /** "same", or in what the two differ. */
  readonly label: string;
  readonly one: string;
  readonly other: string;
  /** Whether the vocabulary allows a merge. */
  readonly mayMerge: boolean;
  readonly similarity: number;
}

/** How a threshold does on some pairs. */
export interface Verdict {
  readonly pairs: number;
  readonly merged: number;
  /** Share of the merges that are right; 1 if there are none. */
  readonly precision: number;
  /** Share of the pairs that mean the same that are merged. */
  readonly recall: number;
}

/** The precision that a threshold must have on the rows for calibration. */
const LEAST_PRECISION = 0.97;
const STEP = 0.05;

/** Reads the pairs with their similarity by an embedder: those for calibration, and those for judging. */
export async function readPairs(
  embedder: Pick<Embedder, "embed">,
  file: string | URL = new URL("pairs.txt", import.meta.url),
): Promise<{ readonly calibration: ComparedPair[]; readonly judging: ComparedPair[] }> {
  const rows = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" | "));
  const vectors = await embedder.embed(rows.flatMap(([, one = "", other = ""]) => [one, other]));
  const all = rows.map(([label = "", one = "", other = ""], i) => ({
    label,
    one,
    other,
    mayMerge: isAllowed(one, other),
    similarity: multiply(vectors[2 * i], vectors[2 * i + 1]),
  }));
  return {
    calibration: all.filter((_, i) => i % 2 === 0),
    judging: all.filter((_, i) => i % 2 === 1),
  };
}

function isAllowed(one: string, other: string): boolean {
  const [key, otherKey] = [one, other].map((text) => toMeaningKey(toFact(text)));
  return key !== undefined && key === otherKey;
}

function toFact(text: string): Memory {
  return makeMemory("m", 1, { text, kind: "fact" });
}

function multiply(one: Float32Array = new Float32Array(), other: Float32Array = new Float32Array()): number {
  return one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
}

/** Judges a threshold: with the rules of the vocabulary, or alone. */
export function judge(pairs: readonly ComparedPair[], floor: number, isAlone = false): Verdict {
  const merged = pairs.filter(({ mayMerge, similarity }) => (isAlone || mayMerge) && similarity >= floor);
  const right = merged.filter(({ label }) => label === "same").length;
  const same = pairs.filter(({ label }) => label === "same").length;
  return {
    pairs: pairs.length,
    merged: merged.length,
    precision: merged.length === 0 ? 1 : right / merged.length,
    recall: right / same,
  };
}

/** The threshold just below every right merge of the rows for calibration, raised until the precision suffices. */
export function calibrate(pairs: readonly ComparedPair[]): number {
  const right = pairs.filter(({ label, mayMerge }) => label === "same" && mayMerge);
  const least = Math.min(1, ...right.map(({ similarity }) => similarity));
  let floor = Math.floor(least / STEP) * STEP;
  while (floor < 1 && judge(pairs, floor).precision < LEAST_PRECISION) floor += STEP;
  return Number(floor.toFixed(2));
}

/** The highest threshold that finds as much as `recall` without the rules of the vocabulary. */
export function calibrateAlone(pairs: readonly ComparedPair[], recall: number): number {
  const floors = pairs.map(({ similarity }) => similarity).sort((one, other) => other - one);
  return floors.find((floor) => judge(pairs, floor, true).recall >= recall) ?? 0;
}

function formatVerdict(name: string, { pairs, merged, precision, recall }: Verdict): string {
  const share = (value: number): string => `${(100 * value).toFixed(1)} %`;
  return `${name}: ${pairs} pairs, ${merged} merged, precision ${share(precision)}, recall ${share(recall)}`;
}

async function main(): Promise<void> {
  const { embedder: settings } = readSettings();
  const embedder = settings ? await openEmbedder(settings) : staticEmbedder();
  const { calibration, judging } = await readPairs(embedder);
  const floor = calibrate(calibration);
  const alone = calibrateAlone(calibration, judge(calibration, floor).recall);
  const lines = [
    `${embedder.fingerprint}: duplicateFloor ${floor} (${embedder.duplicateFloor ?? "none"} in use)`,
    formatVerdict("calibration", judge(calibration, floor)),
    formatVerdict("judging", judge(judging, floor)),
    `without the rules, at the recall of calibration: ${alone.toFixed(2)}`,
    formatVerdict("calibration", judge(calibration, alone, true)),
    formatVerdict("judging", judge(judging, alone, true)),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
