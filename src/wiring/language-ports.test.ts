import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../adapters/memory/index.ts";
import { staticEmbedder } from "../adapters/static/index.ts";
import { createMemory } from "../memory.ts";
import type { MemoryOptions } from "../memory-options.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";

const extractor: Extractor = { name: "quiet", local: true, propose: async () => [] };
const model: LanguageModel = {
  name: "a model",
  host: "localhost",
  complete: () => Promise.reject(new Error("Nothing asks it.")),
  stream() {
    throw new Error("Nothing asks it.");
  },
};
const circuit = () => "closed";
const evict = () => {};

/** What an author of an earlier version wrote, who has no compiler that tells. */
const open = (options: object) =>
  createMemory({ record: createInMemoryStore(), ...options } as MemoryOptions);

describe("a part of one's own with an optional method of an earlier version", () => {
  it.each([
    [
      "an embedder's evict",
      { embedder: { ...staticEmbedder(), evict } },
      "evict",
      "cache: { clear() { … } }",
    ],
    [
      "an embedder's letGo",
      { embedder: { ...staticEmbedder(), letGo: evict } },
      "letGo",
      "cache: { clear() { … } }",
    ],
    [
      "an embedder's circuit",
      { embedder: { ...staticEmbedder(), circuit } },
      "circuit",
      "circuit: { state() { … } }",
    ],
    [
      "a named embedder's evict",
      { embedders: { own: { ...staticEmbedder(), evict } } },
      "evict",
      "cache: { clear() { … } }",
    ],
    ["a model's circuit", { model: { ...model, circuit } }, "circuit", "circuit: { state() { … } }"],
    [
      "an extractor's circuit",
      { extractor: { ...extractor, circuit } },
      "circuit",
      "circuit: { state() { … } }",
    ],
    [
      "an extractor's wants",
      { extractor: [{ ...extractor, wants: () => false }] },
      "wants",
      "filter: { accepts(message, earlier) { … } }",
    ],
  ])("is refused with the form of today: %s", async (_name, options, method, form) => {
    await expect(open(options)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(new RegExp(`\\b${method}\\b`)),
    });
    await expect(open(options)).rejects.toThrow(form);
  });

  it("is accepted beside the object of today", async () => {
    const embedder = { ...staticEmbedder(), evict, cache: { clear: evict } };
    await using memory = await open({ embedder });
    await memory.scope({ user: "ann" }).remember("I live in Porto.");
  });
});
