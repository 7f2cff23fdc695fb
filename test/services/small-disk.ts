import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A disk in memory, so small that it is soon full, in place of a folder. Only root may have one. */
export interface SmallDisk {
  grow(bytes: number): void;
  /** The folder is there again, empty. */
  remove(): void;
}

/** Whether this account, on this machine, may have one. */
export function hasSmallDisks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-disk-"));
  try {
    smallDisk(folder, 100_000).remove();
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function smallDisk(folder: string, bytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true });
  const run = (program: string, ...given: string[]): void => {
    execFileSync(program, given, { stdio: "ignore" });
  };
  run("mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder);
  return {
    grow: (to) => run("mount", "-o", `remount,size=${to}`, folder),
    remove: () => run("umount", folder),
  };
}
