import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import { isMemoryError } from "../../errors.ts";
import type { EmbedderCalibration } from "../../ports/language/embedder.ts";
import type { Ports } from "../ports.ts";
import { dotProduct } from "../recall/retrievers/vector-retriever.ts";
import { spaceOf } from "../search-index/search-units.ts";
import type { MaintenanceEdit } from "./apply-edits.ts";

/** Memories whose keys are computed before a yield: each takes some tens of microseconds. */
const KEYS_AT_ONCE = 50;
/** Vectors per read. */
const VECTORS_AT_ONCE = 100;
/** When a user is visited again whose embedder could not be measured. */
const RETRY_MS = 3_600_000;

/** Memories to compare, and those that others are merged into in the same plan: these stay. */
interface ComparedMemories {
  readonly memories: readonly Memory[];
  readonly survivors: ReadonlySet<string>;
}

/**
 * Merges memories that say the same in other words. The vocabulary decides which may: those that differ in a name, a number,
 * a date, a negation, a person or a validity never do. The vectors of the embedder must agree. Without a
 * threshold (`duplicateFloor` or `calibration`), nothing is merged. If the threshold cannot be measured now, `due` says when to look
 * again. Each memory is looked at once, so the work grows with their number.
 */
export async function planMeaningMerges(
  ports: Pick<Ports, "vocabulary" | "embedder" | "store" | "clock">,
  scope: Scope,
  { memories, survivors }: ComparedMemories,
): Promise<{ readonly edits: readonly MaintenanceEdit[]; readonly due?: string }> {
  const { duplicateFloor, calibration } = ports.embedder;
  if (duplicateFloor === undefined && !calibration) return { edits: [] };
  const groups = await groupByMeaning(ports, memories);
  if (groups.length === 0) return { edits: [] };
  const floor = duplicateFloor ?? (await measureFloor(calibration));
  if (floor === undefined) return { edits: [], due: toRetryTime(ports) };
  const vectors = await readVectors(ports, scope, groups.flat());
  const edits = groups.flatMap((group) => {
    const [into, ...others] = group.toSorted(
      (one, other) =>
        Number(survivors.has(other.id)) - Number(survivors.has(one.id)) ||
        other.evidence - one.evidence ||
        other.text.length - one.text.length,
    );
    return others.flatMap((memory) => {
      if (!into || survivors.has(memory.id) || !haveSameSubject(into, memory)) return [];
      const similarity = compareVectors(vectors.get(into.id), vectors.get(memory.id));
      return similarity < floor ? [] : [toMergeEdit(memory, into, similarity)];
    });
  });
  return { edits };
}

/** The threshold of an embedder on a server; undefined if the server cannot give it now. */
async function measureFloor(calibration: EmbedderCalibration | undefined): Promise<number | undefined> {
  try {
    return await calibration?.duplicateFloor();
  } catch (error) {
    // What merges without vectors goes on. The embedder's own job reports the server.
    if (isMemoryError(error)) return undefined;
    throw error;
  }
}

function toRetryTime({ clock }: Pick<Ports, "clock">): string {
  return new Date(clock().getTime() + RETRY_MS).toISOString();
}

async function groupByMeaning(
  { vocabulary }: Pick<Ports, "vocabulary">,
  memories: readonly Memory[],
): Promise<Memory[][]> {
  const groups = new Map<string, Memory[]>();
  await forEachInSlices(
    memories,
    (memory) => {
      const key = vocabulary.toMeaningKey(memory);
      if (key === undefined) return;
      const group = groups.get(key);
      if (group) group.push(memory);
      else groups.set(key, [memory]);
    },
    KEYS_AT_ONCE,
  );
  return [...groups.values()].filter(({ length }) => length > 1);
}

async function readVectors(
  { store, embedder }: Pick<Ports, "store" | "embedder">,
  scope: Scope,
  memories: readonly Memory[],
): Promise<Map<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  for (let at = 0; at < memories.length; at += VECTORS_AT_ONCE) {
    const ids = memories.slice(at, at + VECTORS_AT_ONCE).map(({ id }) => id);
    for (const [i, vector] of (await store.vectors(scope, ids, spaceOf(embedder))).entries())
      if (vector) vectors.set(ids[i] as string, vector);
  }
  return vectors;
}

/** A text may be about a person whom only the claim names. */
function haveSameSubject({ claim: one }: Memory, { claim: other }: Memory): boolean {
  return !one || !other || one.subject.toLowerCase() === other.subject.toLowerCase();
}

/** The cosine; 0 if one of the vectors is missing. */
function compareVectors(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return one && other && one.length === other.length ? dotProduct(one, other) : 0;
}

function toMergeEdit({ id, version }: Memory, into: Memory, similarity: number): MaintenanceEdit {
  return {
    id,
    version,
    action: "merged",
    into: { id: into.id, version: into.version },
    why: `it says the same as another memory, in other words (similarity ${similarity.toFixed(2)})`,
  };
}
