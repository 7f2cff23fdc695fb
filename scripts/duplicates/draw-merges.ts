// Draws pairs of memories that would be merged, for a reader to judge:
// node scripts/duplicates/draw-merges.ts [--data DIR] [--messages N] [--most N] [--seed N]
// Messages of PersonaExt, LoCoMo, REALTALK and LongMemEval are remembered, each by itself. The memories of all of them are
// compared as if one person had said them all, so that more pairs are near. Prints a merge a line: its number, the similarity, and the
// two texts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Memory } from "../../src/domain/memory.ts";
import { createMemory } from "../../src/index.ts";
import { toMeaningKey } from "../../src/language/en/paraphrases/meaning-key.ts";
import { readChats } from "../forgetting/chats.ts";

const { values: options } = parseArgs({
  options: {
    data: { type: "string", default: "../shared/data" },
    messages: { type: "string", default: "30000" },
    most: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
  },
});

/** A generator of numbers from 0 to 1 (mulberry32). */
function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffle<T>(some: readonly T[], draw: () => number): T[] {
  return some
    .map((one) => ({ one, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

const draw = createDraw(Number(options.seed));
const utterances = readFileSync(join(options.data, "personaext", "pairs.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => (JSON.parse(line) as { utterance: string }).utterance);
const said = readChats(options.data, "all").flatMap(({ messages }) =>
  messages.filter(({ role, name }) => role === "user" || name !== undefined).map(({ content }) => content),
);
const texts = [...new Set([...utterances, ...shuffle(said, draw)])].slice(0, Number(options.messages));

const memory = await createMemory({ path: ":memory:" });
const memories = new Map<string, Memory>();
for (const [i, content] of texts.entries()) {
  const scope = memory.scope({ user: `u${i}` });
  await scope.remember([{ role: "user", content }], { session: "s" });
  for await (const one of scope.list()) memories.set(one.text, one);
}
await memory.close();

const groups = Map.groupBy(memories.values(), (one) => toMeaningKey(one));
groups.delete(undefined);
const embedder = staticEmbedder();
const floor = embedder.duplicateFloor ?? 1;
const pairs: string[] = [];
for (const group of groups.values()) {
  const [into, ...others] = shuffle(group, draw);
  if (!into || others.length === 0) continue;
  const [first, ...vectors] = await embedder.embed([into, ...others].map(({ text }) => text));
  for (const [i, { text }] of others.entries()) {
    const similarity = first?.reduce((sum, part, k) => sum + part * (vectors[i]?.[k] ?? 0), 0) ?? 0;
    if (similarity >= floor) pairs.push([similarity.toFixed(2), into.text, text].join(" | "));
  }
}
console.error(
  `${texts.length} messages, ${memories.size} memories, ${pairs.length} would be merged into another`,
);
for (const [i, pair] of shuffle(pairs, draw).slice(0, Number(options.most)).entries())
  console.log(`${i + 1} | ${pair}`);
