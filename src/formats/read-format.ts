import type { ImportFormatName } from "../domain/operations/import-format.ts";

/** A format that has a reader. */
export type ReadFormat = Exclude<ImportFormatName, "auto">;
