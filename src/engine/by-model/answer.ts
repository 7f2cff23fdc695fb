import type { Answer, AnsweredBy, RecallOptions } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { masked } from "../../domain/secrets.ts";
import { inZone, isoTime } from "../../domain/time.ts";
import type { LanguageModel, Prompt } from "../../ports/language-model.ts";
import { type AnswerPorts, composeAnswer, lastZone, UNKNOWN } from "../answer.ts";
import type { Ports } from "../ports.ts";
import { earlierTurns } from "./earlier.ts";
import { type Heard, heard, type Patience } from "./hearing.ts";
import { strictReader } from "./marks.ts";
import { notesOf } from "./notes.ts";
import { answerPrompt } from "./prompts.ts";

export type TellingPorts = AnswerPorts & Pick<Ports, "secret" | "model" | "meter" | "patience" | "sessions">;

/** A slow model on one's own machine needs some seconds to read the notes. */
export const PATIENCE: Patience = { first: 15_000, whole: 40_000 };

/** Answers a question from memory; in the model's words where there is a model, see `answerStream`. */
export async function answer(
  ports: TellingPorts,
  scope: Scope,
  question: string,
  options: RecallOptions = {},
): Promise<Answer> {
  return lastOf(answerStream(ports, scope, question, options));
}

/**
 * Answers a question from memory, and yields the answer in parts. Where there is a model it puts the answer into words, from
 * numbered notes of what is known; a sentence that names none of them is never shown. It is not asked where nothing is
 * known, nor where the answer without it is exact; and where it fails, that answer is given in its place.
 */
export async function* answerStream(
  ports: TellingPorts,
  scope: Scope,
  question: string,
  options: RecallOptions = {},
): AsyncGenerator<string, Answer, void> {
  const composed = await composeAnswer(ports, scope, question, options, scope.session);
  const { answer, isExact } = composed;
  if (isExact || !ports.model || isEmpty(answer)) {
    yield* inWords(answer.text, options.signal);
    return answer;
  }
  const { model } = ports;
  const { session } = scope;
  const earlier = options.knownAt === undefined ? await turnsBefore(ports, scope) : [];
  return yield* reworded({ ports, model, scope, session, question, options, earlier }, answer);
}

/** What was said last in the session that a question is asked in: "the second one" may mean something there. */
async function turnsBefore(ports: TellingPorts, scope: Scope): Promise<Prompt["turns"]> {
  const { session } = scope;
  if (session === undefined) return [];
  const state = await ports.states.of(scope);
  const next = { turn: state.block.turns.count + 1, at: ports.clock().toISOString() };
  return earlierTurns(ports, scope, state, session, next);
}

/** Whether there is nothing that a model could be told. */
export const isEmpty = ({ abstained, recall }: Answer): boolean => abstained && recall.items.length === 0;

/** What a model is asked, by whom, and where. */
export interface Rewording {
  readonly ports: TellingPorts;
  readonly model: LanguageModel;
  readonly scope: Scope;
  readonly session: string | undefined;
  readonly question: string;
  readonly options: RecallOptions;
  readonly earlier?: Prompt["turns"];
}

/** A composed answer in the model's words; as it is, where the model gives none that holds. */
async function* reworded(asking: Rewording, composed: Answer): AsyncGenerator<string, Answer, void> {
  const answer = yield* rewordedByModel(asking, composed);
  if ("text" in answer) return answer;
  yield* inWords(composed.text, asking.options.signal);
  return { ...composed, ...answer };
}

/** The same; why there is none, where the model gives none that holds. */
export async function* rewordedByModel(
  asking: Rewording,
  composed: Answer,
): AsyncGenerator<string, Answer | (AnsweredBy & { readonly by: "memory" }), void> {
  const { ports, model, scope, session, question, options, earlier } = asking;
  const state = await ports.states.of(scope);
  const isOfNow = options.knownAt === undefined;
  const notes = notesOf(ports, scope, state, {
    recall: composed.recall,
    used: isOfNow ? composed.used : [],
    session,
    ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
  });
  const prompt = answerPrompt({
    notes: notes.text,
    today: inZone(ports.clock().toISOString(), lastZone(state)),
    text: masked(question),
    ...(options.asOf === undefined ? {} : { asOf: isoTime(options.asOf, "asOf") }),
    ...(earlier ? { earlier } : {}),
  });
  const reader = strictReader(notes.items.length);
  const told = yield* heard({
    model,
    prompt,
    reader,
    scope,
    patience: ports.patience ?? PATIENCE,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const by = wordedBy(ports, told);
  if (by.by === "memory") return { ...by, by: "memory" };
  if (told.isUnknown) yield* inWords(UNKNOWN, options.signal);
  const used = reader.used.flatMap((number) => notes.items[number - 1]?.id ?? []);
  ports.recalls?.note(scope, composed.recall.id, { used });
  return {
    text: told.isUnknown ? UNKNOWN : told.text,
    used,
    abstained: told.isUnknown,
    recall: composed.recall,
    ...by,
  };
}

/** Whose words came of it, and what they took. It is counted. */
export function wordedBy(
  { meter }: Pick<Ports, "meter">,
  { text, isUnknown, trouble, completion }: Heard,
): AnsweredBy {
  const by = text !== "" || isUnknown ? "model" : "memory";
  meter?.count("memory_answers_total", { by, trouble: trouble ?? "none" });
  return {
    by,
    ...(completion ? { model: completion.model, usage: completion.usage } : {}),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

/** A text word by word, as a model would bring it. */
export async function* inWords(text: string, signal?: AbortSignal): AsyncGenerator<string, void, void> {
  for (const part of text.match(/\S+\s*/g) ?? []) {
    signal?.throwIfAborted();
    yield part;
  }
}

/** What a generator returns, its parts left aside. */
export async function lastOf<Result>(parts: AsyncGenerator<string, Result, void>): Promise<Result> {
  let next = await parts.next();
  while (!next.done) next = await parts.next();
  return next.value;
}
