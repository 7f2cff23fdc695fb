import { rmSync } from "node:fs";
import { join } from "node:path";
import { askers } from "../speed/asked.ts";
import { sqliteVec } from "../speed/peers.ts";
import { readResults, runOf } from "../speed/results.ts";
import { vectorsOf } from "../speed/vectors.ts";

/** A run of the results, and how many questions are asked of the same again here. */
const PER_USER = 1000;
const QUESTIONS = 400;

/**
 * How fast this machine is now: a share of the one that `docs/results/speed.json` was measured on, 1 where it is as fast or
 * faster. By what is not ours and does not change with it: sqlite-vec searching two thousand vectors.
 */
export async function paceOf(folder: string): Promise<number> {
  const there = runOf(readResults(), 1, PER_USER).peers["sqlite-vec"].p50;
  const one = askers(PER_USER)(1);
  const questions = Array.from({ length: QUESTIONS }, () => one.ask());
  const vectors = await vectorsOf(one.person, PER_USER, questions);
  const path = join(folder, "pace.db");
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
  const here = (await sqliteVec(path, vectors)).p50;
  return Math.min(1, there / here);
}
