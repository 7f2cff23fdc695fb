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
import { USES } from "./0013-uses.ts";
import { SHARES } from "./0014-shares.ts";
import { ATTACHMENTS } from "./0015-attachments.ts";
import { WEBHOOK_TABLES_OF_FILE } from "./0016-webhooks.ts";
import { EMBEDDER_CHOICES } from "./0017-embedders.ts";

/** In order; a file's `user_version` is the number of finished ones. A released migration never changes. */
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
  USES,
  SHARES,
  ATTACHMENTS,
  WEBHOOK_TABLES_OF_FILE,
  EMBEDDER_CHOICES,
];

/** The version of files that had the jobs but not yet the answers. */
const JOBS_BEFORE_ANSWERS = 7;

/** The migrations that a file still needs. */
export function migrationsFor(handle: DatabaseSync, version: number): readonly string[] {
  const rest = SQLITE_MIGRATIONS.slice(version);
  // For a short time, the jobs were the seventh migration; then the answers were inserted before them.
  const hasJobs = version === JOBS_BEFORE_ANSWERS && hasTable(handle, "jobs");
  return hasJobs ? [ANSWERS, ...SQLITE_MIGRATIONS.slice(version + 1)] : rest;
}

function hasTable(handle: DatabaseSync, name: string): boolean {
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name";
  return handle.prepare(sql).get({ name }) !== undefined;
}
