import type { DatabaseSync } from "node:sqlite";
import { RECORD } from "./0001-record.ts";
import { BLOCKS } from "./0002-blocks.ts";
import { UNITS_BY_SPACE } from "./0003-units-by-space.ts";
import { TRACES } from "./0004-traces.ts";
import { RECALLS } from "./0005-recalls.ts";
import { CALLS } from "./0006-calls.ts";
import { ANSWERS } from "./0007-answers.ts";
import { JOBS } from "./0008-jobs.ts";
import { LEASES } from "./0010-leases.ts";
import { ERASING } from "./0011-erasing.ts";
import { DIGESTS } from "./0012-digests.ts";

/** In order; the number of those done is the file's `user_version`. A migration that has been released never changes. */
export const SQLITE_MIGRATIONS: readonly string[] = [
  RECORD,
  BLOCKS,
  UNITS_BY_SPACE,
  TRACES,
  RECALLS,
  CALLS,
  ANSWERS,
  JOBS,
  LEASES,
  ERASING,
  DIGESTS,
];

/** How many migrations a file had seen when the jobs came, and the answers had not come yet. */
const JOBS_BEFORE_ANSWERS = 7;

/** What brings a file to this version. */
export function migrationsFor(handle: DatabaseSync, version: number): readonly string[] {
  const rest = SQLITE_MIGRATIONS.slice(version);
  // For half an hour the jobs were the seventh migration; then the answers were put before them.
  const hasJobs = version === JOBS_BEFORE_ANSWERS && hasTable(handle, "jobs");
  return hasJobs ? [ANSWERS, ...SQLITE_MIGRATIONS.slice(version + 1)] : rest;
}

function hasTable(handle: DatabaseSync, name: string): boolean {
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name";
  return handle.prepare(sql).get({ name }) !== undefined;
}
