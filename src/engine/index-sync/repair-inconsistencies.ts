import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Drift, DriftOptions } from "../api/index-types.ts";
import type { Ports } from "../ports.ts";
import { spaceOf } from "../search-index/search-units.ts";
import { callIndexInTurn } from "./call-index.ts";
import { dropEntries } from "./erase-from-indexes.ts";
import { hasDirection } from "./index-entries.ts";
import { countUsers, type IndexUpdater } from "./index-updater.ts";

const USERS = 500;
const ANSWER_MS = 120_000;
/** Entries per user that are searched by their own vectors. */
const SAMPLES_PER_USER = 20;
/** A vector is its own nearest, except for the last digits that a server keeps. */
const SAME_SCORE = 0.99;

type RepairPorts = Pick<Ports, "store" | "embedder">;
type InconsistencyCounts = { -readonly [Field in "users" | "units" | "missing" | "stray" | "stale"]: number };

/** Checks every user whose changes are all indexed, and repairs differences. */
export async function repairInconsistencies(
  ports: RepairPorts,
  feeder: IndexUpdater,
  { signal, onProgress }: DriftOptions = {},
): Promise<Drift> {
  const sum: InconsistencyCounts = { users: 0, units: 0, missing: 0, stray: 0, stale: 0 };
  let isRepaired = true;
  let after: string | undefined;
  const of = await countUsers(ports, feeder);
  do {
    const page = await ports.store.jobs.jobProgress(feeder.name, {
      limit: USERS,
      ...(after === undefined ? {} : { after }),
    });
    for (const { scope } of page.users) {
      signal?.throwIfAborted();
      const left = await callIndexInTurn(
        feeder.index,
        scope,
        ANSWER_MS,
        (options) => repairUser(ports, feeder, scope, sum, options),
        signal,
      );
      if (left > 0) isRepaired = false;
      sum.users += 1;
      onProgress?.(sum.users, Math.max(of, sum.users));
    }
    after = page.cursor;
  } while (after !== undefined);
  return { name: feeder.index.name, ...sum, isRepaired };
}

/** Checks one user. Gives the number of entries that could not be repaired. */
async function repairUser(
  ports: RepairPorts,
  feeder: IndexUpdater,
  scope: Scope,
  sum: InconsistencyCounts,
  options: CallOptions,
): Promise<number> {
  const { index } = feeder;
  const there = new Set<string>();
  for await (const page of index.entries(scope, options)) for (const id of page) there.add(id);
  // Read after the index: a change in between looks missing and is put again, which does no harm.
  const delta = await ports.store.since(scope, 0);
  const space = spaceOf(ports.embedder);
  const units = delta.units.filter((unit) => unit.space === space && hasDirection(unit.vector));
  const known = new Map(units.map(({ id, vector }) => [id, vector]));
  const stray = [...there].filter((id) => !known.has(id));
  const missing = [...known.keys()].filter((id) => !there.has(id));
  const stale = await findStaleEntries(feeder, scope, known, there, options);
  sum.units += known.size;
  sum.stray += stray.length;
  sum.missing += missing.length;
  sum.stale += stale.length;
  // One wrong vector makes all vectors of the user suspect.
  const wrong = [...stray, ...missing, ...(stale.length > 0 ? known.keys() : [])];
  if (wrong.length === 0) return 0;
  const left = await dropEntries(ports, feeder, scope, [...new Set(wrong)], options);
  return left;
}

/** A sample of entries, evenly spread, that are not found by their own vectors. */
async function findStaleEntries(
  { index }: IndexUpdater,
  scope: Scope,
  known: ReadonlyMap<string, Float32Array>,
  there: ReadonlySet<string>,
  options: CallOptions,
): Promise<string[]> {
  const ids = [...known.keys()].filter((id) => there.has(id));
  const step = Math.max(1, Math.floor(ids.length / SAMPLES_PER_USER));
  const stale: string[] = [];
  for (let at = 0; at < ids.length; at += step) {
    const id = ids[at] ?? "";
    const vector = known.get(id);
    const [hit] = vector ? await index.nearest(scope, vector, { ...options, limit: 1 }) : [];
    // Another entry may have the same vector: it is enough that one is found.
    if (!hit || hit.score < SAME_SCORE) stale.push(id);
  }
  return stale;
}
