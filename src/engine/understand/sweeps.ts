import { type Scope, scopeKey } from "../../domain/scope.ts";
import type { EndProposal, Extractor } from "../../ports/extractor.ts";

/** So many requests wait for a yes in a process; the oldest give way. */
const MOST = 1000;

const waiting = new WeakMap<Extractor, Map<string, EndProposal>>();

const keyOf = (scope: Scope, message: string): string => `${scopeKey(scope)} ${message}`;

/**
 * Keeps what a model would have ended beyond what is carried out unasked, for a yes of the user. It lives as long as the
 * process: after that they have to say it again.
 */
export function keepSweep(by: Extractor | undefined, scope: Scope, sweep: EndProposal): void {
  if (!by) return;
  const kept = waiting.get(by) ?? new Map<string, EndProposal>();
  waiting.set(by, kept);
  kept.set(keyOf(scope, sweep.message), sweep);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST) break;
    kept.delete(oldest);
  }
}

/** Drops what waits for a yes of this user, or of all users: it may hold words that were erased. */
export function dropSweeps(by: Extractor | undefined, scope?: Scope): void {
  const kept = by && waiting.get(by);
  if (!kept) return;
  for (const key of [...kept.keys()]) {
    if (scope === undefined || key.startsWith(keyOf(scope, ""))) kept.delete(key);
  }
}

/** What a yes to a message carries out, beside what the rules read in it. */
export function sweepOf(by: Extractor | undefined, scope: Scope, message: string): EndProposal[] {
  const sweep = by && waiting.get(by)?.get(keyOf(scope, message));
  return sweep ? [sweep] : [];
}
