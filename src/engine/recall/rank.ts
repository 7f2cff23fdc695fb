import type { Memory, Status } from "../../domain/memory.ts";
import type { Item } from "../../domain/recall.ts";
import { greatest, type Qualities, scoreOf } from "../rank/score.ts";
import type { UserState } from "../user-state.ts";
import { whyNotMemory, whyNotPassage } from "./bounds.ts";
import type { MemoryAt } from "./claim-arm.ts";
import type { Corpus } from "./corpus.ts";
import { memoryItem, passageItem } from "./items.ts";
import { type Found, thresholdFor } from "./search.ts";
import { arrange, type Candidate } from "./select.ts";
import { passageStatus, statusOf } from "./standing.ts";
import type { Wanted } from "./take-options.ts";

export interface Ranking {
  readonly state: UserState;
  readonly corpus: Corpus;
  readonly memories: ReadonlyMap<string, Memory>;
  readonly memoryAt: MemoryAt;
  readonly found: Found;
  readonly wanted: Wanted;
}

export interface Ranked {
  readonly items: readonly Item[];
  /** The number of each item's unit, in the same order. */
  readonly slots: readonly number[];
  readonly considered: number;
  readonly dropped: readonly Dropped[];
}

export interface Dropped {
  readonly id: string;
  readonly type: "memory" | "passage";
  readonly score: number;
  readonly why: string;
}

/** What is left out, as a share of the best relevance. */
const CUT = 0.35;
/** What no longer holds, and what never did, rank below what does. */
const KEEPS: { readonly [status in Status]: number } = { current: 1, superseded: 0.5, retracted: 0.35 };
/** How finely units are told apart before they are looked at closely; and how many are, besides those wanted. */
const LEVELS = 500;
const SPARE = 30;
const DAY_MS = 86_400_000;
/** Recency halves in this time. */
const HALF_LIFE_DAYS = 90;

/** From what was found to what is given: bounds, threshold, qualities, standing, places. */
export function rank(ranking: Ranking): Ranked {
  const { corpus, found, wanted } = ranking;
  const considered = corpus.text.size;
  const { slots: near, dropped } = gather(ranking);
  const certainty = near.reduce((most, slot) => Math.max(most, found.evidenceAt(slot)), 0);
  const arranged = arrange(near.map((slot) => candidateOf(ranking, slot, certainty)));
  const drop = (candidates: readonly Candidate[], why: string): void => {
    for (const { id, type, score } of candidates) dropped.push({ id, type, score, why });
  };
  if (certainty < thresholdFor(considered)) {
    drop(arranged, "it has too little to do with the query");
    return { items: [], slots: [], considered, dropped };
  }
  const enough = arranged.filter(({ score }) => score >= wanted.minScore);
  const chosen = enough.slice(0, wanted.limit);
  drop(enough.slice(wanted.limit), "beyond the limit");
  drop(arranged.slice(enough.length), "below minScore");
  return {
    items: chosen.flatMap((candidate) => itemOf(ranking, candidate) ?? []),
    slots: chosen.map(({ slot }) => slot),
    considered,
    dropped,
  };
}

/** The units to choose from, by number: the most relevant of those that may be given, and not far below the best. */
interface Near {
  readonly slots: readonly number[];
  readonly best: number;
  readonly dropped: Dropped[];
}

function gather(ranking: Ranking): Near {
  const top = greatest(ranking.found.relevance);
  const near = look(ranking, top * CUT);
  // Where the bounds leave out the most relevant, what is near to the best of the rest may lie below.
  const isWhole = near.best >= top || near.slots.length >= enoughFor(ranking);
  return isWhole ? near : look(ranking, near.best * CUT);
}

/** Looks closely at units from the most relevant down to `least`, level by level, until there are enough. */
function look(ranking: Ranking, least: number): Near {
  const { relevance } = ranking.found;
  const slots: number[] = [];
  const dropped: Dropped[] = [];
  let best = 0;
  for (const level of levelsOf(relevance, least)) {
    for (const slot of level) {
      const why = whyNot(ranking, slot) ?? whyNothing(ranking, slot);
      const unit = ranking.corpus.units[slot];
      if (!why) slots.push(slot);
      else if (unit) dropped.push({ id: unit.id, type: unit.type, score: 0, why });
      if (!why) best = Math.max(best, relevance[slot] as number);
    }
    if (slots.length >= enoughFor(ranking)) break;
  }
  return { slots: slots.filter((slot) => (relevance[slot] as number) >= best * CUT), best, dropped };
}

function enoughFor({ wanted }: Ranking): number {
  return SPARE + 2 * wanted.limit;
}

/** Good neighbours alone bring nothing up: among few messages everything is near to what is asked after. */
function whyNothing({ found }: Ranking, slot: number): string | undefined {
  return found.evidenceAt(slot) > 0 ? undefined : "it shares nothing with the query";
}

/** The units from the most relevant down to `least`, in levels of about the same relevance. Linear. */
function levelsOf(relevance: Float32Array, least: number): number[][] {
  const levels: number[][] = Array.from({ length: LEVELS + 1 }, () => []);
  const { length } = relevance;
  for (let slot = 0; slot < length; slot += 1) {
    const value = relevance[slot] as number;
    if (value >= least && value > 0) levels[Math.max(0, LEVELS - Math.floor(value * LEVELS))]?.push(slot);
  }
  return levels.filter((level) => level.length > 0);
}

function whyNot({ corpus, state, memoryAt, wanted }: Ranking, slot: number): string | undefined {
  const unit = corpus.units[slot];
  if (!unit) return "gone";
  if (unit.type === "memory") {
    const memory = memoryAt(slot);
    return memory ? whyNotMemory(memory, wanted.bounds, state) : "not known";
  }
  const message = state.messages.get(unit.owner);
  return message ? whyNotPassage(message, wanted.bounds) : "gone";
}

function candidateOf(ranking: Ranking, slot: number, certainty: number): Candidate {
  const { corpus, state, memoryAt, found, wanted } = ranking;
  const unit = corpus.units[slot];
  const memory = memoryAt(slot);
  const message = unit?.type === "passage" ? state.messages.get(unit.owner) : undefined;
  const score =
    scoreOf(wanted.profile, found.relevance[slot] as number, qualitiesOf(corpus, memory, message?.at)) *
    KEEPS[standing(ranking, slot)] *
    certainty;
  return {
    slot,
    id: unit?.id ?? "",
    type: unit?.type ?? "passage",
    score,
    messages: memory ? memory.sources.map((source) => source.message) : [unit?.owner ?? ""],
    key: unit?.terms || (unit?.id ?? ""),
    answers: (found.signals.claim[slot] ?? 0) >= 0.5,
  };
}

/** Of what was said without being understood, nobody knows how important or sure it is: it is taken as it stands. */
function qualitiesOf(corpus: Corpus, memory: Memory | undefined, saidAt: string | undefined): Qualities {
  const at = Date.parse(memory?.at ?? saidAt ?? "") || 0;
  const age = Math.max(0, corpus.newest - at) / DAY_MS;
  return {
    recency: 2 ** (-age / HALF_LIFE_DAYS),
    evidence: memory ? 1 - 1 / (1 + memory.evidence) : 0.5,
    importance: memory?.importance ?? 0.5,
    confidence: memory?.confidence ?? 0.9,
  };
}

function standing({ corpus, memories, memoryAt, wanted }: Ranking, slot: number): Status {
  const unit = corpus.units[slot];
  if (!unit) return "current";
  const { bounds } = wanted;
  if (unit.type === "passage") return passageStatus(unit, corpus.said, (id) => memories.get(id), bounds);
  const memory = memoryAt(slot);
  return memory ? statusOf(memory, bounds) : "current";
}

function itemOf(ranking: Ranking, { slot, score }: Candidate): Item | undefined {
  const { corpus, state, memoryAt } = ranking;
  const unit = corpus.units[slot];
  if (!unit) return undefined;
  const status = standing(ranking, slot);
  if (unit.type === "memory") {
    const memory = memoryAt(slot);
    return memory && memoryItem(state, memory, status, score);
  }
  const message = state.messages.get(unit.owner);
  return message && passageItem(state, unit, message, status, score);
}
