import type { RecallBounds, RecalledItem, RecallReceipt } from "../../domain/recall-receipt.ts";
import { partsTeller } from "../rank/score.ts";
import type { Dropped, Ranked } from "./rank.ts";
import { type Found, thresholdFor } from "./search.ts";
import type { Wanted } from "./take-options.ts";

/** Which signal each arm ranks by. */
export const ARMS = { words: "words", vectors: "near", claims: "claim", time: "time" } as const;
/** How many of those left out are kept. */
const MOST_DROPPED = 20;

/**
 * The receipt of a recall. What hangs on the scratch is worked out while it is still lent, for to copy it would take as long; the
 * rest when the receipt is asked for, so that the recall does not wait for it.
 */
export function receiptOf(
  of: { readonly id: string; readonly revision: number; readonly wanted: Wanted },
  { chosen, considered, dropped }: Ranked,
  found: Found,
): () => RecallReceipt {
  const partsOf = partsTeller(found.signals, found.weights, found.places);
  const parts = chosen.map(({ slot }) => partsOf(slot));
  const places = Object.entries(ARMS).map(([arm, signal]) => {
    const column = found.signals.columns[signal];
    const scores = chosen.map(({ slot }) => column[slot] ?? 0);
    return { arm, places: placesIn(column, found.slots, scores) };
  });
  // What is held on to until then is little: the collector would move the rest about.
  const left = foremost(dropped);
  const items = chosen.map(({ id, type, score, status }) => ({ id, type, score, status }));
  return () => {
    const { wanted } = of;
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
      items: items.map((item, i) => ({
        ...item,
        score: short(item.score),
        arms: Object.fromEntries(
          places.flatMap(({ arm, places: own }) => (own[i] ? [[arm, own[i]] as const] : [])),
        ),
        parts: shortened(parts[i] ?? {}),
      })),
      dropped: left.map((one) => ({ ...one, score: short(one.score) })),
    };
  };
}

/** What was weighed comes before what the bounds left out. */
function foremost(dropped: Ranked["dropped"]): Ranked["dropped"] {
  const weighed: Dropped[] = [];
  const left: Dropped[] = [];
  for (const one of dropped) {
    if (weighed.length >= MOST_DROPPED) break;
    if (one.score > 0) weighed.push(one);
    else if (left.length < MOST_DROPPED) left.push(one);
  }
  return [...weighed, ...left].slice(0, MOST_DROPPED);
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

/** Up to so many units, a rank counts all of them; of more, those that were weighed. */
const WHOLE = 16_384;

/** The rank and score of each of the chosen in one arm, in a single walk along its column. */
function placesIn(
  column: Float32Array,
  slots: Int32Array,
  scores: readonly number[],
): (RecalledItem["arms"][string] | undefined)[] {
  const found = rising(scores);
  const [least] = found;
  if (!least) return [];
  const above = new Uint32Array(found.length + 1);
  const bars = new Float64Array(found.length);
  for (const [i, { score }] of found.entries()) bars[i] = score;
  const bar = least.score;
  const isWhole = column.length <= WHOLE;
  const length = isWhole ? column.length : slots.length;
  for (let i = 0; i < length; i += 1) {
    const value = column[isWhole ? i : (slots[i] as number)] as number;
    if (value <= bar) continue;
    let place = 1;
    while (place < bars.length && value > (bars[place] as number)) place += 1;
    above[place] = (above[place] as number) + 1;
  }
  const places: (RecalledItem["arms"][string] | undefined)[] = [];
  for (let place = found.length - 1, higher = 0; place >= 0; place -= 1) {
    higher += above[place + 1] as number;
    const one = found[place];
    if (one) places[one.i] = { rank: higher + 1, score: short(one.score) };
  }
  return places;
}

interface Scored {
  readonly i: number;
  readonly score: number;
}

/** The scores that are something, and whose they are. */
function rising(scores: readonly number[]): Scored[] {
  const found: Scored[] = [];
  for (const [i, score] of scores.entries()) if (score > 0) found.push({ i, score });
  return found.sort(byScore);
}

function byScore(one: Scored, other: Scored): number {
  return one.score - other.score;
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
