import { checkName } from "../../domain/limits.ts";
import type { CallOutcome } from "../../domain/model-usage.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language/language-model.ts";
import { retryWithBackoff } from "../shared/remote-call.ts";
import {
  amendCapabilities,
  getNextForm,
  guessCapabilities,
  isFiltered,
  type ServerCapabilities,
  toChatBody,
} from "./capabilities.ts";
import {
  type ChatAnswer,
  createFilteredCompletion,
  createShapeCheck,
  createThoughtFilter,
  estimateUsage,
  parseChatAnswer,
  parseChatDelta,
  readServerSentEvents,
  toCallOutcome,
  toCompletion,
} from "./completion.ts";
import { parseJson } from "./lenient-json.ts";
import {
  beginCall,
  type CallAttempt,
  callServer,
  checkBudget,
  createFailure,
  createModelServer,
  type ModelServer,
  type ModelServerOptions,
  type RequestLimits,
  type RequestRefusal,
  type RunningCall,
  type ServerCall,
  sendAndReadText,
  sendRequest,
  type TransientFailure,
  toTransientFailure,
} from "./server.ts";

/** A request may take 60 s, and is tried 3 times. */
export interface OpenaiModelOptions extends ModelServerOptions {
  /** "gpt-4o-mini" where absent; with `apiVersion`, the name of the deployment. */
  readonly model?: string;
}

/**
 * A model that writes, at OpenAI or at any server of its chat completions (Azure's, Ollama, vLLM, LM Studio, LiteLLM…), over
 * plain `fetch`. A server that refuses schemas of answers is asked for JSON, and then in words; what it takes is remembered.
 * Prompts leave this machine for that server and nowhere else. `invalid_input` for options that cannot work.
 */
export function openaiModel(options: OpenaiModelOptions = {}): LanguageModel {
  const model = checkName(options.model ?? "gpt-4o-mini", "model");
  const server = createModelServer(options, {
    path: "chat/completions",
    label: "model's server",
    model,
    timeoutMs: 60_000,
    tries: 3,
  });
  const habits = guessCapabilities(model, server.url);
  return {
    name: model,
    host: server.url.host,
    circuit: () => server.circuit.state(),
    complete: (prompt, call = {}) =>
      completeInSomeForm(server, { model, prompt, capabilities: habits }, call),
    stream: (prompt, call = {}) => streamCompletion(server, { model, prompt, capabilities: habits }, call),
  };
}

/**
 * An answer in the form that was asked for, where one can be had. A server that takes a schema and pays it no heed is
 * asked once more, in words, until one of its forms has proved right.
 */
async function completeInSomeForm(
  server: ModelServer,
  asking: ChatCompletionRequest,
  options: CallOptions,
): Promise<Completion> {
  const { capabilities: habits, prompt } = asking;
  const first = await complete(server, asking, options);
  const { shape } = prompt;
  if (!shape || first.finish !== "stop") return first;
  const fits = createShapeCheck(shape.schema);
  const other = getNextForm(habits.form);
  if (fits(first.value) || habits.isFormProven || !other) {
    habits.isFormProven ||= fits(first.value);
    return first;
  }
  const trial: ServerCapabilities = { ...habits, form: other };
  const second = await complete(server, { ...asking, capabilities: trial }, options);
  if (fits(second.value)) Object.assign(habits, trial);
  habits.isFormProven = true;
  return fits(second.value) ? second : first;
}

function complete(
  server: ModelServer,
  asking: ChatCompletionRequest,
  options: CallOptions,
): Promise<Completion> {
  return callServer(server, toServerCall(asking), options, (limits) => requestOnce(server, asking, limits));
}

/** One answer; where the server refuses a part of the request that it can do without, without that part. */
async function requestOnce(
  server: ModelServer,
  asking: ChatCompletionRequest,
  limits: RequestLimits,
): Promise<CallAttempt<Completion>> {
  const { model, prompt, capabilities: habits } = asking;
  for (let amended = 0; ; amended += 1) {
    const sent = await sendAndReadText(server, toChatBody(model, prompt, habits, false), limits);
    if ("refused" in sent) {
      if (isFiltered(sent)) return toCallAttempt(createFilteredCompletion(prompt, model), prompt);
      if (amended < MAX_AMENDMENTS && amendCapabilities(habits, sent)) continue;
    }
    if (!("text" in sent)) return sent;
    const said = parseChatAnswer(parseJson(sent.text));
    if (!said) return createFailure(server, "gave an answer without a message");
    return toCallAttempt(toCompletion(said, prompt, model), prompt);
  }
}

function toCallAttempt(value: Completion, prompt: Prompt): CallAttempt<Completion> {
  return { value, outcome: toCallOutcome(value, prompt), usage: value.usage };
}

/** An answer that has begun, or one that is over already. */
type OpenedCompletionStream =
  | { readonly response: Response; readonly running: RunningCall }
  | { readonly whole: Completion };

/**
 * An answer in parts. Until its first byte a trouble may pass, and is tried again; after it, it is thrown, for what was
 * given cannot be taken back.
 */
async function* streamCompletion(
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

/** What a model is asked, and how its server wants to be asked. */
interface ChatCompletionRequest {
  readonly model: string;
  readonly prompt: Prompt;
  readonly capabilities: ServerCapabilities;
}

/** So often is a request made anew, otherwise, after a refusal. */
const MAX_AMENDMENTS = 4;

/** Tokens of an answer that nobody bounds. */
const DEFAULT_ANSWER_TOKENS = 1000;

function toServerCall({ model, prompt }: ChatCompletionRequest): ServerCall {
  const { purpose, units = 1, maxTokens = DEFAULT_ANSWER_TOKENS } = prompt;
  return { purpose, model, units, tokensIn: estimateUsage(prompt).tokensIn, tokensOut: maxTokens };
}
