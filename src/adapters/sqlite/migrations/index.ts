import { RECORD } from "./0001-record.ts";

/** In order; the number of those done is the file's `user_version`. A migration that has been released never changes. */
export const MIGRATIONS: readonly string[] = [RECORD];
