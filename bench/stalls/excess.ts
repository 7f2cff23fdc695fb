import type { MeasuredCase } from "./measuring.ts";
import type { Side } from "./rounds.ts";

/** How much more than its idle control a case cost, in ms; the median of its rounds. */
export interface ExcessOf {
  readonly stall: number;
  readonly p95: number;
  readonly worst: number;
  /** Requests of others that got no good answer, over all rounds. */
  readonly failed: number;
  /** Outcomes over all rounds. */
  readonly outcomes: { readonly [outcome: string]: number };
  /** Until the last answer of the case. */
  readonly ms: number;
  readonly peakMegabytes?: number;
  /** Rounds in which the server ended, or did not come back. */
  readonly lost: number;
  readonly rounds: number;
}

/** What one case came to, on one side or on both. */
export interface CaseFigures {
  readonly name: string;
  readonly before?: ExcessOf;
  readonly after: ExcessOf;
}

export function excessOf(rounds: readonly MeasuredCase[]): ExcessOf {
  const over = (of: "stall" | "p95" | "worst"): number =>
    Math.max(0, Math.round(medianOf(rounds.map(({ during, control }) => during[of] - control[of]))));
  const peaks = rounds.flatMap(({ peakMegabytes }) => peakMegabytes ?? []);
  const outcomes: Record<string, number> = {};
  for (const round of rounds)
    for (const [outcome, count] of Object.entries(round.outcomes))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  return {
    stall: over("stall"),
    p95: over("p95"),
    worst: over("worst"),
    failed: rounds.reduce((sum, { during }) => sum + during.failed, 0),
    outcomes,
    ms: Math.round(medianOf(rounds.map(({ ms }) => ms))),
    ...(peaks.length === 0 ? {} : { peakMegabytes: Math.max(...peaks) }),
    lost: rounds.filter(({ isAlive }) => !isAlive).length,
    rounds: rounds.length,
  };
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}

/** The figures of all cases, in their order. */
export function figuresOf(
  names: readonly string[],
  seen: readonly { readonly side: Side["name"]; readonly one: MeasuredCase }[],
): CaseFigures[] {
  return names.map((name) => {
    const of = (wanted: Side["name"]): MeasuredCase[] =>
      seen.filter(({ side, one }) => side === wanted && one.name === name).map(({ one }) => one);
    const before = of("before");
    return { name, ...(before.length > 0 ? { before: excessOf(before) } : {}), after: excessOf(of("after")) };
  });
}
