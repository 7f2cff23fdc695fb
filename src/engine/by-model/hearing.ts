import type { TokenUsage } from "../../domain/model-call.ts";
import type { AnswerTrouble } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language-model.ts";
import type { CitationReader } from "./marks.ts";
import { saysUnknown } from "./prompts.ts";

export interface CompletionRequest {
  readonly model: LanguageModel;
  readonly prompt: Prompt;
  readonly reader: CitationReader;
  readonly scope: Scope;
  /** How long until the first word is there, and until the last, in ms. */
  readonly timeouts: ModelTimeouts;
  readonly signal?: AbortSignal;
}

export interface ModelTimeouts {
  readonly first: number;
  readonly whole: number;
}

/** What came of it. */
export interface StreamedCompletion {
  /** What was shown, in all. */
  readonly text: string;
  /** Whether the model says that the notes do not answer. */
  readonly isUnknown: boolean;
  /** Why there is no text, or only a part of it. */
  readonly trouble?: AnswerTrouble;
  readonly completion?: Completion;
}

/** Whatever is waited for too long. */
const TIMEOUT_ERROR = new Error("slow");

/**
 * Asks the model, and yields what can be shown of its answer as it comes. A trouble is told, not thrown; only the caller's
 * own signal is. Whoever stops listening stops the model.
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
      const given = reader.take(next.value);
      text += given;
      if (given !== "") yield given;
      next = await stream.next();
    }
    const given = reader.end(next.value.finish === "length");
    text += given;
    if (given !== "") yield given;
    return { text, isUnknown: text === "" && saysUnknown(raw), ...judgeCompletion(next.value, raw, text) };
  } catch (error) {
    hearing.signal?.throwIfAborted();
    const given = reader.end(true);
    text += given;
    if (given !== "") yield given;
    return { text, isUnknown: false, trouble: limit.signal.aborted ? "slow" : toAnswerTrouble(error) };
  } finally {
    clearTimeout(timer);
    // A model that is still speaking has no listener any more.
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
