import type { Memory } from "../../domain/memory.ts";
import { analyse, stem, words } from "../../domain/words.ts";
import type { Ports } from "../ports.ts";
import { isTelling } from "../tombstones.ts";
import type { UserState } from "../user-state.ts";

/** What somebody asks to forget, in a form that sentences and memories can be held against. */
export interface About {
  /** The stems that a sentence must all hold to be about it. Never empty. */
  readonly terms: readonly string[];
  /** "my salary", "what car I drive": something of the user's. Else it is a name or a thing by itself. */
  readonly isOwn: boolean;
  /** The words as they stand, lower case: a name to take out of sentences that stay. */
  readonly name: readonly string[];
}

const EPOCH = "1970-01-01T00:00:00.000Z";

/** Words with which people speak of remembering; they say nothing about what is to be forgotten. */
export const SPEAKING: ReadonlySet<string> = new Set(
  analyse(
    "tell told mention mentioned mentioning say said saying know knew talk talked speak spoke ever everything anything " +
      "thing things stuff remember remembered information info details facts please that's regarding concerning related " +
      "entry entries memory memories note notes message messages conversation",
  ),
);
const OWN =
  /^(?:(?:what|which|where|who|whom|when|how|that|if|whether)\b.*\b(?:i|i'm|we|my|our)\b|(?:my|our|i|we)\b)/i;
const LEADING =
  /^(?:(?:please|the fact|ever|that|about|anything|everything|all|what)\s+)*(?:(?:i|we)(?:'ve| have| had)?\s+(?:ever\s+)?(?:mentioned|told you|said|talked|spoke)\s*(?:about|of|to you about)?\s*)?(?:that\s+|about\s+|of\s+)?/i;

/** Nothing where the words name nothing ("that", "it"). */
export function aboutOf(phrase: string): About | undefined {
  const plain = phrase.trim().replace(/[.!?]+$/, "");
  const bare = plain.replace(LEADING, "").trim() || plain;
  const terms = [...new Set(analyse(bare))].filter((term) => !SPEAKING.has(term));
  if (terms.length === 0) return undefined;
  const isOwn = OWN.test(bare) || OWN.test(plain.replace(/^(?:about|that)\s+/i, ""));
  return { terms, isOwn, name: isOwn ? [] : words(bare) };
}

/** The stems of a text, stop words and all. */
export function stemsOf(text: string): Set<string> {
  return new Set([...words(text).map(stem), ...analyse(text)]);
}

/** The memories that are about it, and those that hang on them. */
export function memoriesAbout(
  ports: Pick<Ports, "questions">,
  state: UserState,
  phrase: string,
  about: About,
): Set<Memory> {
  const found = new Set<Memory>();
  for (const memory of state.memories.values()) {
    const stems = stemsOf(
      [memory.text, memory.claim?.subject, memory.claim?.value, memory.claim?.qualifier].join(" "),
    );
    if (about.terms.every((term) => stems.has(term))) found.add(memory);
  }
  const named = [...found];
  if (about.isOwn) for (const memory of asked(ports, state, phrase)) found.add(memory);
  for (const memory of named) for (const other of hangingOn(state, memory)) found.add(other);
  return found;
}

/** "what car I drive" asks what an answer would rest on. */
function asked(ports: Pick<Ports, "questions">, state: UserState, phrase: string): Memory[] {
  const known = [...state.memories.values()];
  const words = phrase.trim().replace(/[.!?]+$/, "");
  // Relative days in what is to be forgotten count from the last thing said.
  const at = [...state.messages.values()].at(-1)?.at ?? EPOCH;
  const question = /^(?:my|our)\b/i.test(words) ? `What is ${words}?` : `${words}?`;
  const read = ports.questions.read(question, { at, known });
  const subject = read.subject?.toLowerCase();
  if (!subject || (subject === "user" && read.relations.length === 0)) return [];
  return known.filter(({ claim }) => {
    if (claim?.subject.toLowerCase() !== subject) return false;
    // "that I owe my brother money": of all that is owed, what is owed to him.
    const value =
      read.asks === "yes_no" && read.value ? stemsOf(`${claim.value} ${claim.qualifier ?? ""}`) : undefined;
    if (value && ![...stemsOf(read.value ?? "")].some((one) => value.has(one))) return false;
    return read.relations.length === 0 || read.relations.includes(claim.relation);
  });
}

/** What is said of the one who bears a name, and of the thing that a telling value names. */
function hangingOn(state: UserState, memory: Memory): Memory[] {
  const { claim } = memory;
  if (!claim) return [];
  const isNaming = claim.relation === "be called";
  const value = claim.value.toLowerCase();
  return [...state.memories.values()].filter((other) => {
    const subject = other.claim?.subject.toLowerCase();
    if (!subject) return false;
    if (
      isNaming &&
      (subject === claim.subject.toLowerCase() || subject.startsWith(`${claim.subject.toLowerCase()}/`))
    ) {
      return true;
    }
    return isTelling(claim.value) && subject.split("/").includes(value);
  });
}
