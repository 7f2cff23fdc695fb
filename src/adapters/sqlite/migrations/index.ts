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

/** In order; the number of those done is the file's `user_version`. A migration that has been released never changes. */
export const MIGRATIONS: readonly string[] = [
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
];
