import { matchesFilter } from "../../domain/filters/metadata-filter.ts";
import { compileTextFilter } from "../../domain/filters/text-filter.ts";
import { checkName } from "../../domain/limits.ts";
import { selectMemoriesAt } from "../../domain/memories/current-memories.ts";
import { expandKinds, KIND_NAMES, type Memory } from "../../domain/memory.ts";
import { ORIGINS } from "../../domain/message.ts";
import { toExactKey } from "../../domain/search/search-terms.ts";
import { toIsoTime } from "../../domain/time.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import { invalid } from "../../errors.ts";
import type { ListOptions } from "../api/listing-types.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Number of memories between two yields while their words are read, which takes longer than a look at their fields. */
const MATCH_SLICE = 50;

export type ListState = Pick<UserState, "memories" | "messages">;
export type ListFilter = (memory: Memory, state: ListState) => boolean;

/** The same state with the memories alone whose words pass: their text, and their topics. */
export async function selectByWords(
  { vocabulary }: Pick<Ports, "vocabulary">,
  state: ListState,
  { whereText, topic }: Pick<ListOptions, "whereText" | "topic">,
): Promise<ListState> {
  if (whereText === undefined && topic === undefined) return state;
  const wanted = topic === undefined ? undefined : checkName(topic, "topic").toLowerCase();
  const matches = whereText === undefined ? () => true : await compileTextFilter(whereText);
  const memories = new Map<string, Memory>();
  await forEachInSlices(
    state.memories.values(),
    (memory) => {
      if (!matches(memory.text)) return;
      if (wanted === undefined || vocabulary.listTopics(memory).includes(wanted))
        memories.set(memory.id, memory);
    },
    MATCH_SLICE,
  );
  return { messages: state.messages, memories };
}

/** Checks the filters of a list, and gives the function that applies them. Throws `invalid_input` for a wrong one. */
export function createListFilter(options: ListOptions, now: string): ListFilter {
  const { kind, quarantined, review, where, origin, session, sensitive } = options;
  if (review !== undefined && review !== true) throw invalid("review can only be true.");
  if (kind !== undefined && !KIND_NAMES.includes(kind))
    throw invalid(`kind must be one of ${KIND_NAMES.join(", ")}.`);
  const kinds = kind === undefined ? undefined : expandKinds([kind]);
  if (origin !== undefined && !ORIGINS.includes(origin))
    throw invalid(`origin must be one of ${ORIGINS.join(", ")}.`);
  if (sensitive !== undefined && typeof sensitive !== "boolean")
    throw invalid("sensitive must be true or false.");
  const [from, to] = [toBound(options.from, "from"), toBound(options.to, "to")];
  const named = session === undefined ? undefined : checkName(session, "session");
  const isAbout = createSubjectFilter(options.subject);
  const isThen = createTimeFilter(options, now);
  return (memory, state) =>
    isThen(memory) &&
    (quarantined === undefined || (memory.quarantined ?? false) === quarantined) &&
    (sensitive === undefined || (memory.sensitive ?? false) === sensitive) &&
    (review === undefined || memory.review !== undefined) &&
    (kinds === undefined || kinds.has(memory.kind)) &&
    (origin === undefined || memory.origin === origin) &&
    (from === undefined || memory.at >= from) &&
    (to === undefined || memory.at < to) &&
    isAbout(memory) &&
    (named === undefined || isOfSession(state, memory, named)) &&
    (!where || matchesFilter(where, memory.metadata));
}

function createTimeFilter({ status, asOf: asked }: ListOptions, now: string): (memory: Memory) => boolean {
  const asOf = toBound(asked, "asOf");
  if (asOf !== undefined && status !== undefined) throw invalid("set status or asOf, not both.");
  const wanted = status ?? "current";
  if (!["current", "superseded", "retracted", "all"].includes(wanted)) {
    throw invalid("status must be one of current, superseded, retracted, all.");
  }
  if (asOf !== undefined) return (memory) => selectMemoriesAt([memory], now, asOf)[0]?.holds === true;
  return (memory) => (wanted === "all" || memory.status === wanted) && !isExpiredAt(memory, now);
}

function createSubjectFilter(subject: string | undefined): (memory: Memory) => boolean {
  if (subject === undefined) return () => true;
  const wanted = toSubjectKey(checkName(subject, "subject"));
  // All that a user has is below the user, so the user alone is meant.
  if (wanted === OWNER) return ({ claim }) => claim !== undefined && toSubjectKey(claim.subject) === OWNER;
  return (memory) => listSubjectKeys(memory).includes(wanted);
}

/** The subject of claims about the memory's owner. */
const OWNER = "user";

/** The key of a person or thing: "user/sister" for a role, the words without case and articles for a name. */
export function toSubjectKey(name: string): string {
  const plain = name.trim().toLowerCase();
  return plain.includes("/") || plain === OWNER ? plain : toExactKey(name).toLowerCase();
}

/** The keys of whom and what a claim is about: its subject, whose that is, and its value. Its owner is in none. */
export function listSubjectKeys({ claim }: Pick<Memory, "claim">): string[] {
  if (!claim) return [];
  const names = [...listSubjectNames(claim.subject), claim.value];
  return [...new Set(names.map(toSubjectKey))].filter((key) => key !== "" && key !== OWNER);
}

/** A subject and those whose it is: "user/sister/cat" is also about "user/sister". */
export function listSubjectNames(subject: string): string[] {
  const parts = subject.split("/");
  return parts.map((_part, i) => parts.slice(0, i + 1).join("/"));
}

export function isExpiredAt({ expiresAt }: Memory, now: string): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function toBound(time: Date | string | undefined, name: string): string | undefined {
  return time === undefined ? undefined : toIsoTime(time, name);
}

function isOfSession({ messages }: ListState, memory: Memory, session: string): boolean {
  return (
    memory.session === session ||
    memory.sources.some(({ message }) => messages.get(message)?.session === session)
  );
}
