import { matchesFilter as passesFilter } from "../../domain/filters/metadata-filter.ts";
import { compileTextFilter, type TextMatcher } from "../../domain/filters/text-filter.ts";
import { expandKinds, type Memory } from "../../domain/memory.ts";
import type { Answer, Item, Recall, RecallOptions } from "../../domain/recall.ts";
import { isOfAgent, type Scope } from "../../domain/scope.ts";
import { maskCredentials } from "../../domain/text/credentials.ts";
import { toIsoTime } from "../../domain/time.ts";
import type { ComposedReply } from "../../ports/language/answerer.ts";
import type { Ports } from "../ports.ts";
import { toQuotableText } from "../prompt-block.ts";
import { addShared, recallFor, selectKnownAt } from "../recall/recall.ts";
import { toOwnerName } from "../sharing/shared-items.ts";
import type { UserState } from "../user-state/user-state.ts";
import { explainLastAnswer } from "./explain-last-answer.ts";

export type AnswerPorts = Pick<
  Ports,
  | "store"
  | "states"
  | "embedder"
  | "questions"
  | "answerer"
  | "clock"
  | "ids"
  | "recalls"
  | "promptGuard"
  | "vocabulary"
  | "replies"
  | "meter"
>;

/**
 * Answers a question from memory, without a model. The answer is a short sentence composed from current claims, or a dated
 * quote, or that it is not known. With `asOf`, it describes that time. The session of the question does not limit what the
 * answer may use.
 */
export async function composeAnswer(
  ports: AnswerPorts,
  scope: Scope,
  question: string,
  options: RecallOptions,
  session: string | undefined,
): Promise<ComposedAnswer> {
  const { recall: found, shared } = await recallFor(ports, scope, question, options);
  const held = stateOfAgent(await ports.states.of(scope), scope);
  const knownAt = options.knownAt === undefined ? undefined : toIsoTime(options.knownAt, "knownAt");
  // As it was known then: each memory in the version of that time.
  const state =
    knownAt === undefined
      ? held
      : stateOfAgent(stateThen(held, await ports.store.versions(scope), knownAt), scope);
  const now = knownAt ?? ports.clock().toISOString();
  const asOf = options.asOf === undefined ? undefined : toIsoTime(options.asOf, "asOf");
  const reply = await ports.answerer.compose({
    question,
    user: JSON.stringify([scope.project, scope.user]),
    found,
    // Without a revision: an index of the whole memory is kept under its number.
    content: scope.agent === undefined ? state : { messages: state.messages, memories: state.memories },
    mayUse: boundsOf(scope, options, options.whereText && (await compileTextFilter(options.whereText))),
    isUnbounded: BOUNDS.every((option) => options[option] === undefined),
    now,
    asOf,
    zone: lastZone(state),
    toQuotableText: (content, passage, sentence) =>
      toQuotableText(ports.promptGuard, content, passage, sentence),
    explain: (read) => explainLastAnswer(ports, scope, read, session),
  });
  // An answer about the last answer does not take its place.
  if (!reply.isAboutAnswer) {
    const asking = session === undefined ? {} : { session };
    ports.recalls?.note(scope, found.id, { kind: "answer", used: reply.answer?.used ?? [], ...asking });
  }
  if (reply.isUnread) ports.meter?.count("memory_answers_unread_total");
  const own = answerOf(found, reply, ports.replies);
  if (shared.length === 0) return { answer: own, isExact: reply.isExact };
  const all = addShared(ports, found, shared, options);
  // What others share is searched only if the user's own memory has no sure answer.
  if (!own.abstained || reply.isExact) return { answer: { ...own, recall: all }, isExact: reply.isExact };
  return {
    answer: answerFromShared(ports, question, { own, shared, recall: all }),
    isExact: false,
  };
}

function answerOf(
  recall: Recall,
  { answer, isSure, isUnread }: ComposedReply,
  { unknown, unread }: Ports["replies"],
): Answer {
  const trouble = isUnread ? { trouble: "busy" as const } : {};
  const rests = { recall, by: "memory" as const, ...trouble };
  return answer
    ? { text: maskCredentials(answer.text), used: answer.used, abstained: !isSure, ...rests }
    : { text: isUnread ? unread : unknown, used: [], abstained: true, ...rests };
}

/** An answer that was composed without a model. */
export interface ComposedAnswer {
  readonly answer: Answer;
  /** Whether no model could say it better: it quotes, explains or lists everything. */
  readonly isExact: boolean;
}

const BOUNDS = ["session", "kinds", "types", "where", "whereText", "minScore", "asOf"] as const;

/** Whether the caller's bounds let a memory through. */
function boundsOf(
  scope: Scope,
  options: RecallOptions,
  hasText: TextMatcher = () => true,
): (memory: Memory) => boolean {
  const session = options.session ?? scope.session;
  const { kinds, types, where } = options;
  if (types && !types.includes("memory")) return () => false;
  const kindSet = kinds && expandKinds(kinds);
  return (memory) =>
    isOfAgent(scope, memory) &&
    (session === undefined || options.session === undefined || memory.session === session) &&
    (kindSet === undefined || kindSet.has(memory.kind)) &&
    (where === undefined || passesFilter(where, memory.metadata)) &&
    hasText(memory.text);
}

/** What the agent of a scope may answer from; everything, without an agent. */
function stateOfAgent(state: UserState, scope: Scope): UserState {
  if (scope.agent === undefined) return state;
  const pick = <Held extends { readonly agent?: string }>(
    held: ReadonlyMap<string, Held>,
  ): Map<string, Held> => new Map([...held].filter(([, one]) => isOfAgent(scope, one)));
  return {
    ...state,
    messages: pick(state.messages),
    memories: pick(state.memories),
    current: pick(state.current),
  };
}

function stateThen(state: UserState, versions: readonly Memory[], knownAt: string): UserState {
  const messages = new Map([...state.messages].filter(([, { storedAt }]) => storedAt <= knownAt));
  return { ...state, messages, memories: selectKnownAt(versions, knownAt) };
}

/** The number of newest turns to search. */
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

/** Items of about this share of the best one's score are quoted with it. */
const NEARLY_BEST = 0.8;
const MAX_QUOTED = 3;

/**
 * An answer from what other users share, where the user's own memory has no sure one: it quotes the best items and names
 * whose they are. It is not sure of a question about the user, because no one else's memory is about them.
 */
function answerFromShared(
  { replies, vocabulary }: Pick<AnswerPorts, "replies" | "vocabulary">,
  question: string,
  {
    own,
    shared,
    recall,
  }: { readonly own: Answer; readonly shared: readonly Item[]; readonly recall: Recall },
): Answer {
  const [best] = shared;
  if (!best) return own;
  const quoted = shared
    .filter(({ owner, score }) => owner === best.owner && score >= NEARLY_BEST * best.score)
    .slice(0, MAX_QUOTED);
  const texts = quoted.map(({ text }) => maskCredentials(text));
  const said = replies.quoteShared(toOwnerName(best.owner ?? ""), texts);
  const isAboutUser = vocabulary.phrases.mentionsSelf(question);
  // A doubtful quote of the user's own stays in front.
  const text = own.used.length > 0 || isAboutUser ? `${own.text} ${said}` : said;
  const used = [...own.used, ...quoted.map(({ id }) => id)];
  return { ...own, text, used, abstained: isAboutUser || own.used.length > 0, recall };
}
