import { basename, dirname } from "node:path";

/** Ends the name of a copy that is still being written. */
export const DRAFT_SUFFIX = ".part";

/** Where the copy goes that is made before a file is brought to a version. */
export function getUpdateCopyPath(path: string, version: number): string {
  return `${path}.before-v${version}`;
}

/** Whether a file is such a copy of a database, or a draft of one. */
export function isUpdateCopy(path: string, file: string): boolean {
  if (dirname(file) !== dirname(path) || !basename(file).startsWith(basename(path))) return false;
  return /^\.before-v\d+(\.part)?$/.test(basename(file).slice(basename(path).length));
}
