import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { LanguageModel, Prompt } from "../ports/language-model.ts";
import { LANGUAGE_MODEL_CASES, type MakesSay } from "./language-model-cases.ts";

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
