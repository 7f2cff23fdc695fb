import { estimateTokens } from "../domain/tokens.ts";
import type { CallOptions } from "../ports/call.ts";
import type { Completion, LanguageModel, Prompt } from "../ports/language-model.ts";

/** What the model does with a prompt: a text is said, an object takes the place of parts of the answer, an error is thrown. */
export type Says = (prompt: Prompt, options: CallOptions) => ScriptedReply | Promise<ScriptedReply>;
type ScriptedReply = string | Error | Partial<Completion>;

export interface ScriptedModel extends LanguageModel {
  /** Every prompt, oldest first. */
  readonly asked: Prompt[];
}

/** A model without a server, for tests: it says what a script says. */
export function scriptedModel(says: Says): ScriptedModel {
  const asked: Prompt[] = [];
  const complete = async (prompt: Prompt, options: CallOptions = {}): Promise<Completion> => {
    options.signal?.throwIfAborted();
    asked.push(prompt);
    const said = await untilAborted(Promise.resolve(says(prompt, options)), options.signal);
    if (said instanceof Error) throw said;
    const given = typeof said === "string" ? { text: said } : said;
    const text = stripThoughts(given.text ?? "");
    const value = prompt.shape ? parseJson(text) : undefined;
    return {
      finish: "stop",
      model: "scripted-1",
      usage: {
        tokensIn: prompt.turns.reduce((sum, { content }) => sum + estimateTokens(content), 1),
        tokensCached: 0,
        tokensOut: estimateTokens(text),
      },
      ...(value === undefined ? {} : { value }),
      ...given,
      text,
    };
  };
  return {
    name: "scripted",
    host: "nowhere.test",
    asked,
    complete,
    async *stream({ shape: _none, ...prompt }, options = {}) {
      const whole = await complete(prompt, options);
      for (const part of whole.text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
        options.signal?.throwIfAborted();
        yield part;
      }
      return whole;
    },
  };
}

function stripThoughts(text: string): string {
  return text.replace(/<think>[\s\S]*?<\/think>/g, "").trim();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.search(/[{[]/), text.search(/[}\]][^}\]]*$/) + 1));
  } catch {
    return undefined;
  }
}

async function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return value;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
