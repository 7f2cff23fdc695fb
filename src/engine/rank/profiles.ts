import { invalid } from "../../errors.ts";
import type { Signal } from "./signals.ts";

export type SignalWeights = { readonly [signal in Signal]: number };

/** What is weighed once relevance is known, each from 0 to 1. */
export type Quality = "recency" | "evidence" | "importance" | "confidence";

/**
 * A way to rank, as data. Relevance is the weighted mean of the signals; people who talk among themselves and a person
 * who talks with an assistant (or alone) are two situations, with weights of their own.
 * Score = (`relevance` x relevance + the sum of `adds`) x the product of `1 - most x (1 - quality)` over `takes`.
 */
export interface RankingProfile {
  readonly name: string;
  readonly talk: SignalWeights;
  readonly chat: SignalWeights;
  readonly relevance: number;
  readonly adds: { readonly [quality in Quality]?: number };
  /** How much of the score a quality of 0 takes away: a bounded product, so that relevance leads. */
  readonly takes: { readonly [quality in Quality]?: number };
  /** Whether the newer of two that tell the same comes first. */
  readonly isNewestFirst: boolean;
}

const NO_WEIGHTS: SignalWeights = {
  words: 0,
  window: 0,
  session: 0,
  near: 0,
  apart: 0,
  around: 0,
  named: 0,
  answers: 0,
  own: 0,
  theirs: 0,
  tells: 0,
  wish: 0,
  claim: 0,
  time: 0,
};

/** Fitted by `bench/quality/fit.ts` on the development data; `claim` and `time` are set by hand. */
const DEFAULT_PROFILE: RankingProfile = {
  name: "default",
  talk: {
    ...NO_WEIGHTS,
    words: 1.7,
    window: 3.3,
    session: 2,
    near: 1.6,
    apart: 0.9,
    around: 3.3,
    named: 2.3,
    answers: 0.6,
    tells: 0.7,
    wish: 0.8,
    claim: 1.5,
    time: 1,
  },
  chat: {
    ...NO_WEIGHTS,
    words: 3.3,
    window: 1.2,
    session: 1.6,
    near: 1.5,
    apart: 1.6,
    around: 0.8,
    own: 3.1,
    theirs: 1.4,
    tells: 0.2,
    wish: 2.2,
    claim: 4,
    time: 1,
  },
  relevance: 1,
  adds: {},
  takes: { recency: 0.06, evidence: 0.03, importance: 0.04, confidence: 0.04 },
  isNewestFirst: true,
};

/** The mix that many memory systems use. How often a memory was used is not tracked yet: evidence stands for it. */
const CLASSIC_PROFILE: RankingProfile = {
  name: "classic",
  talk: { ...NO_WEIGHTS, near: 1 },
  chat: { ...NO_WEIGHTS, near: 1 },
  relevance: 0.4,
  adds: { recency: 0.3, evidence: 0.2, confidence: 0.1 },
  takes: {},
  isNewestFirst: false,
};

const RANKING_PROFILES: readonly RankingProfile[] = [DEFAULT_PROFILE, CLASSIC_PROFILE];

/** The profile of a name; `invalid_input` for a name that none has. */
export function findRankingProfile(name: string): RankingProfile {
  const profile = RANKING_PROFILES.find((one) => one.name === name);
  if (profile) return profile;
  throw invalid(`profile must be one of ${RANKING_PROFILES.map((one) => one.name).join(", ")}.`);
}
