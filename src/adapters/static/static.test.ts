import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { toWordPieces } from "../../language/en/embedding/sentence-vectors.ts";
import { embedderConformance } from "../../testing/embedder-conformance.ts";
import { staticEmbedder } from "./index.ts";

const assets = join(import.meta.dirname, "../../../assets");
const embedder = staticEmbedder();
const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
  Array.from(a ?? []).reduce((sum, part, i) => sum + part * (b?.[i] ?? 0), 0);

async function nearness(one: string, other: string): Promise<number> {
  const [a, b] = await embedder.embed([one, other]);
  return cosine(a, b);
}

embedderConformance({ name: "static", open: async () => staticEmbedder() });

it("gives one unit vector per text, in order, and the same for the same text", async () => {
  const texts = ["I use Shram.", "The cat sleeps.", "I use Shram."];
  const vectors = await embedder.embed(texts);
  expect(vectors).toHaveLength(3);
  for (const vector of vectors) {
    expect(vector).toHaveLength(embedder.dimensions);
    expect(cosine(vector, vector)).toBeCloseTo(1, 5);
  }
  expect(vectors[0]).toEqual(vectors[2]);
  expect(vectors[0]).not.toEqual(vectors[1]);
});

it.each([
  ["my dog was ill", "the puppy got sick", "we painted the kitchen"],
  ["Where do I work?", "She got a new job at the bank", "The soup needs more salt"],
  ["What car do I drive?", "I bought a second-hand Volvo estate, great vehicle", "I planted tulips"],
  ["favourite music", "we listened to jazz at the concert", "the flight leaves from gate five"],
])("scores %j nearer to %j than to %j", async (text, near, far) => {
  expect(await nearness(text, near)).toBeGreaterThan((await nearness(text, far)) + 0.05);
});

it("ignores case, accents and punctuation", async () => {
  expect(await nearness("Café in PORTO!", "cafe in porto !")).toBeCloseTo(1, 5);
});

it.each([
  ["nothing", ""],
  ["white space", " \n"],
  ["an emoji", "🦄"],
  ["half a pair", "\ud83e"],
  ["Chinese", "我住在波尔图"],
])("gives a vector for %s", async (_name, text) => {
  const [vector] = await embedder.embed([text]);
  expect(vector?.every(Number.isFinite)).toBe(true);
});

it("embeds a megabyte quickly", async () => {
  const start = performance.now();
  await embedder.embed(["word ".repeat(200_000), "x".repeat(1_000_000)]);
  expect(performance.now() - start).toBeLessThan(3000);
});

it("cuts words into the longest known pieces, and leaves out words that cannot be cut", () => {
  const pieces = ["un", "unhappy", "##like", "##ly", "!"];
  const vocabulary = new Map(pieces.map((piece, row) => [piece, row]));
  expect(toWordPieces("Unlikely, unhappy! xyz unzip", vocabulary)).toEqual([0, 2, 3, 1, 4]);
});

it("has a table of less than 8 MB", () => {
  const files = readdirSync(assets).filter((file) => file.startsWith("static-minilm."));
  const bytes = files.reduce((sum, file) => sum + statSync(join(assets, file)).size, 0);
  expect(bytes).toBeLessThan(8_000_000);
});

it("refuses a damaged table with advice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-assets-"));
  try {
    cpSync(assets, folder, { recursive: true });
    const table = readFileSync(join(folder, "static-minilm.bin"));
    table.writeInt8(table.readInt8(1_000_000) ^ 1, 1_000_000);
    writeFileSync(join(folder, "static-minilm.bin"), table);
    const damaged = staticEmbedder({ folder: pathToFileURL(`${folder}/`) });
    await expect(damaged.embed(["text"])).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringContaining("again"),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
