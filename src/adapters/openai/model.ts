import { checkName } from "../../domain/limits.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language-model.ts";
import { AMENDS, type Asking, callOf } from "./asking.ts";
import { called, type Limits, type Tried } from "./calling.ts";
import { completionOf, filtered, outcomeOf, saidIn } from "./chat-answer.ts";
import { amend, bodyOf, firstHabits, type Habits, isFiltered, nextForm } from "./habits.ts";
import { parsed } from "./json.ts";
import { fitsShape } from "./reading.ts";
import { failing, sendAndRead } from "./send.ts";
import { type Server, type ServerOptions, serverOf } from "./server.ts";
import { streamed } from "./streaming.ts";

/** A request may take 60 s, and is tried 3 times. */
export interface OpenaiModelOptions extends ServerOptions {
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
  const server = serverOf(options, {
    path: "chat/completions",
    called: "model's server",
    model,
    timeoutMs: 60_000,
    tries: 3,
  });
  const habits = firstHabits(model, server.url);
  return {
    name: model,
    host: server.url.host,
    circuit: () => server.circuit.state(),
    complete: (prompt, call = {}) => inSomeForm(server, { model, prompt, habits }, call),
    stream: (prompt, call = {}) => streamed(server, { model, prompt, habits }, call),
  };
}

/**
 * An answer in the form that was asked for, where one can be had. A server that takes a schema and pays it no heed is
 * asked once more, in words, until one of its forms has proved right.
 */
async function inSomeForm(server: Server, asking: Asking, options: CallOptions): Promise<Completion> {
  const { habits, prompt } = asking;
  const first = await complete(server, asking, options);
  const { shape } = prompt;
  if (!shape || first.finish !== "stop") return first;
  const fits = fitsShape(shape.schema);
  const other = nextForm(habits.form);
  if (fits(first.value) || habits.isFormProven || !other) {
    habits.isFormProven ||= fits(first.value);
    return first;
  }
  const trial: Habits = { ...habits, form: other };
  const second = await complete(server, { ...asking, habits: trial }, options);
  if (fits(second.value)) Object.assign(habits, trial);
  habits.isFormProven = true;
  return fits(second.value) ? second : first;
}

function complete(server: Server, asking: Asking, options: CallOptions): Promise<Completion> {
  return called(server, callOf(asking), options, (limits) => once(server, asking, limits));
}

/** One answer; where the server refuses a part of the request that it can do without, without that part. */
async function once(server: Server, asking: Asking, limits: Limits): Promise<Tried<Completion>> {
  const { model, prompt, habits } = asking;
  for (let amended = 0; ; amended += 1) {
    const sent = await sendAndRead(server, bodyOf(model, prompt, habits, false), limits);
    if ("refused" in sent) {
      if (isFiltered(sent)) return answered(filtered(prompt, model), prompt);
      if (amended < AMENDS && amend(habits, sent)) continue;
    }
    if (!("text" in sent)) return sent;
    const said = saidIn(parsed(sent.text));
    if (!said) return failing(server, "gave an answer without a message");
    return answered(completionOf(said, prompt, model), prompt);
  }
}

function answered(value: Completion, prompt: Prompt): Tried<Completion> {
  return { value, outcome: outcomeOf(value, prompt), usage: value.usage };
}
