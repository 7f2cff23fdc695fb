import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import { NO_METER } from "../../ports/telemetry.ts";
import type { VectorIndexHit } from "../../ports/vector-index.ts";
import type { Ports } from "../ports.ts";
import { type SearchIndex, slotOfUnit } from "../search-index/search-index.ts";
import { spaceOf } from "../search-index/search-units.ts";
import type { IndexSearch } from "../services.ts";
import { callIndex } from "./call-index.ts";
import type { IndexUpdater } from "./index-updater.ts";

/** Hits requested: as many as the store's own search lets through. */
const HITS = 256;
/** An index that gives fewer hits than this, and less than half of the units, has lost entries. */
const TOO_FEW = 50;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

interface IndexSearchLimits {
  /** Users with fewer units are searched only locally, exactly and at once. */
  readonly from: number;
  /** How long a recall waits for an index, in ms. */
  readonly timeoutMs: number;
}

interface IndexBackoff {
  /** The index is not asked until then, because it was late or failed. */
  quietUntil: number;
  pauseMs: number;
}

/** Handlers for wrong or missing hits of an index. */
interface IndexProblemHandlers {
  /** The index gave hits that the store does not know. */
  onOrphans(feeder: IndexUpdater, scope: Scope, ids: readonly string[]): void;
  /** The index gave fewer hits than there are units. */
  onIncomplete(feeder: IndexUpdater): void;
}

export function createIndexSearch(
  ports: Pick<Ports, "meter" | "embedder">,
  feeders: readonly IndexUpdater[],
  { from, timeoutMs }: IndexSearchLimits,
  troubles: IndexProblemHandlers,
): IndexSearch {
  const meter = ports.meter ?? NO_METER;
  const space = spaceOf(ports.embedder);
  const states = new Map<IndexUpdater, IndexBackoff>();
  const stateOf = (feeder: IndexUpdater): IndexBackoff => {
    const state = states.get(feeder) ?? { quietUntil: Number.NEGATIVE_INFINITY, pauseMs: 0 };
    states.set(feeder, state);
    return state;
  };
  const quiet = (feeder: IndexUpdater): void => {
    const state = stateOf(feeder);
    state.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, state.pauseMs * 2));
    state.quietUntil = performance.now() + state.pauseMs;
  };
  const counted = (feeder: IndexUpdater, outcome: string): undefined => {
    meter.count("memory_index_searches_total", { index: feeder.index.name, outcome });
  };

  const ask = async (
    feeder: IndexUpdater,
    scope: Scope,
    vector: Float32Array,
    { signal }: CallOptions,
  ): Promise<VectorIndexHit[] | undefined> => {
    try {
      const hits = await callIndex(
        feeder.index,
        timeoutMs,
        (options) => feeder.index.nearest(scope, vector, { ...options, limit: HITS }),
        signal,
      );
      stateOf(feeder).pauseMs = 0;
      return hits;
    } catch {
      signal?.throwIfAborted();
      quiet(feeder);
      return counted(feeder, "failed");
    }
  };

  /** The hits of one index; undefined if it cannot answer now. */
  const askedOf = async (
    feeder: IndexUpdater,
    scope: Scope,
    searchIndex: SearchIndex,
    vector: Float32Array,
    call: CallOptions,
  ): Promise<readonly number[] | undefined> => {
    if (performance.now() < stateOf(feeder).quietUntil) return undefined;
    const { revision } = searchIndex;
    if ((await feeder.cursors.get(scope).catch(() => -1)) !== revision) return counted(feeder, "behind");
    const hits = await ask(feeder, scope, vector, call);
    // Another write happened meanwhile: the hits may include units that the search index does not have yet.
    if (!hits || searchIndex.revision !== revision || searchIndex.isReleased) return undefined;
    const { slots, orphans } = toSlots(searchIndex, hits);
    if (orphans.length > 0) troubles.onOrphans(feeder, scope, orphans);
    if (slots.length < Math.min(TOO_FEW, countLiveUnits(searchIndex) / 2)) {
      troubles.onIncomplete(feeder);
      return counted(feeder, "incomplete");
    }
    counted(feeder, "answered");
    return slots;
  };

  return {
    async nearest(scope, searchIndex, vector, call = {}) {
      // An index has the vectors of the default embedder only.
      if (searchIndex.space !== space) return undefined;
      if (countLiveUnits(searchIndex) < Math.max(1, from)) return undefined;
      for (const feeder of feeders) {
        const slots = await askedOf(feeder, scope, searchIndex, vector, call);
        if (slots || searchIndex.isReleased) return slots;
      }
      return undefined;
    },
  };
}

function countLiveUnits({ units, deadSlots: dead }: SearchIndex): number {
  return units.count - dead.length;
}

/** The slots of known hits, and the ids of unknown ones. */
function toSlots(
  searchIndex: SearchIndex,
  hits: readonly VectorIndexHit[],
): { slots: number[]; orphans: string[] } {
  const slots: number[] = [];
  const orphans: string[] = [];
  for (const { id } of hits) {
    const slot = slotOfUnit(searchIndex, id);
    if (slot === undefined) orphans.push(id);
    else slots.push(slot);
  }
  return { slots, orphans };
}
