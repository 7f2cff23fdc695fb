import type { TokenUsage } from "../../domain/model-usage.ts";
import type { Answer, AnsweredBy, AnswerTrouble, Item, RecallOptions } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { maskCredentials } from "../../domain/text/credentials.ts";
import { toIsoTime, toLocalTime } from "../../domain/time.ts";
import { isMemoryError } from "../../errors.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language/language-model.ts";
import type { Ports } from "../ports.ts";
import { type CitationReader, createStrictCitationReader } from "./citations.ts";
import { type AnswerPorts, composeAnswer, lastZone } from "./compose-answer.ts";
import { buildAnswerPrompt, buildNotes, loadEarlierTurns, saysUnknown } from "./prompts.ts";

type ModelAnswerPorts = AnswerPorts &
  Pick<Ports, "secret" | "model" | "meter" | "patience" | "sessions" | "contexts">;

/** A slow local model needs some seconds to read the notes. */
export const DEFAULT_TIMEOUTS: ModelTimeouts = { first: 15_000, whole: 40_000 };

/** Answers a question from memory; in the model's words if there is a model, see `answerStream`. */
export async function answer(
  ports: ModelAnswerPorts,
  scope: Scope,
  question: string,
  options: RecallOptions = {},
): Promise<Answer> {
  return getReturnValue(answerStream(ports, scope, question, options));
}

/**
 * Answers a question from memory and yields the answer in parts. A model, if there is one, words it from
 * numbered notes of the relevant memories; a sentence that cites none of them is never shown. The model is
 * not asked if nothing is known, or if the composed answer is exact. If it fails, the composed answer is
 * given instead.
 */
export async function* answerStream(
  ports: ModelAnswerPorts,
  scope: Scope,
  question: string,
  options: RecallOptions = {},
): AsyncGenerator<string, Answer, void> {
  const composed = await composeAnswer(ports, scope, question, options, scope.session);
  const { answer, isExact } = composed;
  if (isExact || !ports.model || hasNothingToTell(answer)) {
    yield* streamWords(answer.text, options.signal);
    return answer;
  }
  const { model } = ports;
  const { session } = scope;
  const earlier = options.knownAt === undefined ? await loadSessionTurns(ports, scope) : [];
  return yield* streamRewording({ ports, model, scope, session, question, options, earlier }, answer);
}

/** The last turns of the session, for context: "the second one" may refer to them. */
async function loadSessionTurns(ports: ModelAnswerPorts, scope: Scope): Promise<Prompt["turns"]> {
  const { session } = scope;
  if (session === undefined) return [];
  const state = await ports.states.of(scope);
  const next = { turn: state.searchIndex.turns.count + 1, at: ports.clock().toISOString() };
  return loadEarlierTurns(ports, scope, state, session, next);
}

/** Whether there are no notes for a model. */
export const hasNothingToTell = ({ abstained, recall }: Answer): boolean =>
  abstained && recall.items.length === 0;

/** The question for the model, the user, and the session. */
interface ModelAnswerRequest {
  readonly ports: ModelAnswerPorts;
  readonly model: LanguageModel;
  readonly scope: Scope;
  readonly session: string | undefined;
  readonly question: string;
  readonly options: RecallOptions;
  readonly earlier?: Prompt["turns"];
}

/** A composed answer in the model's words; unchanged if the model gives no valid one. */
async function* streamRewording(
  asking: ModelAnswerRequest,
  composed: Answer,
): AsyncGenerator<string, Answer, void> {
  const answer = yield* streamModelAnswer(asking, composed);
  if ("text" in answer) return answer;
  yield* streamWords(composed.text, asking.options.signal);
  return { ...composed, ...answer };
}

/** The same, but gives the reason if the model gives no valid answer. */
export async function* streamModelAnswer(
  asking: ModelAnswerRequest,
  composed: Answer,
): AsyncGenerator<string, Answer | (AnsweredBy & { readonly by: "memory" }), void> {
  const { ports, model, scope, session, question, options, earlier } = asking;
  const state = await ports.states.of(scope);
  const isOfNow = options.knownAt === undefined;
  const items = await addContextItems(asking, composed.recall.items);
  const notes = buildNotes(ports, scope, state, {
    recall: { ...composed.recall, items },
    used: isOfNow ? composed.used : [],
    session,
    ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
  });
  const prompt = buildAnswerPrompt(ports.answerer, {
    notes: notes.text,
    today: toLocalTime(ports.clock().toISOString(), lastZone(state)),
    text: maskCredentials(question),
    ...(options.asOf === undefined ? {} : { asOf: toIsoTime(options.asOf, "asOf") }),
    ...(earlier ? { earlier } : {}),
  });
  const reader = createStrictCitationReader(notes.items.length);
  const completion = yield* streamCompletion({
    model,
    prompt,
    reader,
    scope,
    timeouts: ports.patience ?? DEFAULT_TIMEOUTS,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const by = toAnsweredBy(ports, completion);
  if (by.by === "memory") return { ...by, by: "memory" };
  if (completion.isUnknown) yield* streamWords(ports.replies.unknown, options.signal);
  const used = reader.used.flatMap((number) => notes.items[number - 1]?.id ?? []);
  const shared = new Set(notes.items.flatMap((item) => (item.owner === undefined ? [] : [item.id])));
  // A receipt has nothing of what others share.
  ports.recalls?.note(scope, composed.recall.id, { used: used.filter((id) => !shared.has(id)) });
  return {
    text: completion.isUnknown ? ports.replies.unknown : completion.text,
    used,
    abstained: completion.isUnknown,
    recall: composed.recall,
    ...by,
  };
}

/** The recalled items, then whatever else bears on the question, unless the caller narrowed what may be used. */
async function addContextItems(
  { ports, scope, question, options }: ModelAnswerRequest,
  recalled: readonly Item[],
): Promise<readonly Item[]> {
  const { knownAt, kinds, types, minScore, whereText, asOf, session, where, maxTokens, signal } = options;
  const isNarrowed = [knownAt, kinds, types, minScore].some((one) => one !== undefined);
  if (isNarrowed || !ports.contexts) return recalled;
  // What others share is among the recalled items already.
  const bounds = { asOf, session, where, whereText, maxTokens, shared: false, signal };
  const given = Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
  const { items } = await ports.contexts.build(scope, question, given);
  const known = new Set(recalled.map(({ id }) => id));
  return [...recalled, ...items.filter(({ id }) => !known.has(id))];
}

/** The source of the words, and their cost. Counts it. */
export function toAnsweredBy(
  { meter }: Pick<Ports, "meter">,
  { text, isUnknown, trouble, completion }: StreamedCompletion,
): AnsweredBy {
  const by = text !== "" || isUnknown ? "model" : "memory";
  meter?.count("memory_answers_total", { by, trouble: trouble ?? "none" });
  return {
    by,
    ...(completion ? { model: completion.model, usage: completion.usage } : {}),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

/** Yields a text word by word, as a model does. */
export async function* streamWords(text: string, signal?: AbortSignal): AsyncGenerator<string, void, void> {
  for (const part of text.match(/\S+\s*/g) ?? []) {
    signal?.throwIfAborted();
    yield part;
  }
}

/** The return value of a generator, without its parts. */
export async function getReturnValue<Result>(parts: AsyncGenerator<string, Result, void>): Promise<Result> {
  let next = await parts.next();
  while (!next.done) next = await parts.next();
  return next.value;
}

interface CompletionRequest {
  readonly model: LanguageModel;
  readonly prompt: Prompt;
  readonly reader: CitationReader;
  readonly scope: Scope;
  /** Limits for the first word and for the last, in ms. */
  readonly timeouts: ModelTimeouts;
  readonly signal?: AbortSignal;
}

interface ModelTimeouts {
  readonly first: number;
  readonly whole: number;
}

/** The result of a streamed completion. */
interface StreamedCompletion {
  /** The text that was shown, in full. */
  readonly text: string;
  /** Whether the model says that the notes do not answer. */
  readonly isUnknown: boolean;
  /** Why there is no text, or only a part of it. */
  readonly trouble?: AnswerTrouble;
  readonly completion?: Completion;
}

/** Any timeout. */
const TIMEOUT_ERROR = new Error("slow");

/**
 * Asks the model and yields what can be shown of its answer as it arrives. Problems are returned, not thrown;
 * only the caller's own abort is thrown. A caller that stops reading stops the model.
 */
export async function* streamCompletion(
  hearing: CompletionRequest,
): AsyncGenerator<string, StreamedCompletion, void> {
  const { model, prompt, reader, scope, timeouts: patience } = hearing;
  const limit = new AbortController();
  let timer = setTimeout(() => limit.abort(TIMEOUT_ERROR), patience.first);
  const signal = hearing.signal ? AbortSignal.any([hearing.signal, limit.signal]) : limit.signal;
  const stream = model.stream(prompt, { scope, signal });
  let raw = "";
  let text = "";
  try {
    let next = await stream.next();
    clearTimeout(timer);
    timer = setTimeout(() => limit.abort(TIMEOUT_ERROR), patience.whole);
    while (!next.done) {
      raw += next.value;
      const visible = reader.take(next.value);
      text += visible;
      if (visible !== "") yield visible;
      next = await stream.next();
    }
    const visible = reader.end(next.value.finish === "length");
    text += visible;
    if (visible !== "") yield visible;
    return { text, isUnknown: text === "" && saysUnknown(raw), ...judgeCompletion(next.value, raw, text) };
  } catch (error) {
    hearing.signal?.throwIfAborted();
    const visible = reader.end(true);
    text += visible;
    if (visible !== "") yield visible;
    return { text, isUnknown: false, trouble: limit.signal.aborted ? "slow" : toAnswerTrouble(error) };
  } finally {
    clearTimeout(timer);
    // The consumer of a running model has stopped reading.
    limit.abort(TIMEOUT_ERROR);
    await stream.return(EMPTY_COMPLETION).catch(() => {});
  }
}

const NO_TOKENS: TokenUsage = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };
const EMPTY_COMPLETION: Completion = { text: "", finish: "stop", usage: NO_TOKENS, model: "" };

function judgeCompletion(
  completion: Completion,
  raw: string,
  text: string,
): Pick<StreamedCompletion, "completion" | "trouble"> {
  if (completion.finish === "refused" && text === "") return { completion, trouble: "refused" };
  if (completion.finish === "length") return { completion, trouble: "cut" };
  if (text !== "" || saysUnknown(raw)) return { completion };
  return { completion, trouble: raw.trim() === "" ? "empty" : "ungrounded" };
}

function toAnswerTrouble(error: unknown): AnswerTrouble {
  if (!isMemoryError(error)) return "failed";
  if (error.code === "over_quota") return "over_quota";
  return error.code === "unavailable" ? "unavailable" : "failed";
}
