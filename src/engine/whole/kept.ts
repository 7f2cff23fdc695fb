import type { DumpPart, DumpRow } from "../../ports/whole.ts";

/**
 * Whether a row is moved along. How far a follower is says nothing beside another record, for another index may stand
 * there under the same name: it is fed from the beginning.
 */
export function isTransferred(_part: DumpPart, row: DumpRow<DumpPart>): boolean {
  return !("visit" in row) || !row.job.startsWith("follow");
}
