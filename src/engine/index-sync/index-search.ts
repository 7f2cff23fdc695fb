import type { Scope } from "../../domain/scope.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import { NO_METER } from "../../ports/telemetry.ts";
import type { VectorIndexHit } from "../../ports/vector-index.ts";
import type { Ports } from "../ports.ts";
import { type SearchIndex, slotOfUnit } from "../search-index/search-index.ts";
import { callIndex } from "./call-index.ts";
import type { IndexUpdater } from "./index-updater.ts";

/** Hits asked for: as many as the record's own search lets through. */
const HITS = 256;
/** An index that gives fewer than this, and than half of what there is, has lost something. */
const TOO_FEW = 50;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export interface IndexSearchLimits {
  /** Users with fewer units are searched in the record alone, exactly and at once. */
  readonly from: number;
  /** What a recall waits for an index, in ms. */
  readonly timeoutMs: number;
}

/** Asks an index for the nearest units of a user; the record has the last word. */
export interface IndexSearch {
  /**
   * Slots of the nearest units, in any order; undefined where no index can say it now: then the record's own search goes on. Never
   * throws but for the reason of an aborted signal.
   */
  nearest(
    scope: Scope,
    block: SearchIndex,
    vector: Float32Array,
    call?: CallOptions,
  ): Promise<readonly number[] | undefined>;
}

interface IndexBackoff {
  /** Until then it is not asked: it was late, or failed. */
  quietUntil: number;
  pauseMs: number;
}

/** Who is told of what an index gives that it should not, or does not give. */
export interface IndexProblemHandlers {
  /** Hits that the record does not know. */
  onOrphans(feeder: IndexUpdater, scope: Scope, ids: readonly string[]): void;
  /** Fewer hits than there are units. */
  onIncomplete(feeder: IndexUpdater): void;
}

export function createIndexSearch(
  ports: Pick<Ports, "meter">,
  feeders: readonly IndexUpdater[],
  { from, timeoutMs }: IndexSearchLimits,
  troubles: IndexProblemHandlers,
): IndexSearch {
  const meter = ports.meter ?? NO_METER;
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

  /** What one index gives; undefined where it cannot say it now. */
  const askedOf = async (
    feeder: IndexUpdater,
    scope: Scope,
    block: SearchIndex,
    vector: Float32Array,
    call: CallOptions,
  ): Promise<readonly number[] | undefined> => {
    if (performance.now() < stateOf(feeder).quietUntil) return undefined;
    const { revision } = block;
    if ((await feeder.cursors.get(scope).catch(() => -1)) !== revision) return counted(feeder, "behind");
    const hits = await ask(feeder, scope, vector, call);
    // Somebody wrote meanwhile: what the block does not know may be there by now.
    if (!hits || block.revision !== revision || block.isReleased) return undefined;
    const { slots, strays } = toSlots(block, hits);
    if (strays.length > 0) troubles.onOrphans(feeder, scope, strays);
    if (slots.length < Math.min(TOO_FEW, countLiveUnits(block) / 2)) {
      troubles.onIncomplete(feeder);
      return counted(feeder, "incomplete");
    }
    counted(feeder, "answered");
    return slots;
  };

  return {
    async nearest(scope, block, vector, call = {}) {
      if (countLiveUnits(block) < Math.max(1, from)) return undefined;
      for (const feeder of feeders) {
        const slots = await askedOf(feeder, scope, block, vector, call);
        if (slots || block.isReleased) return slots;
      }
      return undefined;
    },
  };
}

function countLiveUnits({ units, deadSlots: dead }: SearchIndex): number {
  return units.count - dead.length;
}

/** What the record knows of, by slot; and the rest. */
function toSlots(block: SearchIndex, hits: readonly VectorIndexHit[]): { slots: number[]; strays: string[] } {
  const slots: number[] = [];
  const strays: string[] = [];
  for (const { id } of hits) {
    const slot = slotOfUnit(block, id);
    if (slot === undefined) strays.push(id);
    else slots.push(slot);
  }
  return { slots, strays };
}
