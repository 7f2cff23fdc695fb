import { readFileSync } from "node:fs";
import { join } from "node:path";

const RESULTS = join(import.meta.dirname, "../docs/results");

/** Figures on data that nobody had tuned on: `docs/results/unseen.json`. */
interface UnseenResults {
  readonly commit: string;
  readonly date: string;
  readonly figures: readonly {
    readonly set: string;
    readonly on: string;
    readonly figure: string;
    readonly value: number;
    readonly baseline?: { readonly name: string; readonly value: number };
  }[];
}

/** Figures on development data: `docs/results/quality.json`, as far as it is read here. */
interface QualityResults {
  readonly sets: readonly {
    readonly set: string;
    readonly figures: readonly { readonly name: string; readonly keepsake: number; readonly bm25: number }[];
  }[];
}

/** For an unseen figure: the set and the figure on development data. */
const DEVELOPMENT: { readonly [unseen: string]: readonly [set: string, figure: string] } = {
  "LoCoMo: turn recall@10": ["locomo", "turn_recall@10"],
  "LongMemEval_S: turn recall@10": ["longmemeval", "turn_recall@10"],
  "BEAM-100K: recall@10": ["beam", "recall@10"],
  "MemDaily: recall@5": ["memdaily", "recall@5"],
  "stories: whole stories passed, %": ["stories", "stories_passed"],
  "GateMem: leaks after deletion, % (lower is better)": ["gatemem", "leak"],
  "GateMem: utility": ["gatemem", "utility"],
};

/** The table of the README: each figure on data that was not tuned on, beside the same on development data. */
export function qualityTable(): string {
  const unseen = JSON.parse(readFileSync(join(RESULTS, "unseen.json"), "utf8")) as UnseenResults;
  const { sets } = JSON.parse(readFileSync(join(RESULTS, "quality.json"), "utf8")) as QualityResults;
  const rows = unseen.figures.map(({ set, on, figure, value, baseline }) => {
    const [name, measure] = DEVELOPMENT[`${set}: ${figure}`] ?? [];
    const seen = sets.find((one) => one.set === name)?.figures.find((one) => one.name === measure);
    return `| ${set}: ${figure} | ${on} | ${value} | ${baseline?.value ?? ""} | ${seen?.keepsake ?? ""} |`;
  });
  return [
    "| Figure | Unseen data | Keepsake | BM25 | Keepsake on development data |",
    "| --- | --- | ---: | ---: | ---: |",
    ...rows,
    "",
    `The unseen figures were measured outside this repository, at commit ${unseen.commit} of ${unseen.date}.`,
  ].join("\n");
}

const START = "<!-- quality: written by `npm run docs` from docs/results/unseen.json and quality.json -->\n";
const END = "\n<!-- /quality -->";

/** The README with the table as it should be now. */
export function readmeWithQuality(page: string): string {
  const from = page.indexOf(START);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error("README.md has no place for the table of quality.");
  return `${page.slice(0, from + START.length)}${qualityTable()}${page.slice(to)}`;
}
