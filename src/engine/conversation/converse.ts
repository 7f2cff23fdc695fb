import { INPUT_LIMITS, toStorableText } from "../../domain/limits.ts";
import { CITED_IDS_FIELD, type Message } from "../../domain/message.ts";
import type { Answer, AnsweredBy, Recall } from "../../domain/recall.ts";
import { hasUnmetRequest, type Receipt } from "../../domain/receipt.ts";
import { type Scope, toReadScope } from "../../domain/scope.ts";
import { listRedactedKinds, maskCredentials } from "../../domain/text/credentials.ts";
import { toLocalTime } from "../../domain/time.ts";
import type { LanguageModel } from "../../ports/language/language-model.ts";
import type { PhraseReader } from "../../ports/language/vocabulary.ts";
import type { Reply } from "../api/scoped-memory.ts";
import type { ConverseOptions } from "../api/writing-types.ts";
import { forget } from "../erase/forget.ts";
import { remember } from "../ingest/remember.ts";
import type { Ports } from "../ports.ts";
import { profile } from "../profile/profile.ts";
import { recall } from "../recall/recall.ts";
import type { UserState } from "../user-state/user-state.ts";
import {
  DEFAULT_TIMEOUTS,
  getReturnValue,
  hasNothingToTell,
  streamCompletion,
  streamModelAnswer,
  streamWords,
  toAnsweredBy,
} from "./answer-with-model.ts";
import { createLenientCitationReader } from "./citations.ts";
import { type ComposedAnswer, composeAnswer } from "./compose-answer.ts";
import { buildNotes, buildTalkPrompt, loadEarlierTurns } from "./prompts.ts";

/** One turn of a conversation, see `converseStream`. */
export async function converse(
  ports: Ports,
  scope: Scope,
  message: string,
  options: ConverseOptions = {},
): Promise<Reply> {
  return getReturnValue(converseStream(ports, scope, message, options));
}

/**
 * One turn of a conversation: stores the message, acts on it, and replies. The reply is yielded in parts
 * after everything is stored. A question is answered from what was known before it was asked, so that it
 * cannot answer itself.
 *
 * Without a model the reply says what was learnt, what was forgotten, or an answer, and is not stored: it
 * would only be an echo. With a model, the model replies, and its reply is stored as the assistant's turn.
 * The memory itself still reports changes to the memory.
 */
export async function* converseStream(
  ports: Ports,
  scope: Scope,
  said: string,
  options: ConverseOptions = {},
): AsyncGenerator<string, Reply, void> {
  const message = typeof said === "string" ? toStorableText(said).text : said;
  const asks = ports.questions.isQuestion(message) || ports.answerer.asksForAll(message);
  // The reply may be stored, and nothing that others share is ever copied.
  const bounds = { shared: false, ...(options.signal ? { signal: options.signal } : {}) };
  const session = options.session ?? scope.session;
  const reading = toReadScope(scope, ports.agents);
  const before = asks ? await composeAnswer(ports, reading, message, bounds, session) : undefined;
  const recalled = before?.answer.recall ?? (await recallForModel(ports, reading, message, bounds));
  const { messageId: id, ...writing } = options;
  const given = id === undefined ? message : { id, role: "user" as const, content: message };
  const receipt = await remember(ports, scope, given, writing);
  const [asking] = receipt.messages;
  if (before && asking !== undefined)
    ports.recalls?.note(scope, before.answer.recall.id, { message: asking });
  const { messages } = await ports.states.of(scope);
  const turn = messages.get(asking ?? "")?.turn ?? 0;
  const spoken = yield* streamReply(ports, { scope, session, message, options, before, recalled, receipt });
  return { receipt, turn, ...spoken };
}

/** A model gets the relevant memories for any message. */
async function recallForModel(
  ports: Ports,
  scope: Scope,
  message: string,
  options: { signal?: AbortSignal; shared: boolean },
): Promise<Recall | undefined> {
  if (!ports.model) return undefined;
  const context = await ports.contexts?.build(scope, message, options);
  // The items as a model is shown them: what holds, and everything that bears on the message.
  return context ? { ...context.recall, items: context.items } : recall(ports, scope, message, options);
}

/** The message, and its result. */
interface ConversationTurn {
  readonly scope: Scope;
  readonly session: string | undefined;
  readonly message: string;
  readonly options: ConverseOptions;
  readonly before: ComposedAnswer | undefined;
  readonly recalled: Recall | undefined;
  readonly receipt: Receipt;
}

interface SpokenReply extends AnsweredBy {
  readonly text: string;
  readonly answer?: Answer;
}

async function* streamReply(ports: Ports, turn: ConversationTurn): AsyncGenerator<string, SpokenReply, void> {
  const { before, receipt, message, options } = turn;
  // A model would not know that nothing was erased, and might say that it was.
  const notice = hasUnmetRequest(receipt) ? `${ports.replies.unmetRequest} ` : "";
  const spoken = yield* withNotice(notice, streamReplyByModel(ports, turn));
  if (spoken?.by === "model") return { ...spoken, text: notice + spoken.text };
  const text = ports.replies.writeReply({
    receipt,
    said: message,
    ...(before ? { answer: before.answer } : {}),
  });
  yield* streamWords(text, options.signal);
  const { trouble } = before?.answer ?? {};
  const isBusy = trouble === undefined ? {} : { trouble };
  return { text, ...(before ? { answer: before.answer } : {}), by: "memory", ...isBusy, ...spoken };
}

/** A reply with a notice before its first part; without a part there is no notice. */
async function* withNotice<Result>(
  notice: string,
  parts: AsyncGenerator<string, Result, void>,
): AsyncGenerator<string, Result, void> {
  let isFirst = notice !== "";
  try {
    for (;;) {
      const next = await parts.next();
      if (next.done) return next.value;
      if (isFirst) yield notice;
      isFirst = false;
      yield next.value;
    }
  } finally {
    await parts.return(undefined as never);
  }
}

/**
 * The model's reply to a stored turn, in parts. Empty if the memory itself has to reply: on a request to
 * forget, a pending confirmation, a quote, or a question it knows nothing about. Notes a model that gives no
 * valid reply.
 */
async function* streamReplyByModel(
  ports: Ports,
  turn: ConversationTurn,
): AsyncGenerator<string, SpokenReply | (AnsweredBy & { readonly by: "memory" }) | undefined, void> {
  const { model } = ports;
  const { scope, receipt, options } = turn;
  const [asking = ""] = receipt.messages;
  const state = await ports.states.of(scope);
  const said = state.messages.get(asking);
  if (!model || !said || said.content.trim() === "" || isForMemory(turn, said)) return undefined;
  const storedReply = state.messages.get(createReplyId(ports, asking));
  if (storedReply) {
    yield* streamWords(storedReply.content, options.signal);
    return { text: storedReply.content, by: "model" };
  }
  const reply = yield* isOfMemory(turn, ports.vocabulary.phrases)
    ? streamAnswerReply(ports, model, turn, said)
    : streamTalkReply(ports, model, turn, said);
  if (!reply || !("text" in reply)) return reply;
  // A reply that was shown counts even if it cannot be stored.
  await storeReply(ports, turn, said, reply).catch(() => ports.meter?.count("memory_replies_lost_total"));
  const { used: _used, ...spoken } = reply;
  return spoken;
}

/** Whether the memory itself replies: to report its changes, or to quote. */
function isForMemory({ receipt, before }: ConversationTurn, { content }: Message): boolean {
  return (
    receipt.erasures !== undefined ||
    receipt.waiting !== undefined ||
    before?.isExact === true ||
    receipt.memories.some(({ action }) => action === "quarantined") ||
    listRedactedKinds(content).length > 0
  );
}

/**
 * Whether the message asks for something said before. A question without an answer in memory counts only if
 * no one else could answer it.
 */
function isOfMemory({ before, message }: ConversationTurn, phrases: PhraseReader): boolean {
  const { isAdvice, isWorldly } = phrases.readDemand(message);
  if (!before || isAdvice) return false;
  return !before.answer.abstained || (phrases.mentionsSelf(message) && !isWorldly);
}

type ModelTurnReply = SpokenReply & { readonly used: readonly string[] };
type ModelTurnFailure = AnsweredBy & { readonly by: "memory" };

/**
 * Answers a question about earlier statements, from the notes alone. If nothing is known, the model is not
 * asked.
 */
async function* streamAnswerReply(
  ports: Ports,
  model: LanguageModel,
  { scope, session, before, options }: ConversationTurn,
  said: Message,
): AsyncGenerator<string, ModelTurnReply | ModelTurnFailure | undefined, void> {
  if (!before || hasNothingToTell(before.answer)) return undefined;
  const earlier = await loadEarlierTurns(ports, scope, await ports.states.of(scope), session, said);
  const signal = options.signal ? { signal: options.signal } : {};
  const asking = { ports, model, scope, session, question: said.content, options: signal, earlier };
  const answer = yield* streamModelAnswer(asking, before.answer);
  if (!("text" in answer)) return answer;
  const { text, used, recall: _recall, abstained: _abstained, ...by } = answer;
  return { text, answer, used, ...by };
}

/** Tokens of the user's profile, on any topic: what they eat matters for dinner. */
const MAX_PROFILE_TOKENS = 500;

/** Any other message: the model's reply, with what is known about the user. */
async function* streamTalkReply(
  ports: Ports,
  model: LanguageModel,
  turn: ConversationTurn,
  said: Message,
): AsyncGenerator<string, ModelTurnReply | ModelTurnFailure | undefined, void> {
  const { scope, session, before, recalled, options } = turn;
  if (!recalled) return undefined;
  const { sections } = await profile(ports, scope, { maxTokens: MAX_PROFILE_TOKENS });
  const state = await ports.states.of(scope);
  // The message itself is not a note.
  const isOther = (sources: readonly { readonly message: string }[]): boolean =>
    sources.length === 0 || sources.some(({ message }) => message !== said.id);
  const others = recalled.items.filter(({ sources }) => isOther(sources));
  const known = sections
    .flatMap(({ lines }) => lines.flatMap(({ memories }) => memories))
    .filter((id) => isOther(state.memories.get(id)?.sources ?? []));
  const notes = buildNotes(ports, scope, state, {
    recall: { ...recalled, items: others },
    used: [...known, ...(before?.answer.used ?? [])],
    session,
  });
  const reader = createLenientCitationReader(notes.items.length);
  const completion = yield* streamCompletion({
    model,
    prompt: buildTalkPrompt(ports.answerer, {
      notes: notes.text,
      today: toLocalTime(ports.clock().toISOString(), said.zone),
      earlier: await loadEarlierTurns(ports, scope, state, session, said),
      text: maskCredentials(said.content),
    }),
    reader,
    scope,
    timeouts: ports.patience ?? DEFAULT_TIMEOUTS,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const by = toAnsweredBy(ports, completion);
  if (by.by === "memory") return { ...by, by: "memory" };
  const used = reader.used.flatMap((number) => notes.items[number - 1]?.id ?? []);
  const text = completion.text.trim();
  const rests = { text, used, abstained: false, recall: recalled, ...by };
  // "How do you know that?" refers to the last answer from memory.
  const asAnswer = { kind: "answer" as const, used, ...(session === undefined ? {} : { session }) };
  ports.recalls?.note(scope, recalled.id, { message: said.id, ...(used.length > 0 ? asAnswer : {}) });
  return { text, used, ...by, ...(before || used.length > 0 ? { answer: rests } : {}) };
}

/** The id of the reply to a message, so that a repeated message gets one reply. */
function createReplyId(ports: Pick<Ports, "ids">, message: string): string {
  const id = `${message}/reply`;
  return Buffer.byteLength(id) <= INPUT_LIMITS.nameBytes ? id : ports.ids();
}

/**
 * Stores the reply as the assistant's turn. Nothing is extracted from it, and it is erased together with its
 * sources. If they were erased while the model replied, it is not stored; if they were erased during storage,
 * it is erased too.
 */
async function storeReply(
  ports: Ports,
  turn: ConversationTurn,
  said: Message,
  { text, used }: ModelTurnReply,
): Promise<void> {
  const { scope, session, options } = turn;
  const rests = async (): Promise<boolean> => isStillStored(await ports.states.of(scope), said, used);
  if (!(await rests())) return;
  const id = createReplyId(ports, said.id);
  await remember(
    ports,
    scope,
    {
      id,
      role: "assistant",
      content: text,
      metadata: { [CITED_IDS_FIELD]: [said.id, ...used] },
      ...(session === undefined ? {} : { session }),
    },
    { extract: "never", ...(options.signal ? { signal: options.signal } : {}) },
  );
  if (!(await rests())) await forget(ports, scope, { ids: [id] });
}

/** Whether all sources of a reply still exist. */
function isStillStored(
  { messages, memories }: UserState,
  message: Message,
  used: readonly string[],
): boolean {
  const isHeld = (id: string): boolean =>
    memories.has(id) || messages.get(id.replace(/#\d+$/, "")) !== undefined;
  return messages.get(message.id)?.content === message.content && used.every(isHeld);
}
