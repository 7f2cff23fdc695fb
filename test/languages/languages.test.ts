import { afterEach, describe, expect, it } from "vitest";
import { createMemory, type ScopedMemory } from "../../src/index.ts";
import { SPOKEN, type Spoken } from "./languages.ts";

let close = async (): Promise<void> => {};
afterEach(() => close());

async function told({ says }: Spoken): Promise<ScopedMemory> {
  const memory = await createMemory({ path: ":memory:" });
  close = () => memory.close();
  const ann = memory.scope({ user: "ann" });
  for (const message of says) await ann.remember(message);
  return ann;
}

/** The messages as they are kept, in the order of their text. */
async function kept(ann: ScopedMemory): Promise<string[]> {
  const texts: string[] = [];
  for await (const line of ann.export()) {
    if (line.type === "message" && "content" in line.message) texts.push(String(line.message.content));
  }
  return texts.sort();
}

const textsOf = ({ items }: { readonly items: readonly { readonly text: string }[] }): string[] =>
  items.map(({ text }) => text);

describe.each(SPOKEN)("in $language", (spoken) => {
  it("what is said is kept word for word, and no English is made of it", async () => {
    const ann = await told(spoken);
    expect(await kept(ann)).toEqual([...spoken.says].sort());
    expect((await ann.list()).items).toEqual([]);
  });

  it("a message is found by one word of it, and the others are not", async () => {
    const ann = await told(spoken);
    expect(textsOf(await ann.recall(spoken.word))).toEqual([spoken.says[0]]);
  });

  it("a question finds it first, and is answered with its words", async () => {
    const ann = await told(spoken);
    expect(textsOf(await ann.recall(spoken.asks))[0]).toBe(spoken.says[0]);
    expect((await ann.answer(spoken.asks)).text).toContain(spoken.says[0].replace(/[.。।។]$/u, ""));
  });

  it("a question is not answered with itself, asked before", async () => {
    const ann = await told(spoken);
    await ann.remember(spoken.asks);
    expect((await ann.answer(spoken.asks)).text).toContain(spoken.says[0].replace(/[.。।។]$/u, ""));
  });

  it("what is forgotten by a word is gone, and the rest stays", async () => {
    const ann = await told(spoken);
    await ann.forget(spoken.forgets);
    expect(textsOf(await ann.recall(spoken.forgets))).toEqual([]);
    expect(textsOf(await ann.recall(spoken.word))).toEqual([spoken.says[0]]);
    const left = await kept(ann);
    expect(left.join("\n").includes(spoken.forgets)).toBe(false);
    expect(left).toEqual(expect.arrayContaining([spoken.says[0], spoken.says[2]]));
  });
});
