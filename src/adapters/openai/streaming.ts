import type { Outcome } from "../../domain/model-call.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call.ts";
import type { Completion } from "../../ports/language-model.ts";
import { patiently } from "../shared/retry.ts";
import { AMENDS, type Asking, callOf } from "./asking.ts";
import { admitted, begin, type Limits, type Running } from "./calling.ts";
import { completionOf, deltaIn, filtered, outcomeOf, type Said, saidIn } from "./chat-answer.ts";
import { eventsOf } from "./events.ts";
import { amend, bodyOf, isFiltered } from "./habits.ts";
import { parsed } from "./json.ts";
import { failing, send } from "./send.ts";
import type { Server } from "./server.ts";
import { thoughtFilter } from "./thoughts.ts";
import { type Failed, type Refused, troubleOf } from "./troubles.ts";

/** An answer that has begun, or one that is over already. */
type Opened = { readonly response: Response; readonly running: Running } | { readonly whole: Completion };

/**
 * An answer in parts. Until its first byte a trouble may pass, and is tried again; after it, it is thrown, for what was
 * given cannot be taken back.
 */
export async function* streamed(
  server: Server,
  asking: Asking,
  options: CallOptions,
): AsyncGenerator<string, Completion, void> {
  const call = callOf(asking);
  await admitted(server, call, options);
  const opened = await patiently<Opened>(server, options.signal, async (timeoutMs) => {
    const running = begin(server, call, options);
    const sent = await open(server, asking, { timeoutMs, signal: options.signal }).catch((error: unknown) => {
      running.ended(options.signal?.aborted ? "aborted" : "failed");
      throw error;
    });
    if ("response" in sent) return { value: { response: sent.response, running } };
    running.ended("refused" in sent ? (isFiltered(sent) ? "refused" : "rejected") : sent.outcome);
    if ("failed" in sent) return sent;
    if (isFiltered(sent)) return { value: { whole: filtered(asking.prompt, asking.model) } };
    throw sent.refused;
  });
  return "whole" in opened ? opened.whole : yield* parts(server, asking, options, opened);
}

async function open(
  server: Server,
  { model, prompt, habits }: Asking,
  limits: Limits,
): Promise<{ readonly response: Response } | Failed | Refused> {
  for (let amended = 0; ; amended += 1) {
    const sent = await send(server, bodyOf(model, prompt, habits, true), limits, "text/event-stream");
    if ("refused" in sent && amended < AMENDS && amend(habits, sent)) continue;
    return sent;
  }
}

/** The texts of an answer, without thoughts; at its end it is reported, and whoever stops listening stops the model. */
async function* parts(
  server: Server,
  { prompt, model }: Asking,
  { signal }: CallOptions,
  { response, running }: { response: Response; running: Running },
): AsyncGenerator<string, Completion, void> {
  const said: Said = { content: "", thoughts: "", isRefused: false };
  let outcome: Outcome = "aborted";
  try {
    const filter = thoughtFilter();
    for await (const part of textsOf(server, response, said)) {
      const shown = filter.push(part);
      if (shown !== "") yield shown;
    }
    const last = filter.end();
    if (last !== "") yield last;
    const completion = completionOf(said, prompt, model);
    outcome = outcomeOf(completion, prompt);
    return completion;
  } catch (error) {
    signal?.throwIfAborted();
    const trouble = isMemoryError(error)
      ? { failed: error, outcome: "failed" as const }
      : troubleOf(error, server.place, server.timeoutMs);
    outcome = trouble.outcome;
    throw trouble.failed;
  } finally {
    running.ended(outcome, completionOf(said, prompt, model).usage);
    await response.body?.cancel().catch(() => {});
  }
}

/** The texts of a stream's events; what else they tell is set down in `said`. */
async function* textsOf(server: Server, response: Response, said: Said): AsyncGenerator<string, void, void> {
  for await (const one of told(response)) {
    if (one === "over") {
      said.finish ??= "stop";
      return;
    }
    if (!one) throw failing(server, "broke off its answer with an error").failed;
    add(said, one);
    if (one.content !== "") yield one.content;
  }
  if (said.finish === undefined) throw failing(server, "broke off in its answer").failed;
}

/** What a stream tells, event by event; of a server that does not stream, all at once. */
async function* told(response: Response): AsyncGenerator<Said | "over" | undefined, void, void> {
  if (/json/.test(response.headers.get("content-type") ?? "")) {
    yield saidIn(parsed(await response.text()));
    yield "over";
  } else if (response.body) {
    for await (const data of eventsOf(response.body))
      yield data === "[DONE]" ? "over" : deltaIn(parsed(data));
  }
}

function add(said: Said, one: Said): void {
  const { content, thoughts, isRefused, ...rest } = one;
  Object.assign(said, rest);
  said.content += content;
  said.thoughts += thoughts;
  said.isRefused ||= isRefused;
}
