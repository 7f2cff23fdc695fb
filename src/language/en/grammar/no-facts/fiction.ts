import type { Clause } from "../clauses/clauses.ts";
import type { Statement } from "../context.ts";

const WORK =
  "novel|story|tale|book|film|movie|play|show|series|episode|scene|script|screenplay|game|video game|campaign|comic|manga|poem|song|simulation|musical|opera|sketch|fanfic|roleplay|role-play";
const IN_WORK = new RegExp(`^in (?:my|the|this|that|our|a|his|her) (?:[\\p{L}-]+ ){0,2}(?:${WORK})\\b`, "iu");
const FIGURE =
  /(?:^|[/ ])(?:character|protagonist|avatar|hero|heroine|narrator|villain|alter ego|persona|paladin|wizard)$/;

/**
 * Whether a clause tells of somebody made up: "in my novel I am a pirate", "my character owns a tavern". What is one's
 * favourite character is told of oneself.
 */
export function isFiction({ clause, subject }: Statement): boolean {
  if (clause.subject && IN_WORK.test(leadOf(clause)) && isState(clause)) return true;
  return FIGURE.test(subject.path) && !/favou?rite|fave/.test(subject.path);
}

function leadOf({ tokens, lead }: Clause): string {
  return tokens
    .slice(...lead)
    .map(({ lower }) => lower)
    .join(" ");
}

/** What one is, has and does in it; "in my book I write about bees" is told of the book. */
function isState({ verb }: Clause): boolean {
  return /^(?:be|have|live|work|own|marry|rule|fight|die|love|hate|become|run|kill|get|wake up|play)$/.test(
    verb.lemma,
  );
}
