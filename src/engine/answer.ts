import { heldAt } from "../domain/current-memories.ts";
import type { Memory } from "../domain/memory.ts";
import { matchesFilter as passesFilter } from "../domain/metadata-filter.ts";
import type { Answer, Recall, RecallOptions } from "../domain/recall.ts";
import type { Scope } from "../domain/scope.ts";
import { maskCredentials } from "../domain/text/credentials.ts";
import { toSecondPerson, toSentence } from "../domain/text/english-forms.ts";
import { toIsoTime, toLocalTime } from "../domain/time.ts";
import { type AnswerIndex, answerIndexInSlices } from "../language/en/answers/answer-index.ts";
import { choose, withoutName } from "../language/en/answers/choose.ts";
import { bagOf, essence } from "../language/en/answers/essence.ts";
import { type Looking, look } from "../language/en/answers/look.ts";
import type { Match } from "../language/en/answers/match.ts";
import { asksForAll, overview } from "../language/en/answers/overview.ts";
import { quoteFor } from "../language/en/answers/quote.ts";
import { sayClaims, sayOne, sayPast } from "../language/en/answers/say.ts";
import { begunAnswer } from "../language/en/answers/timely/begun.ts";
import { timelyAnswer } from "../language/en/answers/timely/index.ts";
import { sayAllThen } from "../language/en/answers/timely/then.ts";
import { verbatim } from "../language/en/answers/verbatim.ts";
import { fromPreferences, fromWishes } from "../language/en/answers/wishes.ts";
import { yesOrNo } from "../language/en/answers/yes-no.ts";
import type { Question } from "../ports/language/question-reader.ts";
import { explainLastAnswer } from "./conversation/explain-last-answer.ts";
import type { Ports } from "./ports.ts";
import { recall, selectKnownAt } from "./recall/recall.ts";
import type { UserState } from "./user-state/user-state.ts";

export type AnswerPorts = Pick<
  Ports,
  "record" | "states" | "embedder" | "questions" | "clock" | "ids" | "recalls"
>;

export const UNKNOWN = "I don't know that. You haven't told me.";

/**
 * Answers a question from memory, without a model: a short sentence composed from the claims that hold, or the dated
 * quote that is about it, or that it is not known. With `asOf` it answers as things were then. It is asked in a session
 * that does not narrow what it may be answered from.
 */
export async function composeAnswer(
  ports: AnswerPorts,
  scope: Scope,
  question: string,
  options: RecallOptions,
  session: string | undefined,
): Promise<ComposedAnswer> {
  const found = await recall(ports, scope, question, options);
  const held = await ports.states.of(scope);
  const knownAt = options.knownAt === undefined ? undefined : toIsoTime(options.knownAt, "knownAt");
  // As it was known then: each memory in the version of that time.
  const state = knownAt === undefined ? held : stateThen(held, await ports.record.versions(scope), knownAt);
  const now = knownAt ?? ports.clock().toISOString();
  const asOf = options.asOf === undefined ? undefined : toIsoTime(options.asOf, "asOf");
  const index = await answerIndexInSlices(state.memories);
  const mayUse = boundsOf(scope, options);
  const zone = lastZone(state);
  const read = ports.questions.read(question, {
    at: toLocalTime(asOf ?? now, zone),
    known: known(index, mayUse),
  });
  const asked = read.measures === "ago" ? question.replace(/\bhow long ago\b/i, "when") : question;
  const holding = heldAt(state.memories.values(), now, asOf).flatMap(({ memory, holds }) =>
    holds && mayUse(memory) ? memory : [],
  );
  const isWhole = asksForAll(question);
  // What is quoted, explained or listed whole is exact as it stands.
  const exact =
    verbatim(question, found, state) ??
    (await explainLastAnswer(ports, scope, read, session)) ??
    (isWhole ? overview(holding) : undefined);
  const wishes = holding.filter(({ kind }) => kind === "instruction");
  const fromMemories = async (): Promise<Composed | undefined> =>
    fromWishes(question, wishes) ??
    (await fromClaims(ports, { question: asked, read, index, mayUse, state, now, asOf, zone })) ??
    fromPassages({ question: asked, read, found, state, index, options, dayIn: dayReader(ports) }) ??
    fromPreferences(question, found.items);
  const composed = exact ?? (isWhole ? undefined : await fromMemories());
  // An answer about the last answer does not take its place.
  if (!read.talk) {
    const asking = session === undefined ? {} : { session };
    ports.recalls?.note(scope, found.id, { kind: "answer", used: composed?.used ?? [], ...asking });
  }
  return { answer: answerOf(found, composed), isExact: exact !== undefined || isWhole };
}

const answerOf = (recall: Recall, composed: Composed | undefined): Answer =>
  composed
    ? { ...composed, text: maskCredentials(composed.text), abstained: false, recall, by: "memory" }
    : { text: UNKNOWN, used: [], abstained: true, recall, by: "memory" };

/** An answer that was composed without a model. */
export interface ComposedAnswer {
  readonly answer: Answer;
  /** Whether no model could say it better: it quotes, explains or lists everything. */
  readonly isExact: boolean;
}

interface Composed {
  readonly text: string;
  readonly used: readonly string[];
}

/** Whether the caller's bounds let a memory through. */
function boundsOf(scope: Scope, options: RecallOptions): (memory: Memory) => boolean {
  const session = options.session ?? scope.session;
  const { kinds, types, where } = options;
  if (types && !types.includes("memory")) return () => false;
  return (memory) =>
    (session === undefined || options.session === undefined || memory.session === session) &&
    (kinds === undefined || kinds.includes(memory.kind)) &&
    (where === undefined || passesFilter(where, memory.metadata));
}

function stateThen(state: UserState, versions: readonly Memory[], knownAt: string): UserState {
  return { ...state, memories: selectKnownAt(versions, knownAt) };
}

/** Of the newest so many turns it is looked for. */
const LOOKED_AT = 50;

/** The zone of what the user said last: "yesterday" in a question is theirs. */
export function lastZone({ messages, searchIndex: block }: UserState): string | undefined {
  const { count, ids } = block.turns;
  for (let turn = count - 1; turn >= Math.max(0, count - LOOKED_AT); turn -= 1) {
    const message = messages.get(ids.at(turn) ?? "");
    if (message?.role === "user") return message.zone;
  }
  return undefined;
}

/** What a question can name: who is called what, and one memory of each subject. */
function known(index: AnswerIndex, mayUse: (memory: Memory) => boolean): Memory[] {
  const isUsed = (memory: Memory): boolean => memory.status !== "retracted" && mayUse(memory);
  return [...index.slots.values()].flatMap((relations) => {
    const namings = [...(relations.get("be called") ?? [])].filter(isUsed);
    const [one] = namings.filter(({ status }) => status === "current");
    return one ? namings : [...namings, ...oneOf(relations, isUsed)];
  });
}

/** One memory of a subject, a current one where there is one. */
function oneOf(
  relations: ReadonlyMap<string, ReadonlySet<Memory>>,
  isUsed: (memory: Memory) => boolean,
): Memory[] {
  let found: Memory | undefined;
  for (const memories of relations.values()) {
    for (const memory of memories) {
      if (!isUsed(memory)) continue;
      if (memory.status === "current") return [memory];
      found ??= memory;
    }
  }
  return found ? [found] : [];
}

interface Asking extends Looking {
  readonly question: string;
  readonly read: Question;
  readonly zone: string | undefined;
}

async function fromClaims(ports: AnswerPorts, asking: Asking): Promise<Composed | undefined> {
  const { question, read, now, asOf } = asking;
  const timely = await timelyAnswer({
    text: question,
    read,
    looking: asking,
    all: [...asking.state.memories.values()].filter(asking.mayUse),
    reread: (text) =>
      ports.questions.read(text, {
        at: toLocalTime(asOf ?? now, asking.zone),
        known: known(asking.index, asking.mayUse),
      }),
    look: (text, wanted, span) => look(asking, text, wanted, span),
    choose: (wanted, found) => choose(ports.embedder, wanted, found),
  });
  if (timely === "unknown") return undefined;
  if (timely) return timely;
  const { asked, held, found } = look(asking, question, read);
  if (read.asks === "yes_no") return yesOrNo(asked, found, held);
  const chosen = await choose(ports.embedder, read, found);
  if (chosen.length === 0) return read.asks === "when" ? begunAnswer(asking, read, question) : undefined;
  if (asOf === undefined || read.tense !== "past") return compose(chosen, read, question);
  const memories = chosen.map(({ memory }) => memory);
  return { text: sayAllThen(memories, read, question, now), used: memories.map(({ id }) => id) };
}

function compose(chosen: readonly Match[], read: Question, asked: string): Composed {
  const [first] = chosen;
  const used = chosen.map(({ memory }) => memory.id);
  if (!first) return { text: UNKNOWN, used: [] };
  if (!first.holds)
    return { text: sayPast(ofOneRelation(chosen, first).flatMap(({ memory }) => memory.claim ?? [])), used };
  if (chosen.length === 1)
    return { text: informing(sayOne(first.memory, read, asked), first.memory, asked), used };
  return { text: sayAll(chosen, read, asked), used };
}

/** "What did I move to Rotterdam for?": where the short answer says only what was asked with, the whole memory. */
function informing(text: string, memory: Memory, asked: string): string {
  const known = bagOf(asked);
  const tellsMore = (said: string): boolean => essence(said).some((word) => !known.has(word));
  if (tellsMore(text)) return text;
  const whole = toSentence(toSecondPerson(memory.text));
  return tellsMore(whole) ? whole : text;
}

function ofOneRelation(chosen: readonly Match[], first: Match): Match[] {
  return chosen.filter(({ memory }) => memory.claim?.relation === first.memory.claim?.relation);
}

/** One sentence for each relation, with all its values. */
function sayAll(chosen: readonly Match[], read: Question, asked: string): string {
  const groups = new Map<string, Match[]>();
  for (const match of chosen) {
    const key = JSON.stringify([
      withoutName(match.memory.claim?.subject ?? ""),
      match.memory.claim?.relation,
      match.memory.kind === "event",
    ]);
    groups.set(key, [...(groups.get(key) ?? []), match]);
  }
  const sentences = [...groups.values()].map((group) => {
    const [first] = group;
    if (!first) return "";
    const values = new Set(group.map(({ memory }) => memory.claim?.value.toLowerCase()));
    const isPlain =
      values.size > 1 &&
      first.memory.kind !== "event" &&
      first.memory.kind !== "instruction" &&
      first.memory.kind !== "commitment";
    if (isPlain)
      return sayClaims(
        group.flatMap(({ memory }) => memory.claim ?? []),
        "",
      );
    return group
      .map(({ memory }) =>
        group.length === 1 ? sayOne(memory, read, asked) : toSentence(toSecondPerson(memory.text)),
      )
      .join(" ");
  });
  return sentences.join(" ");
}

/** Words read as a question give the span of time that they name; a single day of it is a date. */
function dayReader({ questions }: AnswerPorts): (words: string, at: string) => string | undefined {
  return (words, at) => {
    const { from, to } = questions.read(words, { at, known: [] });
    if (from === undefined || to === undefined) return undefined;
    return Date.parse(to) - Date.parse(from) === 86_400_000 ? from.slice(0, 10) : undefined;
  };
}

function fromPassages(input: {
  question: string;
  read: Question;
  found: Recall;
  state: UserState;
  index: AnswerIndex;
  dayIn: (words: string, at: string) => string | undefined;
  options: RecallOptions;
}): Composed | undefined {
  const { question, read, found, state, index, options } = input;
  const asOf = options.asOf === undefined ? undefined : toIsoTime(options.asOf, "asOf");
  const items = asOf === undefined ? found.items : found.items.filter(({ at }) => at <= asOf);
  const quoted = quoteFor({
    text: question,
    question: read,
    items,
    state,
    index,
    dayIn: input.dayIn,
    past: read.past === true || asOf !== undefined,
  });
  return quoted && { text: quoted.text, used: [quoted.id] };
}
