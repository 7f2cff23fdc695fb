import type { RecallBounds, RecalledItem, RecallReceipt } from "../../domain/recall-receipt.ts";
import { partsOf } from "../rank/score.ts";
import type { Chosen, Ranked } from "./rank.ts";
import { type Found, thresholdFor } from "./search.ts";
import type { Wanted } from "./take-options.ts";

/** Which signal each arm ranks by. */
export const ARMS = { words: "words", vectors: "near", claims: "claim", time: "time" } as const;
/** How many of those left out are kept. */
const MOST_DROPPED = 20;

/** The receipt of a recall, made while the scratch is still lent. */
export function receiptOf(
  of: { readonly id: string; readonly revision: number; readonly wanted: Wanted },
  ranked: Ranked,
  found: Found,
): RecallReceipt {
  const { wanted } = of;
  const { chosen, considered, dropped } = ranked;
  const arms = Object.entries(ARMS).map(([arm, signal]) => ({
    arm,
    places: placesIn(found.signals.columns[signal], chosen),
  }));
  const items = chosen.map((one, i): RecalledItem => {
    const { id, type, score, status, slot } = one;
    const own = arms.flatMap(({ arm, places }) => (places[i] ? [[arm, places[i]] as const] : []));
    const parts = partsOf(found.signals, found.weights, found.places, slot);
    return { id, type, score: short(score), status, arms: Object.fromEntries(own), parts: shortened(parts) };
  });
  return {
    id: of.id,
    at: wanted.bounds.now,
    kind: "recall",
    revision: of.revision,
    ...(wanted.bounds.session === undefined ? {} : { session: wanted.bounds.session }),
    bounds: boundsOf(wanted),
    profile: wanted.profile.name,
    considered,
    threshold: short(thresholdFor(considered)),
    items,
    dropped: foremost(dropped).map((one) => ({ ...one, score: short(one.score) })),
  };
}

/** What was weighed comes before what the bounds left out. */
function foremost(dropped: Ranked["dropped"]): Ranked["dropped"] {
  if (dropped.length <= MOST_DROPPED) return dropped;
  const weighed = dropped.filter(({ score }) => score > 0);
  const left = dropped.filter(({ score }) => score === 0);
  return [...weighed.slice(0, MOST_DROPPED), ...left].slice(0, MOST_DROPPED);
}

function boundsOf({ limit, minScore, bounds }: Wanted): RecallBounds {
  const { asOf, knownAt, session, agent, kinds, types, where } = bounds;
  return {
    limit,
    minScore,
    ...(asOf === undefined ? {} : { asOf }),
    ...(knownAt === undefined ? {} : { knownAt }),
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
    ...(kinds ? { kinds: [...kinds] } : {}),
    ...(types ? { types: [...types] } : {}),
    ...(where ? { where: true } : {}),
  };
}

/** The rank and score of each of the chosen in one arm, in a single walk along its column. */
function placesIn(
  column: Float32Array,
  chosen: readonly Chosen[],
): (RecalledItem["arms"][string] | undefined)[] {
  const scores = chosen.map(({ slot }) => column[slot] ?? 0);
  const told = scores.filter((score) => score > 0);
  if (told.length === 0) return [];
  const least = Math.min(...told);
  const ranks = new Array<number>(scores.length).fill(1);
  for (const value of column) {
    if (value <= least) continue;
    for (let i = 0; i < scores.length; i += 1) {
      if (value > (scores[i] as number)) ranks[i] = (ranks[i] as number) + 1;
    }
  }
  return scores.map((score, i) =>
    score > 0 ? { rank: ranks[i] as number, score: short(score) } : undefined,
  );
}

function shortened(parts: Readonly<Record<string, number>>): Record<string, number> {
  const kept: Record<string, number> = {};
  for (const [part, value] of Object.entries(parts)) kept[part] = short(value);
  return kept;
}

/** Four digits behind the point: enough to see, and short to keep. */
function short(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
