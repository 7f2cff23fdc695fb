import { expect, it } from "vitest";
import { openEmbedder } from "./memory-from-settings.ts";
import { readSettings } from "./settings.ts";

it("creates the named embedder", async () => {
  const openai = await openEmbedder({ name: "openai", apiKey: "sk-1", dimensions: 256, patienceMs: 700 });
  expect(openai).toMatchObject({
    fingerprint: "openai/text-embedding-3-small/256",
    patienceMs: 700,
    local: false,
  });
  const other = {
    name: "openai",
    baseUrl: "http://localhost:11434/v1",
    model: "bge-m3",
    dimensions: 1024,
  } as const;
  expect(await openEmbedder(other)).toMatchObject({ fingerprint: "openai/bge-m3/1024" });
  expect(await openEmbedder({ name: "minilm" })).toMatchObject({
    fingerprint: "all-minilm-l6-v2-q8/384",
    local: true,
  });
});

it("supports Azure's older API", () => {
  const azure = { OPENAI_BASE_URL: "https://ana.openai.azure.com", OPENAI_API_VERSION: "2024-10-21" };
  expect(readSettings({ ...azure, KEEPSAKE_EMBEDDER: "openai", OPENAI_API_KEY: "k" }).embedder).toMatchObject(
    { apiVersion: "2024-10-21" },
  );
});

it("names a missing or invalid setting", async () => {
  await expect(openEmbedder({ name: "openai" })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^OPENAI_API_KEY: /),
  });
  await expect(openEmbedder({ name: "openai", apiKey: "sk-1", model: "bge-m3" })).rejects.toMatchObject({
    message: expect.stringMatching(/^KEEPSAKE_EMBEDDING_DIMENSIONS: /),
  });
});
