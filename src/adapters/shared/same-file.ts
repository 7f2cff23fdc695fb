import { statSync } from "node:fs";

/**
 * Whether two paths name one file: through links, and in other letters where the file system does not tell them apart (APFS, NTFS).
 * False where either is missing.
 */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
