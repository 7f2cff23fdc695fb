import type { Memory, Status } from "../../domain/memory.ts";
import type { Item } from "../../domain/recall.ts";
import { type Qualities, scoreOf } from "../rank/score.ts";
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
  const { corpus, wanted } = ranking;
  const considered = corpus.text.size;
  const { best, certainty } = bestOf(ranking);
  if (certainty < thresholdFor(considered))
    return { items: [], slots: [], considered, dropped: nearest(ranking) };
  const { candidates, dropped } = gather(ranking, best * CUT, certainty);
  const arranged = arrange(candidates);
  const enough = arranged.filter(({ score }) => score >= wanted.minScore);
  const chosen = enough.slice(0, wanted.limit);
  for (const { id, type, score } of enough.slice(wanted.limit)) {
    dropped.push({ id, type, score, why: "beyond the limit" });
  }
  for (const { id, type, score } of arranged.slice(enough.length)) {
    dropped.push({ id, type, score, why: "below minScore" });
  }
  return {
    items: chosen.flatMap((candidate) => itemOf(ranking, candidate) ?? []),
    slots: chosen.map(({ slot }) => slot),
    considered,
    dropped,
  };
}

/** Looks closely at the most relevant units, level by level, until there are enough to choose from. */
function gather(
  ranking: Ranking,
  least: number,
  certainty: number,
): { candidates: Candidate[]; dropped: Dropped[] } {
  const candidates: Candidate[] = [];
  const dropped: Dropped[] = [];
  const enough = SPARE + 2 * ranking.wanted.limit;
  for (const level of levelsOf(ranking.found.relevance, least)) {
    for (const slot of level) {
      const why = whyNot(ranking, slot) ?? whyNothing(ranking, slot);
      const unit = ranking.corpus.units[slot];
      if (!why) candidates.push(candidateOf(ranking, slot, certainty));
      else if (unit) dropped.push({ id: unit.id, type: unit.type, score: 0, why });
    }
    if (candidates.length >= enough) break;
  }
  return { candidates, dropped };
}

/** What came nearest where nothing was near enough. */
function nearest(ranking: Ranking): Dropped[] {
  const { dropped, candidates } = gather(ranking, 0, 1);
  const named = arrange(candidates).slice(0, ranking.wanted.limit);
  return [
    ...named.map(({ id, type }) => ({ id, type, score: 0, why: "it has too little to do with the query" })),
    ...dropped,
  ];
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
    if (value >= least && value > 0) levels[LEVELS - Math.floor(value * LEVELS)]?.push(slot);
  }
  return levels.filter((level) => level.length > 0);
}

/** The best relevance and the greatest evidence among the units that may be given. */
function bestOf(ranking: Ranking): { best: number; certainty: number } {
  const { relevance, evidenceAt } = ranking.found;
  let best = 0;
  let certainty = 0;
  const { slots } = ranking.corpus;
  for (let slot = 0; slot < slots; slot += 1) {
    const evidence = evidenceAt(slot);
    const isMore = (relevance[slot] as number) > best || evidence > certainty;
    // Looked at last, for it is the slow part: few units beat all before them.
    if (!isMore || whyNot(ranking, slot)) continue;
    best = Math.max(best, relevance[slot] as number);
    certainty = Math.max(certainty, evidence);
  }
  return { best, certainty };
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
