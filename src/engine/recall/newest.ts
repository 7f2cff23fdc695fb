import type { Item } from "../../domain/recall.ts";
import { analyse } from "../../domain/words.ts";
import type { Block } from "../block/block.ts";
import { TURN } from "../block/turns.ts";
import { type Run, telling, timesIn } from "../block/words.ts";
import { type Centre, centreOf, cosineApart } from "./centre.ts";
import { mannerOf } from "./manner.ts";
import type { Chosen } from "./rank.ts";

/** Among so many of the best, the newer of two that tell the same comes first; what is found at all does not change. */
const FOREMOST = 10;
/** How much alike two units must be to tell the same of what is asked: the sum of what `likeness` looks at. */
const ALIKE = 0.8;
const CHANGED = 0.2;
const BOTH_COUNT = 0.2;

const CHANGE =
  /\b(?:now|new|currently|recently|just|updated?|changed|moved|switched|rescheduled|adjusted|increased|decreased|reduced|improved|extended|reached|upgraded|postponed|instead|anymore|no longer|latest|finally|actually)\b/i;
const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|fourth|fifth|sixth|half|dozen)\b/i;

/** A place in the order, with the item that has it. */
export interface Placed {
  readonly item: Item;
  readonly one: Chosen;
}

interface Statement extends Placed {
  readonly at: number;
  readonly turn: number;
  /** By term of the query: whether it holds it. */
  readonly holds: readonly boolean[];
}

interface Weighed {
  readonly weight: number;
  readonly runs: readonly Run[];
}

interface Comparing {
  readonly block: Block;
  readonly centre: Centre;
  readonly terms: readonly Weighed[];
  readonly all: number;
  readonly isAfterNumber: boolean;
}

/**
 * The best in the order in which they are to be read. Where a query asks for one value, such as may have changed since,
 * the later of two statements of the same speaker comes right before the earlier one if both are about the same: they
 * share the telling words of the query, are near to each other, and the later one speaks of a change or both of numbers.
 * It then has the score of the earlier one. Nothing else moves, and nothing beyond the first ten.
 */
export function newestFirst(block: Block, query: string, placed: readonly Placed[]): readonly Placed[] {
  const { isAfterValue, isAfterNumber } = mannerOf(query);
  if (!isAfterValue || placed.length < 2) return placed;
  const terms = termsOf(block, query);
  const all = terms.reduce((sum, { weight }) => sum + weight, 0);
  if (all === 0) return placed;
  const comparing = { block, centre: centreOf(block), terms, all, isAfterNumber };
  const ordered: Statement[] = [];
  for (const one of placed.slice(0, FOREMOST)) {
    const newer = statementOf(comparing, one);
    const place = ordered.findIndex((older) => isNewsOf(comparing, newer, older));
    if (place < 0) ordered.push(newer);
    else ordered.splice(place, 0, withScore(newer, (ordered[place] as Statement).item.score));
  }
  return [...ordered, ...placed.slice(FOREMOST)];
}

function withScore(statement: Statement, score: number): Statement {
  return { ...statement, item: { ...statement.item, score }, one: { ...statement.one, score } };
}

function termsOf({ words }: Block, query: string): Weighed[] {
  return [...new Set(analyse(query))].flatMap((term) => {
    const runs = words.runs(term);
    return runs.length === 0 ? [] : [{ weight: telling(words, term), runs }];
  });
}

function statementOf({ block, terms }: Comparing, placed: Placed): Statement {
  const { slot } = placed.one;
  const turn = block.units.columns.turn[slot] as number;
  return {
    ...placed,
    turn,
    at: turn < 0 ? Number.NaN : (block.turns.columns.at[turn] as number),
    holds: terms.map(({ runs }) => runs.some((run) => timesIn(run, slot) > 0)),
  };
}

/** Whether the one said later tells anew what the other told. */
function isNewsOf(comparing: Comparing, newer: Statement, older: Statement): boolean {
  const { flags, speaker } = comparing.block.turns.columns;
  const isLater = newer.at > older.at || (newer.at === older.at && newer.turn > older.turn);
  if (!isLater || older.turn < 0) return false;
  // The words that ended a statement are the last it rests on; that makes it no news.
  if (newer.item.status !== "current" && older.item.status === "current") return false;
  if (((flags[newer.turn] as number) & (flags[older.turn] as number) & TURN.byUser) === 0) return false;
  if (speaker[newer.turn] !== speaker[older.turn]) return false;
  return likeness(comparing, newer, older) >= ALIKE;
}

/**
 * How much alike two statements are as answers: the share of the query's telling words that both hold, their cosine
 * without what all units have in common, and a little for signs of a change, and for numbers where one is asked for.
 */
function likeness(
  { block, centre, terms, all, isAfterNumber }: Comparing,
  newer: Statement,
  older: Statement,
): number {
  let shared = 0;
  for (const [i, { weight }] of terms.entries()) {
    if (newer.holds[i] && older.holds[i]) shared += weight;
  }
  if (shared === 0) return 0;
  const near = cosineApart(block, centre, newer.one.slot, older.one.slot);
  const changed = CHANGE.test(newer.item.text) ? CHANGED : 0;
  const bothCount = NUMBER.test(newer.item.text) && NUMBER.test(older.item.text);
  return shared / all + near + changed + (isAfterNumber ? Number(bothCount) : 0.5) * BOTH_COUNT;
}
