import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { EndProposal, Extractor } from "../../ports/extractor.ts";

/** So many requests wait for a yes in a process; the oldest give way. */
const MAX_HELD_SWEEPS = 1000;

const heldSweeps = new WeakMap<Extractor, Map<string, EndProposal>>();

const toSweepKey = (scope: Scope, message: string): string => `${toScopeKey(scope)} ${message}`;

/**
 * Keeps what a model would have ended beyond what is carried out unasked, for a yes of the user. It lives as long as the
 * process: after that they have to say it again.
 */
export function holdSweep(by: Extractor | undefined, scope: Scope, sweep: EndProposal): void {
  if (!by) return;
  const kept = heldSweeps.get(by) ?? new Map<string, EndProposal>();
  heldSweeps.set(by, kept);
  kept.set(toSweepKey(scope, sweep.message), sweep);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_HELD_SWEEPS) break;
    kept.delete(oldest);
  }
}

/** Drops what waits for a yes of this user, or of all users: it may hold words that were erased. */
export function dropSweeps(by: Extractor | undefined, scope?: Scope): void {
  const kept = by && heldSweeps.get(by);
  if (!kept) return;
  for (const key of [...kept.keys()]) {
    if (scope === undefined || key.startsWith(toSweepKey(scope, ""))) kept.delete(key);
  }
}

/** What a yes to a message carries out, beside what the rules read in it. */
export function getHeldSweeps(by: Extractor | undefined, scope: Scope, message: string): EndProposal[] {
  const sweep = by && heldSweeps.get(by)?.get(toSweepKey(scope, message));
  return sweep ? [sweep] : [];
}
