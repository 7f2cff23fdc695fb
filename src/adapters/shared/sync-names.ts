import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes the names in a folder survive a power failure. Systems that cannot open folders do so by themselves. */
export function syncNames(path: string): void {
  let folder: number;
  try {
    folder = openSync(path, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
