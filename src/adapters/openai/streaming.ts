import type { CallOutcome } from "../../domain/model-call.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Completion } from "../../ports/language-model.ts";
import { retryWithBackoff } from "../shared/retry.ts";
import { type ChatCompletionRequest, MAX_AMENDMENTS, toServerCall } from "./asking.ts";
import { beginCall, checkBudget, type RequestLimits, type RunningCall } from "./calling.ts";
import {
  type ChatAnswer,
  createFilteredCompletion,
  parseChatAnswer,
  parseChatDelta,
  toCallOutcome,
  toCompletion,
} from "./chat-answer.ts";
import { readServerSentEvents } from "./events.ts";
import { amendCapabilities, isFiltered, toChatBody } from "./habits.ts";
import { parseJson } from "./json.ts";
import { createFailure, sendRequest } from "./send.ts";
import type { ModelServer } from "./server.ts";
import { createThoughtFilter } from "./thoughts.ts";
import { type RequestRefusal, type TransientFailure, toTransientFailure } from "./troubles.ts";

/** An answer that has begun, or one that is over already. */
type OpenedCompletionStream =
  | { readonly response: Response; readonly running: RunningCall }
  | { readonly whole: Completion };

/**
 * An answer in parts. Until its first byte a trouble may pass, and is tried again; after it, it is thrown, for what was
 * given cannot be taken back.
 */
export async function* streamCompletion(
  server: ModelServer,
  asking: ChatCompletionRequest,
  options: CallOptions,
): AsyncGenerator<string, Completion, void> {
  const call = toServerCall(asking);
  await checkBudget(server, call, options);
  const opened = await retryWithBackoff<OpenedCompletionStream>(server, options.signal, async (timeoutMs) => {
    const running = beginCall(server, call, options);
    const sent = await openStream(server, asking, { timeoutMs, signal: options.signal }).catch(
      (error: unknown) => {
        running.end(options.signal?.aborted ? "aborted" : "failed");
        throw error;
      },
    );
    if ("response" in sent) return { value: { response: sent.response, running } };
    running.end("refused" in sent ? (isFiltered(sent) ? "refused" : "rejected") : sent.outcome);
    if ("failed" in sent) return sent;
    if (isFiltered(sent)) return { value: { whole: createFilteredCompletion(asking.prompt, asking.model) } };
    throw sent.refused;
  });
  return "whole" in opened ? opened.whole : yield* streamParts(server, asking, options, opened);
}

async function openStream(
  server: ModelServer,
  { model, prompt, capabilities: habits }: ChatCompletionRequest,
  limits: RequestLimits,
): Promise<{ readonly response: Response } | TransientFailure | RequestRefusal> {
  for (let amended = 0; ; amended += 1) {
    const sent = await sendRequest(
      server,
      toChatBody(model, prompt, habits, true),
      limits,
      "text/event-stream",
    );
    if ("refused" in sent && amended < MAX_AMENDMENTS && amendCapabilities(habits, sent)) continue;
    return sent;
  }
}

/** The texts of an answer, without thoughts; at its end it is reported, and whoever stops listening stops the model. */
async function* streamParts(
  server: ModelServer,
  { prompt, model }: ChatCompletionRequest,
  { signal }: CallOptions,
  { response, running }: { response: Response; running: RunningCall },
): AsyncGenerator<string, Completion, void> {
  const said: ChatAnswer = { content: "", thoughts: "", isRefused: false };
  let outcome: CallOutcome = "aborted";
  try {
    const filter = createThoughtFilter();
    for await (const part of readTexts(server, response, said)) {
      const shown = filter.push(part);
      if (shown !== "") yield shown;
    }
    const last = filter.end();
    if (last !== "") yield last;
    const completion = toCompletion(said, prompt, model);
    outcome = toCallOutcome(completion, prompt);
    return completion;
  } catch (error) {
    signal?.throwIfAborted();
    const trouble = isMemoryError(error)
      ? { failed: error, outcome: "failed" as const }
      : toTransientFailure(error, server.place, server.timeoutMs);
    outcome = trouble.outcome;
    throw trouble.failed;
  } finally {
    running.end(outcome, toCompletion(said, prompt, model).usage);
    await response.body?.cancel().catch(() => {});
  }
}

/** The texts of a stream's events; what else they tell is set down in `said`. */
async function* readTexts(
  server: ModelServer,
  response: Response,
  said: ChatAnswer,
): AsyncGenerator<string, void, void> {
  for await (const one of readAnswers(response)) {
    if (one === "over") {
      said.finish ??= "stop";
      return;
    }
    if (!one) throw createFailure(server, "broke off its answer with an error").failed;
    addAnswer(said, one);
    if (one.content !== "") yield one.content;
  }
  if (said.finish === undefined) throw createFailure(server, "broke off in its answer").failed;
}

/** What a stream tells, event by event; of a server that does not stream, all at once. */
async function* readAnswers(response: Response): AsyncGenerator<ChatAnswer | "over" | undefined, void, void> {
  if (/json/.test(response.headers.get("content-type") ?? "")) {
    yield parseChatAnswer(parseJson(await response.text()));
    yield "over";
  } else if (response.body) {
    for await (const data of readServerSentEvents(response.body))
      yield data === "[DONE]" ? "over" : parseChatDelta(parseJson(data));
  }
}

function addAnswer(said: ChatAnswer, one: ChatAnswer): void {
  const { content, thoughts, isRefused, ...rest } = one;
  Object.assign(said, rest);
  said.content += content;
  said.thoughts += thoughts;
  said.isRefused ||= isRefused;
}
