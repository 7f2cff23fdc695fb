import { checkName } from "../../domain/limits.ts";
import type { CallOutcome } from "../../domain/model-usage.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language/language-model.ts";
import { parseJson } from "../shared/model-calls/json-values.ts";
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
} from "../shared/model-calls/model-server.ts";
import { retryWithBackoff } from "../shared/model-calls/remote-call.ts";
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

/** Options of a chat model. By default, a request times out after 60 s, and is tried 3 times. */
export interface OpenaiModelOptions extends ModelServerOptions {
  /** The model (default: "gpt-4o-mini"); with `apiVersion`, the name of the deployment. */
  readonly model?: string;
}

/**
 * A chat model at OpenAI or any server with its chat completions API (Azure, Ollama, vLLM, LM Studio, LiteLLM…), over plain `fetch`.
 * If a server refuses answer schemas, it is asked for JSON, and then in words; what it accepts is remembered. Prompts leave this
 * machine for that server only. Throws `invalid_input` for invalid options.
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
  const capabilities = guessCapabilities(model, server.url);
  return {
    name: model,
    host: server.url.host,
    circuit: { state: () => server.circuit.state() },
    complete: (prompt, call = {}) =>
      completeInSomeForm(server, { model, prompt, capabilities: capabilities }, call),
    stream: (prompt, call = {}) =>
      streamCompletion(server, { model, prompt, capabilities: capabilities }, call),
  };
}

/**
 * Requests an answer in the required form. If a server accepts a schema but ignores it, it is asked once more, in words, until one
 * of its forms has proven to work.
 */
async function completeInSomeForm(
  server: ModelServer,
  request: ChatCompletionRequest,
  options: CallOptions,
): Promise<Completion> {
  const { capabilities, prompt } = request;
  const first = await complete(server, request, options);
  const { shape } = prompt;
  if (!shape || first.finish !== "stop") return first;
  const fits = createShapeCheck(shape.schema);
  const other = getNextForm(capabilities.form);
  if (fits(first.value) || capabilities.isFormProven || !other) {
    capabilities.isFormProven ||= fits(first.value);
    return first;
  }
  const trial: ServerCapabilities = { ...capabilities, form: other };
  const second = await complete(server, { ...request, capabilities: trial }, options);
  if (fits(second.value)) Object.assign(capabilities, trial);
  capabilities.isFormProven = true;
  return fits(second.value) ? second : first;
}

function complete(
  server: ModelServer,
  request: ChatCompletionRequest,
  options: CallOptions,
): Promise<Completion> {
  return callServer(server, toServerCall(request), options, (limits) => requestOnce(server, request, limits));
}

/** Requests one answer. If the server refuses an optional part of the request, it retries without that part. */
async function requestOnce(
  server: ModelServer,
  request: ChatCompletionRequest,
  limits: RequestLimits,
): Promise<CallAttempt<Completion>> {
  const { model, prompt, capabilities } = request;
  for (let amended = 0; ; amended += 1) {
    const sent = await sendAndReadText(server, toChatBody(model, prompt, capabilities, false), limits);
    if ("refused" in sent) {
      if (isFiltered(sent)) return toCallAttempt(createFilteredCompletion(prompt, model), prompt);
      if (amended < MAX_AMENDMENTS && amendCapabilities(capabilities, sent)) continue;
    }
    if (!("text" in sent)) return sent;
    const answer = parseChatAnswer(parseJson(sent.text));
    if (!answer) return createFailure(server, "gave an answer without a message");
    return toCallAttempt(toCompletion(answer, prompt, model), prompt);
  }
}

function toCallAttempt(value: Completion, prompt: Prompt): CallAttempt<Completion> {
  return { value, outcome: toCallOutcome(value, prompt), usage: value.usage };
}

/** A stream that has begun, or a completed answer. */
type OpenedCompletionStream =
  | { readonly response: Response; readonly running: RunningCall }
  | { readonly completion: Completion };

/**
 * Streams an answer. Before its first byte, temporary failures are retried. After that they are thrown, because text that was
 * already given cannot be withdrawn.
 */
async function* streamCompletion(
  server: ModelServer,
  request: ChatCompletionRequest,
  options: CallOptions,
): AsyncGenerator<string, Completion, void> {
  const call = toServerCall(request);
  await checkBudget(server, call, options);
  const opened = await retryWithBackoff<OpenedCompletionStream>(server, options.signal, async (timeoutMs) => {
    const running = beginCall(server, call, options);
    const sent = await openStream(server, request, { timeoutMs, signal: options.signal }).catch(
      (error: unknown) => {
        running.end(options.signal?.aborted ? "aborted" : "failed");
        throw error;
      },
    );
    if ("response" in sent) return { value: { response: sent.response, running } };
    running.end("refused" in sent ? (isFiltered(sent) ? "refused" : "rejected") : sent.outcome);
    if ("failed" in sent) return sent;
    if (isFiltered(sent))
      return { value: { completion: createFilteredCompletion(request.prompt, request.model) } };
    throw sent.refused;
  });
  return "completion" in opened ? opened.completion : yield* streamParts(server, request, options, opened);
}

async function openStream(
  server: ModelServer,
  { model, prompt, capabilities }: ChatCompletionRequest,
  limits: RequestLimits,
): Promise<{ readonly response: Response } | TransientFailure | RequestRefusal> {
  for (let amended = 0; ; amended += 1) {
    const sent = await sendRequest(
      server,
      toChatBody(model, prompt, capabilities, true),
      limits,
      "text/event-stream",
    );
    if ("refused" in sent && amended < MAX_AMENDMENTS && amendCapabilities(capabilities, sent)) continue;
    return sent;
  }
}

/** The text parts of an answer, without thoughts. It reports the call at the end, and stops the model if the reader stops. */
async function* streamParts(
  server: ModelServer,
  { prompt, model }: ChatCompletionRequest,
  { signal }: CallOptions,
  { response, running }: { response: Response; running: RunningCall },
): AsyncGenerator<string, Completion, void> {
  const answer: ChatAnswer = { content: "", thoughts: "", isRefused: false };
  let outcome: CallOutcome = "aborted";
  try {
    const filter = createThoughtFilter();
    for await (const part of readTexts(server, response, answer)) {
      const shown = filter.push(part);
      if (shown !== "") yield shown;
    }
    const last = filter.end();
    if (last !== "") yield last;
    const completion = toCompletion(answer, prompt, model);
    outcome = toCallOutcome(completion, prompt);
    return completion;
  } catch (error) {
    signal?.throwIfAborted();
    const failure = isMemoryError(error)
      ? { failed: error, outcome: "failed" as const }
      : toTransientFailure(error, server.place, server.timeoutMs);
    outcome = failure.outcome;
    throw failure.failed;
  } finally {
    running.end(outcome, toCompletion(answer, prompt, model).usage);
    await response.body?.cancel().catch(() => {});
  }
}

/** The texts of a stream's events; everything else is stored in `answer`. */
async function* readTexts(
  server: ModelServer,
  response: Response,
  answer: ChatAnswer,
): AsyncGenerator<string, void, void> {
  for await (const one of readAnswers(response)) {
    if (one === "over") {
      answer.finish ??= "stop";
      return;
    }
    if (!one) throw createFailure(server, "broke off its answer with an error").failed;
    addAnswer(answer, one);
    if (one.content !== "") yield one.content;
  }
  if (answer.finish === undefined) throw createFailure(server, "broke off its answer").failed;
}

/** The content of a stream, event by event, or all at once from a server that does not stream. */
async function* readAnswers(response: Response): AsyncGenerator<ChatAnswer | "over" | undefined, void, void> {
  if (/json/.test(response.headers.get("content-type") ?? "")) {
    yield parseChatAnswer(parseJson(await response.text()));
    yield "over";
  } else if (response.body) {
    for await (const data of readServerSentEvents(response.body))
      yield data === "[DONE]" ? "over" : parseChatDelta(parseJson(data));
  }
}

function addAnswer(answer: ChatAnswer, one: ChatAnswer): void {
  const { content, thoughts, isRefused, ...rest } = one;
  Object.assign(answer, rest);
  answer.content += content;
  answer.thoughts += thoughts;
  answer.isRefused ||= isRefused;
}

/** A prompt, its model, and what the server accepts. */
interface ChatCompletionRequest {
  readonly model: string;
  readonly prompt: Prompt;
  readonly capabilities: ServerCapabilities;
}

/** How often a refused request is changed and sent again. */
const MAX_AMENDMENTS = 4;

/** Estimated tokens of an answer without a limit. */
const DEFAULT_ANSWER_TOKENS = 1000;

function toServerCall({ model, prompt }: ChatCompletionRequest): ServerCall {
  const { purpose, units = 1, maxTokens = DEFAULT_ANSWER_TOKENS } = prompt;
  return { purpose, model, units, tokensIn: estimateUsage(prompt).tokensIn, tokensOut: maxTokens };
}
