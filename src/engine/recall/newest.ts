import type { Item } from "../../domain/recall.ts";
import { extractTerms } from "../../domain/words.ts";
import type { SearchIndex } from "../block/block.ts";
import { TURN_FLAGS } from "../block/turns.ts";
import { type PostingRun, termFrequencyIn, termWeightOf } from "../block/words.ts";
import { computeCenteredCosine, getMeanCentering, type MeanCentering } from "./centre.ts";
import { findQueryStyle } from "./manner.ts";
import type { RankedUnit } from "./rank.ts";

/** Among so many of the best, the newer of two that tell the same comes first; what is found at all does not change. */
const MAX_COMPARED = 10;
/** How much alike two units must be to tell the same of what is asked: the sum of what `likeness` looks at. */
const MIN_LIKENESS = 0.8;
const CHANGE_BONUS = 0.2;
const NUMBER_BONUS = 0.2;

const CHANGE_WORDS =
  /\b(?:now|new|currently|recently|just|updated?|changed|moved|switched|rescheduled|adjusted|increased|decreased|reduced|improved|extended|reached|upgraded|postponed|instead|anymore|no longer|latest|finally|actually)\b/i;
const NUMBER_WORDS =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|fourth|fifth|sixth|half|dozen)\b/i;

/** A place in the order, with the item that has it. */
export interface PlacedItem {
  readonly item: Item;
  readonly unit: RankedUnit;
}

interface RankedStatement extends PlacedItem {
  readonly at: number;
  readonly turn: number;
  /** By term of the query: whether it holds it. */
  readonly holds: readonly boolean[];
}

interface WeightedTerm {
  readonly weight: number;
  readonly runs: readonly PostingRun[];
}

interface StatementComparison {
  readonly block: SearchIndex;
  readonly centering: MeanCentering;
  readonly terms: readonly WeightedTerm[];
  readonly all: number;
  readonly isAfterNumber: boolean;
}

/**
 * The best in the order in which they are to be read. Where a query asks for one value, such as may have changed since,
 * the later of two statements of the same speaker comes right before the earlier one if both are about the same: they
 * share the telling words of the query, are near to each other, and the later one speaks of a change or both of numbers.
 * It then has the score of the earlier one. Nothing else moves, and nothing beyond the first ten.
 */
export function orderNewerFirst(
  block: SearchIndex,
  query: string,
  placed: readonly PlacedItem[],
): readonly PlacedItem[] {
  const { isAfterValue, isAfterNumber } = findQueryStyle(query);
  if (!isAfterValue || placed.length < 2) return placed;
  const terms = toWeightedTerms(block, query);
  const all = terms.reduce((sum, { weight }) => sum + weight, 0);
  if (all === 0) return placed;
  const comparing = { block, centering: getMeanCentering(block), terms, all, isAfterNumber };
  const ordered: RankedStatement[] = [];
  for (const one of placed.slice(0, MAX_COMPARED)) {
    const newer = toStatement(comparing, one);
    const place = ordered.findIndex((older) => isUpdateOf(comparing, newer, older));
    if (place < 0) ordered.push(newer);
    else ordered.splice(place, 0, withScore(newer, (ordered[place] as RankedStatement).item.score));
  }
  return [...ordered, ...placed.slice(MAX_COMPARED)];
}

function withScore(statement: RankedStatement, score: number): RankedStatement {
  return { ...statement, item: { ...statement.item, score }, unit: { ...statement.unit, score } };
}

function toWeightedTerms({ words }: SearchIndex, query: string): WeightedTerm[] {
  return [...new Set(extractTerms(query))].flatMap((term) => {
    const runs = words.postings(term);
    return runs.length === 0 ? [] : [{ weight: termWeightOf(words, term), runs }];
  });
}

function toStatement({ block, terms }: StatementComparison, placed: PlacedItem): RankedStatement {
  const { slot } = placed.unit;
  const turn = block.units.columns.turn[slot] as number;
  return {
    ...placed,
    turn,
    at: turn < 0 ? Number.NaN : (block.turns.columns.at[turn] as number),
    holds: terms.map(({ runs }) => runs.some((run) => termFrequencyIn(run, slot) > 0)),
  };
}

/** Whether the one said later tells anew what the other told. */
function isUpdateOf(comparing: StatementComparison, newer: RankedStatement, older: RankedStatement): boolean {
  const { flags, speaker } = comparing.block.turns.columns;
  const isLater = newer.at > older.at || (newer.at === older.at && newer.turn > older.turn);
  if (!isLater || older.turn < 0) return false;
  // The words that ended a statement are the last it rests on; that makes it no news.
  if (newer.item.status !== "current" && older.item.status === "current") return false;
  if (((flags[newer.turn] as number) & (flags[older.turn] as number) & TURN_FLAGS.byUser) === 0) return false;
  if (speaker[newer.turn] !== speaker[older.turn]) return false;
  return computeLikeness(comparing, newer, older) >= MIN_LIKENESS;
}

/**
 * How much alike two statements are as answers: the share of the query's telling words that both hold, their cosine
 * without what all units have in common, and a little for signs of a change, and for numbers where one is asked for.
 */
function computeLikeness(
  { block, centering: centre, terms, all, isAfterNumber }: StatementComparison,
  newer: RankedStatement,
  older: RankedStatement,
): number {
  let shared = 0;
  for (const [i, { weight }] of terms.entries()) {
    if (newer.holds[i] && older.holds[i]) shared += weight;
  }
  if (shared === 0) return 0;
  const near = computeCenteredCosine(block, centre, newer.unit.slot, older.unit.slot);
  const changed = CHANGE_WORDS.test(newer.item.text) ? CHANGE_BONUS : 0;
  const bothCount = NUMBER_WORDS.test(newer.item.text) && NUMBER_WORDS.test(older.item.text);
  return shared / all + near + changed + (isAfterNumber ? Number(bothCount) : 0.5) * NUMBER_BONUS;
}
