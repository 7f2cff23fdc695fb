import { checkName } from "../../domain/limits.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language-model.ts";
import { type ChatCompletionRequest, MAX_AMENDMENTS, toServerCall } from "./asking.ts";
import { type CallAttempt, callServer, type RequestLimits } from "./calling.ts";
import { createFilteredCompletion, parseChatAnswer, toCallOutcome, toCompletion } from "./chat-answer.ts";
import {
  amendCapabilities,
  getNextForm,
  guessCapabilities,
  isFiltered,
  type ServerCapabilities,
  toChatBody,
} from "./habits.ts";
import { parseJson } from "./json.ts";
import { createShapeCheck } from "./reading.ts";
import { createFailure, sendAndReadText } from "./send.ts";
import { createModelServer, type ModelServer, type ModelServerOptions } from "./server.ts";
import { streamCompletion } from "./streaming.ts";

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
