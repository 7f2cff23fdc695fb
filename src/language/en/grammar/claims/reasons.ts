import type { Clause } from "../clauses/clauses.ts";

const CAUSES = /^(?:because|cause|cuz|coz|since|as)$/;
/** Verbs of what lasts. */
const LASTS =
  /^(?:be|have|own|live|work|love|like|hate|enjoy|prefer|study|teach|play|drive|speak|believe|need|use|eat|drink|take|smoke|suffer|keep|run|wear|weigh)$/;

/** "because I am a vegetarian", "as I live by a canal": a reason that is told of oneself, and lasts. */
export function isOwnReason({ opener, subject, verb, tokens }: Clause): boolean {
  if (!CAUSES.test(opener ?? "") || !subject || verb.open || verb.tense !== "present" || verb.perfect)
    return false;
  const first = tokens[subject[0]]?.lower ?? "";
  const isOwn = subject[1] - subject[0] === 1 ? /^(?:i|we)$/.test(first) : /^(?:my|our)$/.test(first);
  if (!isOwn || verb.modal !== undefined) return false;
  // "because I want to be a potter", "since I'm studying to be a vet": an aim lasts as well.
  const aim = verb.chain[0]?.verb ?? verb.lemma;
  if (AIMS.test(aim)) return true;
  return !verb.progressive && verb.chain.length === 0 && LASTS.test(verb.lemma);
}

const AIMS = /^(?:want|hope|plan|study|train|learn|love|like|hate)$/;
