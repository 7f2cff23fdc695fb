import { expect, it } from "vitest";
import { createInMemoryStore } from "../../src/adapters/memory/index.ts";
import type { Embedder } from "../../src/index.ts";
import { createMemory } from "../../src/index.ts";

/** An embedder that sees nothing in any text, so that words alone find. */
const blind: Embedder = {
  fingerprint: "blind/2",
  dimensions: 2,
  local: true,
  floor: 0.5,
  embed: async (texts) => texts.map(() => new Float32Array(2)),
};

it.each([
  ["a Chinese word of two characters", "我们下个月搬到成都去住。", "成都"],
  ["one inside a longer word", "她在成都大学读书。", "成都"],
  ["a part of a Japanese compound", "来月、東京駅前で会いましょう。", "東京"],
  ["a part of a word in katakana", "スマートフォンを失くしました。", "フォン"],
  ["a Korean word with another ending", "우리는 제주도에서 결혼했어요.", "제주도"],
  ["the beginning of a Korean compound", "서울역에서 기다릴게요.", "서울"],
])("%s is found by keyword only (stella#388, claude-mem#3801)", async (_what, said, word) => {
  await using memory = await createMemory({ record: createInMemoryStore(), embedder: blind });
  const ann = memory.scope({ user: "ann" });
  for (const other of ["今天很累。", "昨日は雨でした。", "오늘은 바빠요.", "Nothing else."])
    await ann.remember(other);
  await ann.remember(said);
  expect((await ann.recall(word)).items.map(({ text }) => text)).toEqual([said]);
});
