import { type Memory, type SourceSpan, toClaimKey } from "../../domain/memory.ts";
import type { RelatedStep } from "../api/association-types.ts";
import type { UserState } from "../user-state/user-state.ts";

/** The strength of what is read off the words: told in one sentence, or about the same person or thing. */
const TOLD_TOGETHER = 0.5;
const SAME_THING = 0.4;
/** What more memories than this are about says nothing about any two of them. */
const MAX_ABOUT_ONE_THING = 12;
/** A sentence, or a list, of more memories than this is a text of its own. */
const MAX_TOLD_TOGETHER = 12;

/** The memories that share a source message, or a person or thing. */
interface SharedGround {
  readonly byMessage: ReadonlyMap<string, readonly Memory[]>;
  readonly byThing: ReadonlyMap<string, readonly Memory[]>;
}

/**
 * Finds associations that are stored nowhere: memories that were told in one sentence with another, or are about the
 * same person or thing. They need no write, and end with their memories.
 */
export function createInference(
  state: Pick<UserState, "memories" | "messages">,
): (memory: Memory) => readonly RelatedStep[] {
  const ground = collectSharedGround(state);
  return (memory) => {
    const steps = new Map<string, RelatedStep>();
    for (const { id } of findAboutSame(state, ground, memory))
      steps.set(id, toInferredStep(memory.id, id, SAME_THING, "about the same"));
    for (const { id } of findToldTogether(state, ground, memory))
      steps.set(id, toInferredStep(memory.id, id, TOLD_TOGETHER, "told together"));
    return [...steps.values()];
  };
}

function collectSharedGround(state: Pick<UserState, "memories" | "messages">): SharedGround {
  const byMessage = new Map<string, Memory[]>();
  const byThing = new Map<string, Memory[]>();
  for (const memory of state.memories.values()) {
    if (memory.quarantined) continue;
    const messages = new Set(memory.sources.map(({ message }) => message));
    for (const message of messages) addTo(byMessage, message, memory);
    if (memory.status === "current")
      for (const thing of listThings(state, memory)) addTo(byThing, thing, memory);
  }
  return { byMessage, byThing };
}

function addTo(index: Map<string, Memory[]>, key: string, memory: Memory): void {
  const known = index.get(key);
  if (known) known.push(memory);
  else index.set(key, [memory]);
}

function findAboutSame(
  state: Pick<UserState, "messages">,
  { byThing }: SharedGround,
  memory: Memory,
): Memory[] {
  return listThings(state, memory)
    .map((thing) => byThing.get(thing) ?? [])
    .filter(({ length }) => length <= MAX_ABOUT_ONE_THING)
    .flatMap((others) => others.filter(({ id }) => id !== memory.id));
}

function findToldTogether(
  { messages }: Pick<UserState, "messages">,
  { byMessage }: SharedGround,
  memory: Memory,
): Memory[] {
  return memory.sources.flatMap((source) => {
    const content = messages.get(source.message)?.content ?? "";
    const others = (byMessage.get(source.message) ?? []).filter(
      ({ id, sources }) => id !== memory.id && sources.some((one) => isToldTogether(content, source, one)),
    );
    return others.length < MAX_TOLD_TOGETHER ? others : [];
  });
}

function toInferredStep(
  from: string,
  to: string,
  strength: number,
  inferred: NonNullable<RelatedStep["inferred"]>,
): RelatedStep {
  return { from, type: "related_to", to, strength, inferred };
}

/** Whether two quotes are in one sentence of a message. */
function isToldTogether(content: string, one: SourceSpan, other: SourceSpan): boolean {
  if (one.message !== other.message) return false;
  const [first, second] = one.start <= other.start ? [one, other] : [other, one];
  return first.end >= second.start || !/[.!?;\n]/.test(content.slice(first.end, second.start));
}

/**
 * Whom and what a memory is about, besides its speaker: its value, and a subject with a name or a role. All that people
 * tell about themselves would be about one person.
 */
function listThings({ messages }: Pick<UserState, "messages">, { claim, sources }: Memory): string[] {
  if (!claim) return [];
  const subject = claim.subject.toLowerCase();
  const isSpeaker =
    subject === "user" ||
    sources.some(({ message }) => messages.get(message)?.name?.toLowerCase() === subject);
  const value = toValueKey(claim.value);
  return [...(isSpeaker ? [] : [subject]), ...(value === undefined ? [] : [value])];
}

function toValueKey(value: string): string | undefined {
  const [, , key = ""] = JSON.parse(toClaimKey({ subject: "", relation: "", value })) as string[];
  return key.length < 3 ? undefined : key.toLowerCase();
}
