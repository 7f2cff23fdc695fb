import { spawn } from "node:child_process";
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { rounded } from "./measure.ts";
import { phase, reporter } from "./progress.ts";
import type { Size } from "./run.ts";

const PROGRAM = join(import.meta.dirname, "fill.ts");

/**
 * Fills a new file, or copies the one that an earlier run has kept; gives the seconds that filling took. A million
 * memories take minutes, and are the same each time.
 */
export async function filled(path: string, size: Size): Promise<number | undefined> {
  const { kept } = size;
  if (kept !== undefined && existsSync(kept)) {
    phase(`a copy of ${kept}`);
    copy(kept, path);
    onDisk(path);
    return undefined;
  }
  const seconds = await fill(path, size);
  if (kept !== undefined) copy(path, kept);
  onDisk(path);
  return seconds;
}

/**
 * Waits until the disk has all of it. Else the system writes hundreds of MB while the run measures, half a minute later by
 * itself or with the first checkpoint, and what is measured waits for that.
 */
function onDisk(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}

/** The database, and the secret beside it. */
function copy(from: string, to: string): void {
  copyFileSync(from, to);
  copyFileSync(`${from}.secret`, `${to}.secret`);
}

/** In other processes, one for each core, so that this one stays as one that only serves. */
async function fill(path: string, { users, perUser, checkout = "" }: Size): Promise<number> {
  phase(`filling a file: ${users} × ${perUser} memories and their messages`);
  const began = performance.now();
  const { createMemory } = await loadLibrary(checkout);
  await (await createMemory({ path })).close();
  const workers = Math.min(users, availableParallelism());
  const done = new Array<number>(workers).fill(0);
  const report = reporter("filling", users * perUser);
  await Promise.all(
    done.map((_, worker) => {
      const first = 1 + Math.floor((worker * users) / workers);
      const last = Math.floor(((worker + 1) * users) / workers);
      return fillUsers([path, first, last, perUser, checkout], (count) => {
        done[worker] = count;
        report(done.reduce((sum, one) => sum + one, 0));
      });
    }),
  );
  return rounded((performance.now() - began) / 1000);
}

/** The library of another checkout, compiled, or of this one if `checkout` is empty: an older server reads no newer file. */
export function loadLibrary(checkout: string): Promise<typeof import("../../src/index.ts")> {
  return checkout === "" ? import("../../src/index.ts") : import(join(checkout, "dist/index.js"));
}

function fillUsers(what: readonly (string | number)[], report: (stored: number) => void): Promise<void> {
  const filling = spawn(process.execPath, [PROGRAM, ...what.map(String)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  filling.on("message", (stored) => report(Number(stored)));
  return new Promise((resolve, reject) => {
    filling.once("error", reject);
    filling.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error("The file could not be filled; what went wrong stands above."));
    });
  });
}
