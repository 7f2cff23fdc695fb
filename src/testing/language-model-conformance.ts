import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Completion, LanguageModel, Prompt } from "../ports/language/language-model.ts";

/** What the suite needs of a language model. */
export interface LanguageModelHarness {
  /** Shown in the test output. */
  readonly name: string;
  /**
   * Opens a model that answers with the result of `says` for a prompt's turns. The server calls `says` for
   * every request.
   */
  open(says: (prompt: Pick<Prompt, "turns">) => Promise<string>): Promise<LanguageModel>;
  /** Stops what `open` started. */
  teardown?(): Promise<void>;
}

/**
 * Runs the whole contract of `ports/language/language-model.ts` against one adapter. Call it at the top level
 * of a test file.
 */
export function languageModelConformance(harness: LanguageModelHarness): void {
  describe(`LanguageModel: ${harness.name}`, () => {
    let model: LanguageModel;
    let script: { says: Parameters<MakesSay>[0]; afterMs: number } = { says: () => "", afterMs: 0 };
    beforeAll(async () => {
      model = await harness.open(async (prompt) => {
        const { says, afterMs } = script;
        if (afterMs > 0) await pause(afterMs, undefined, { ref: false });
        return says(prompt);
      });
    });
    afterAll(() => harness.teardown?.());
    for (const [title, run] of Object.entries(LANGUAGE_MODEL_CASES)) {
      it(title, { timeout: 20_000 }, () =>
        run(model, (says, afterMs = 0) => {
          script = { says, afterMs };
        }),
      );
    }
  });
}

/** Sets what the model says, after an optional delay in ms. */
type MakesSay = (says: (prompt: Pick<Prompt, "turns">) => string, afterMs?: number) => void;

/** One rule of the contract in `ports/language/language-model.ts`. */
type LanguageModelCase = (model: LanguageModel, makeSay: MakesSay) => Promise<void>;

const PROMPT: Prompt = {
  purpose: "answer",
  turns: [
    { role: "system", content: "Be short." },
    { role: "user", content: "Where is Porto?" },
  ],
};
const SHAPED: Prompt = {
  ...PROMPT,
  purpose: "understand",
  shape: {
    name: "towns",
    schema: {
      type: "object",
      properties: { towns: { type: "array", items: { type: "string" } } },
      required: ["towns"],
      additionalProperties: false,
    },
  },
};
const TOWNS = '{"towns":["Porto","Braga"]}';

async function readStream(
  model: LanguageModel,
  prompt: Prompt,
): Promise<{ parts: string[]; completion: Completion }> {
  const stream = model.stream(prompt);
  const parts: string[] = [];
  for (;;) {
    const next = await stream.next();
    if (next.done) return { parts, completion: next.value };
    parts.push(next.value);
  }
}

/** The cases of the suite, by title. */
export const LANGUAGE_MODEL_CASES: { readonly [title: string]: LanguageModelCase } = {
  "has a name and a host": async (model) => {
    expect(model.name).toMatch(/\S/);
    expect(model.host).toMatch(/\S/);
  },

  "returns the answer and counts tokens": async (model, makeSay) => {
    makeSay(({ turns }) => `You asked: ${turns.at(-1)?.content}`);
    const { text, finish, usage, value } = await model.complete(PROMPT);
    expect({ text, finish, value }).toEqual({
      text: "You asked: Where is Porto?",
      finish: "stop",
      value: undefined,
    });
    expect(usage.tokensIn).toBeGreaterThan(0);
    expect(usage.tokensOut).toBeGreaterThan(0);
    expect(usage.tokensCached).toBeLessThanOrEqual(usage.tokensIn);
  },

  "parses an answer with a shape, however it is wrapped": async (model, makeSay) => {
    const wraps = [
      TOWNS,
      `\`\`\`json\n${TOWNS}\n\`\`\``,
      `Here you are: ${TOWNS} Anything else?`,
      `<think>Two?</think>${TOWNS}`,
    ];
    for (const wrapped of wraps) {
      makeSay(() => wrapped);
      expect((await model.complete(SHAPED)).value).toEqual({ towns: ["Porto", "Braga"] });
    }
  },

  "returns an answer without JSON as an answer without a value": async (model, makeSay) => {
    for (const text of ["I cannot tell.", ""]) {
      makeSay(() => text);
      const completion = await model.complete(SHAPED);
      expect(completion.text).toBe(text);
      expect(completion).not.toHaveProperty("value");
    }
  },

  "omits the model's reasoning": async (model, makeSay) => {
    makeSay(() => "<think>Portugal, surely. <b>Yes</b>.</think>In Portugal.");
    expect((await model.complete(PROMPT)).text).toBe("In Portugal.");
    const { parts } = await readStream(model, PROMPT);
    expect(parts.join("").trim()).toBe("In Portugal.");
  },

  "streams the same text in parts and returns the complete answer": async (model, makeSay) => {
    makeSay(() => "In Portugal, by the sea — 葡萄牙. 🦊");
    const { parts, completion } = await readStream(model, PROMPT);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join("")).toBe("In Portugal, by the sea — 葡萄牙. 🦊");
    expect(completion).toMatchObject({ text: "In Portugal, by the sea — 葡萄牙. 🦊", finish: "stop" });
    expect(completion.usage.tokensOut).toBeGreaterThan(0);
  },

  "stops the stream when the consumer stops": async (model, makeSay) => {
    makeSay(() => "one two three four");
    for await (const part of model.stream(PROMPT)) {
      expect(part).not.toBe("");
      break;
    }
    makeSay(() => "again");
    expect((await model.complete(PROMPT)).text).toBe("again");
  },

  "rejects at once with the reason of an aborted signal": async (model, makeSay) => {
    const reason = new Error("enough");
    const gone = AbortSignal.abort(reason);
    await expect(model.complete(PROMPT, { signal: gone })).rejects.toBe(reason);
    await expect(model.stream(PROMPT, { signal: gone }).next()).rejects.toBe(reason);
    makeSay(() => "late", 5_000);
    const stopping = new AbortController();
    const begun = performance.now();
    setTimeout(() => stopping.abort(reason), 30);
    await expect(model.complete(PROMPT, { signal: stopping.signal })).rejects.toBe(reason);
    expect(performance.now() - begun).toBeLessThan(2_000);
    makeSay(() => "now");
  },

  "does not mix simultaneous calls": async (model, makeSay) => {
    makeSay(({ turns }) => `It is ${turns.at(-1)?.content}.`);
    const ask = (content: string) => model.complete({ ...PROMPT, turns: [{ role: "user", content }] });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(`question ${i}`)));
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, i) => `It is question ${i}.`));
    await pause(0);
  },

  "accepts any text": async (model, makeSay) => {
    makeSay(() => "fine");
    for (const content of ["half \ud83e a pair", "a\u0000b", '"}]} \\', "x".repeat(200_000)]) {
      const completion = await model.complete({ ...PROMPT, turns: [{ role: "user", content }] });
      expect(completion.text).toBe("fine");
    }
  },
};
