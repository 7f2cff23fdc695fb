import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runOf, type SpeedResults } from "./results.ts";

const README = join(import.meta.dirname, "../../README.md");
const BLOCK = /(<!-- speed: [^>]*-->\n)[\s\S]*?(\n<!-- \/speed -->)/;

/** The README as it should be for these results: what it says of speed is theirs. */
export function readmeOf(results: SpeedResults): string {
  const text = readFileSync(README, "utf8");
  if (!BLOCK.test(text)) throw new Error("README.md has no place for the figures of speed.");
  return text.replace(BLOCK, (_block, head: string, tail: string) => `${head}${claimsOf(results)}${tail}`);
}

export function writeReadme(results: SpeedResults): void {
  writeFileSync(README, readmeOf(results));
}

function claimsOf(results: SpeedResults): string {
  const million = runOf(results, 100, 10_000);
  const large = runOf(results, 1, 100_000);
  const { recall, remember, peers } = million;
  const rows = [
    ["`recall`, p50 / p95", `${recall.hot.p50} / ${recall.hot.p95} ms`],
    ["the first `recall` of a user, p95", `${recall.cold.p95} ms`],
    ["`remember`, read and safe on the disk, p50", `${remember.p50} ms`],
    ["for comparison: sqlite-vec, the vectors alone, p50", `${peers["sqlite-vec"].p50} ms`],
    ["`recall` with 100,000 memories of one user, p50", `${large.recall.hot.p50} ms`],
    ["the same in sqlite-vec, the vectors alone, p50", `${large.peers["sqlite-vec"].p50} ms`],
  ];
  return [
    "| 100 users, 10,000 memories each | |",
    "| --- | ---: |",
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
  ].join("\n");
}
