import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Completion, LanguageModel, Prompt } from "../ports/language/language-model.ts";

export interface LanguageModelHarness {
  /** Shown in the test output. */
  readonly name: string;
  /** A model that says what `says` gives for a prompt's turns; whatever answers it asks `says` each time. */
  open(says: (prompt: Pick<Prompt, "turns">) => Promise<string>): Promise<LanguageModel>;
  teardown?(): Promise<void>;
}

/** Runs the whole contract of `ports/language-model.ts` against one adapter. Call it at the top level of a test file. */
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

/** What a model is made to say, after so many milliseconds. */
type MakesSay = (says: (prompt: Pick<Prompt, "turns">) => string, afterMs?: number) => void;

/** One sentence of the contract in `ports/language-model.ts`. */
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
): Promise<{ parts: string[]; whole: Completion }> {
  const stream = model.stream(prompt);
  const parts: string[] = [];
  for (;;) {
    const next = await stream.next();
    if (next.done) return { parts, whole: next.value };
    parts.push(next.value);
  }
}

export const LANGUAGE_MODEL_CASES: { readonly [title: string]: LanguageModelCase } = {
  "it has a name, and its server one": async (model) => {
    expect(model.name).toMatch(/\S/);
    expect(model.host).toMatch(/\S/);
  },

  "it gives what was said, and counts tokens": async (model, makeSay) => {
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

  "it parses an answer of a form, whatever it is wrapped in": async (model, makeSay) => {
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

  "an answer without JSON in it is an answer, without a value": async (model, makeSay) => {
    for (const text of ["I cannot tell.", ""]) {
      makeSay(() => text);
      const completion = await model.complete(SHAPED);
      expect(completion.text).toBe(text);
      expect(completion).not.toHaveProperty("value");
    }
  },

  "what it thinks aloud is left out": async (model, makeSay) => {
    makeSay(() => "<think>Portugal, surely. <b>Yes</b>.</think>In Portugal.");
    expect((await model.complete(PROMPT)).text).toBe("In Portugal.");
    const { parts } = await readStream(model, PROMPT);
    expect(parts.join("").trim()).toBe("In Portugal.");
  },

  "a stream gives the same in parts, and at its end the whole": async (model, makeSay) => {
    makeSay(() => "In Portugal, by the sea — 葡萄牙. 🦊");
    const { parts, whole } = await readStream(model, PROMPT);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join("")).toBe("In Portugal, by the sea — 葡萄牙. 🦊");
    expect(whole).toMatchObject({ text: "In Portugal, by the sea — 葡萄牙. 🦊", finish: "stop" });
    expect(whole.usage.tokensOut).toBeGreaterThan(0);
  },

  "whoever stops listening hears no more": async (model, makeSay) => {
    makeSay(() => "one two three four");
    for await (const part of model.stream(PROMPT)) {
      expect(part).not.toBe("");
      break;
    }
    makeSay(() => "again");
    expect((await model.complete(PROMPT)).text).toBe("again");
  },

  "an aborted signal rejects with its reason, at once": async (model, makeSay) => {
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

  "calls at the same time are not mixed up": async (model, makeSay) => {
    makeSay(({ turns }) => `It is ${turns.at(-1)?.content}.`);
    const ask = (content: string) => model.complete({ ...PROMPT, turns: [{ role: "user", content }] });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(`question ${i}`)));
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, i) => `It is question ${i}.`));
    await pause(0);
  },

  "it takes any text": async (model, makeSay) => {
    makeSay(() => "fine");
    for (const content of ["half \ud83e a pair", "a\u0000b", '"}]} \\', "x".repeat(200_000)]) {
      const completion = await model.complete({ ...PROMPT, turns: [{ role: "user", content }] });
      expect(completion.text).toBe("fine");
    }
  },
};
