import type { SearchUnit } from "../../domain/change-set.ts";
import { isUndone } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { formatPassage, splitPassages } from "../../domain/text/split-text.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Delta, Fault, FaultyRow } from "../../ports/memory-store.ts";
import type { Examination, ExamineOptions, Remedy } from "../api/inspection-types.ts";
import { runInUserQueue } from "../change-set.ts";
import { portsOfUser } from "../embedders.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits, termsOfText } from "../search-index/search-units.ts";

type ExaminePorts = Pick<Ports, "store" | "embedder" | "clock" | "ofUser">;

const DERIVED_PLACES: ReadonlySet<string> = new Set(["units", "gone", "blocks"]);

/** Reported once, not for each row that cannot be checked. */
const OTHER_SECRET_FAULT: Fault = {
  place: "secret",
  problem: "does not match the rows, so they cannot be checked",
  count: 1,
};

/**
 * Checks the whole store and reports what can be restored from where. With `fix`, repairs what digests
 * verify.
 */
export async function examine(
  ports: ExaminePorts,
  { backups = [], fix = false }: ExamineOptions = {},
): Promise<Examination> {
  const { store } = ports;
  const repaired = fix ? await repair(ports, backups) : 0;
  const report = await store.check();
  const integrity = await store.integrity?.state({ counts: true });
  const faults = integrity?.secret === "another" ? [...report, OTHER_SECRET_FAULT] : report;
  return {
    isHealthy: faults.length === 0,
    faults,
    ...(integrity ? { integrity } : {}),
    remedies: faults.length === 0 ? [] : await findRemedies(ports, faults, backups),
    repaired,
  };
}

async function repair(ports: ExaminePorts, backups: readonly string[]): Promise<number> {
  const { integrity } = ports.store;
  if (!integrity) return 0;
  const { secret } = await integrity.state();
  if (secret === "another") await integrity.adoptSecret();
  await integrity.addMissingDigests();
  let count = await integrity.repairRows();
  for (const file of backups) count += await integrity.repairRows(file);
  const faults = await ports.store.check();
  for (const [scope, damaged] of findUsersWithBadUnits(faults)) {
    count += await rebuildUnits(await portsOfUser(ports, scope), scope, damaged);
    await integrity.acceptUnits(scope);
  }
  return count;
}

/** Users with changed search units or changed tombstones of deleted units, and the ids of those units. */
function findUsersWithBadUnits(faults: readonly Fault[]): [Scope, ReadonlySet<string>][] {
  const rows = faults.filter(({ place }) => DERIVED_PLACES.has(place)).flatMap((fault) => fault.rows ?? []);
  const users = Map.groupBy(
    rows.filter(({ user }) => user !== undefined),
    ({ project, user }) => JSON.stringify([project, user]),
  );
  return [...users].map(([key, own]) => {
    const [project, user] = JSON.parse(key) as [string, string];
    return [{ project, user }, new Set(own.flatMap(({ id }) => id ?? []))];
  });
}

async function findRemedies(
  { store }: ExaminePorts,
  faults: readonly Fault[],
  backups: readonly string[],
): Promise<Remedy[]> {
  const remedies: Remedy[] = [];
  const itself = (await store.integrity?.countRepairable()) ?? 0;
  if (itself > 0) remedies.push({ from: "itself", what: "rows", count: itself });
  for (const file of backups) {
    const count = ((await store.integrity?.countRepairable(file)) ?? 0) - itself;
    if (count > 0) remedies.push({ from: "backup", what: "rows", count, file });
  }
  const derived = sumFaults(faults.filter(({ place }) => DERIVED_PLACES.has(place)));
  if (derived > 0) remedies.push({ from: "messages", what: "search units", count: derived });
  const rows = faults.flatMap((fault) => fault.rows ?? []);
  const learnable = await countLearnable(store, rows);
  if (learnable > 0) remedies.push({ from: "messages", what: "memories", count: learnable });
  const others = sumFaults(faults.filter(({ place }) => !DERIVED_PLACES.has(place) && place !== "secret"));
  const isCovered = remedies.some(({ from }) => from === "backup" || from === "itself");
  if (others > 0 && !isCovered) remedies.push({ from: "export", what: "rows", count: others });
  return remedies;
}

function sumFaults(faults: readonly Fault[]): number {
  return faults.reduce((sum, { count }) => sum + count, 0);
}

/** Counts the changed memories whose source messages are intact. */
async function countLearnable(store: Ports["store"], rows: readonly FaultyRow[]): Promise<number> {
  const messages = new Set(rows.filter(({ table }) => table === "messages").map(({ id }) => id));
  let count = 0;
  for (const { table, project, user, id } of rows) {
    if (table !== "versions" || project === undefined || user === undefined || id === undefined) continue;
    // An unreadable body names no message.
    const versions = await store.versions({ project, user }, id).catch(() => []);
    const sources = versions.flatMap((memory) => memory.sources.map(({ message }) => message));
    if (sources.length > 0 && sources.every((source) => !messages.has(source))) count += 1;
  }
  return count;
}

type RebuildPorts = Pick<Ports, "store" | "embedder" | "clock">;

/** The expected content of a search unit, derived from its source. */
interface WantedUnit extends Pick<SearchUnit, "type" | "owner" | "start" | "end"> {
  readonly text: string;
}

/**
 * Rebuilds a user's search units that are missing, differ from their source, or are listed in `damaged`;
 * deletes orphans. Builds nothing from a changed message or memory. Gives the number of repaired units.
 */
async function rebuildUnits(
  ports: RebuildPorts,
  scope: Scope,
  damaged: ReadonlySet<string>,
): Promise<number> {
  return runInUserQueue(ports.store, scope, async () => {
    const delta = await ports.store.since(scope, 0);
    const wanted = computeWantedUnits(delta);
    const units = new Map(delta.units.map((unit) => [unit.id, unit]));
    const wrong = new Set<string>();
    await forEachInSlices(wanted, ([id, want]) => {
      const unit = units.get(id);
      if (!unit || damaged.has(id) || !isMadeOf(unit, want)) wrong.add(want.owner);
    });
    const dropUnits = [...units.keys()].filter((id) => !wanted.has(id));
    if (wrong.size === 0 && dropUnits.length === 0) return 0;
    const rebuilt = await createSearchUnits(
      ports,
      delta.messages.filter(({ id, undone }) => wrong.has(id) && !undone),
      delta.memories.filter(({ id }) => wrong.has(id)),
    );
    const at = ports.clock().toISOString();
    await ports.store.commit(scope, {
      base: delta.revision,
      at,
      cause: "reindex",
      units: rebuilt.filter(({ id }) => wanted.has(id)),
      dropUnits,
    });
    return rebuilt.length + dropUnits.length;
  });
}

function computeWantedUnits({ messages, memories, damaged }: Delta): Map<string, WantedUnit> {
  const unsound = new Set([...(damaged?.messages ?? []), ...(damaged?.memories ?? [])]);
  const wanted = new Map<string, WantedUnit>();
  for (const message of messages) {
    if (message.undone || unsound.has(message.id)) continue;
    for (const { id, start, end } of splitPassages(message)) {
      const text = formatPassage(message, { start, end });
      wanted.set(id, { type: "passage", owner: message.id, start, end, text });
    }
  }
  for (const memory of memories) {
    const { id, text } = memory;
    if (!unsound.has(id) && !isUndone(memory))
      wanted.set(id, { type: "memory", owner: id, start: 0, end: text.length, text });
  }
  return wanted;
}

function isMadeOf(unit: SearchUnit, { type, owner, start, end, text }: WantedUnit): boolean {
  return (
    unit.type === type &&
    unit.owner === owner &&
    unit.start === start &&
    unit.end === end &&
    unit.terms === termsOfText(text)
  );
}
