import { toStorableText } from "../domain/limits.ts";
import type { Answer, AnsweredBy, Recall } from "../domain/recall.ts";
import type { Receipt } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { asksForAll } from "./answer/overview.ts";
import { type ComposedAnswer, composeAnswer } from "./answer.ts";
import { getReturnValue, streamWords } from "./by-model/answer.ts";
import { streamReplyByModel } from "./by-model/reply.ts";
import type { Ports } from "./ports.ts";
import { recall } from "./recall.ts";
import { remember } from "./remember.ts";
import { composeReply } from "./reply.ts";
import type { RememberOptions, Reply } from "./surface.ts";

/** One turn of a conversation, see `converseStream`. */
export async function converse(
  ports: Ports,
  scope: Scope,
  message: string,
  options: RememberOptions = {},
): Promise<Reply> {
  return getReturnValue(converseStream(ports, scope, message, options));
}

/**
 * One turn of a conversation: stores the message, acts on it, and replies; the reply is yielded in parts when everything
 * is stored. A question is answered from what was known before it was asked, so that it cannot answer itself.
 *
 * Without a model the reply says what was learnt, what was forgotten, or an answer, and is not kept: it would only be an
 * echo. With one, the model replies, and its reply is kept as the assistant's turn; what was done to the memory is still
 * told by the memory itself.
 */
export async function* converseStream(
  ports: Ports,
  scope: Scope,
  said: string,
  options: RememberOptions = {},
): AsyncGenerator<string, Reply, void> {
  const message = typeof said === "string" ? toStorableText(said).text : said;
  const asks = ports.questions.isQuestion(message) || asksForAll(message);
  const signal = options.signal ? { signal: options.signal } : {};
  const session = options.session ?? scope.session;
  const before = asks ? await composeAnswer(ports, scope, message, signal, session) : undefined;
  const recalled = before?.answer.recall ?? (await recallForModel(ports, scope, message, signal));
  const receipt = await remember(ports, scope, message, options);
  const [asking] = receipt.messages;
  if (before && asking !== undefined)
    ports.recalls?.note(scope, before.answer.recall.id, { message: asking });
  const { messages } = await ports.states.of(scope);
  const turn = messages.get(asking ?? "")?.turn ?? 0;
  const spoken = yield* streamReply(ports, { scope, session, message, options, before, recalled, receipt });
  return { receipt, turn, ...spoken };
}

/** A model is told what is known about whatever is said. */
async function recallForModel(
  ports: Ports,
  scope: Scope,
  message: string,
  options: { signal?: AbortSignal },
): Promise<Recall | undefined> {
  return ports.model ? recall(ports, scope, message, options) : undefined;
}

/** What was said, and what came of it. */
export interface ConversationTurn {
  readonly scope: Scope;
  readonly session: string | undefined;
  readonly message: string;
  readonly options: RememberOptions;
  readonly before: ComposedAnswer | undefined;
  readonly recalled: Recall | undefined;
  readonly receipt: Receipt;
}

export interface SpokenReply extends AnsweredBy {
  readonly text: string;
  readonly answer?: Answer;
}

async function* streamReply(ports: Ports, turn: ConversationTurn): AsyncGenerator<string, SpokenReply, void> {
  const { before, receipt, message, options } = turn;
  const spoken = yield* streamReplyByModel(ports, turn);
  if (spoken?.by === "model") return spoken;
  const text = composeReply({ receipt, said: message, ...(before ? { answer: before.answer } : {}) });
  yield* streamWords(text, options.signal);
  return { text, ...(before ? { answer: before.answer } : {}), by: "memory", ...spoken };
}
