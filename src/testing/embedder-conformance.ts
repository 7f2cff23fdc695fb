import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Embedder } from "../ports/embedder.ts";
import { EMBEDDER_CASES } from "./embedder-cases.ts";

export interface EmbedderHarness {
  /** Shown in the test output: "static", "openai". */
  readonly name: string;
  /** Starts what the embedder needs, once. */
  setup?(): Promise<void>;
  /** An embedder as a program would make it; each call another, all of one space. */
  open(): Promise<Embedder>;
  /** Stops what `setup` started. */
  teardown?(): Promise<void>;
  /** For one case, in ms (20,000). */
  readonly timeoutMs?: number;
  /** Case title -> why. Each runs and must fail; one that passes again breaks the build. */
  readonly knownGaps?: { readonly [title: string]: string };
}

/** Runs the whole contract of `ports/embedder.ts` against one adapter. Call it at the top level of a test file. */
export function embedderConformance(harness: EmbedderHarness): void {
  const gaps = harness.knownGaps ?? {};
  const timeout = harness.timeoutMs ?? 20_000;
  describe(`Embedder: ${harness.name}`, () => {
    let embedder: Embedder;
    beforeAll(async () => {
      await harness.setup?.();
      embedder = await harness.open();
    }, timeout);
    afterAll(() => harness.teardown?.());

    it("names only known gaps that exist", () => {
      expect(Object.keys(gaps).filter((title) => !(title in EMBEDDER_CASES))).toEqual([]);
    });

    for (const [title, run] of Object.entries(EMBEDDER_CASES)) {
      const test = title in gaps ? it.fails : it;
      const shown = title in gaps ? `${title} [known gap: ${gaps[title]}]` : title;
      test(shown, { timeout }, () => run(embedder, () => harness.open()));
    }
  });
}
