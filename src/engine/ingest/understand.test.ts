import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { modelExtractor } from "../../adapters/model/index.ts";
import { MemoryError } from "../../errors.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { Prompt } from "../../ports/language/language-model.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import {
  itemsAnswer,
  type ModelItem,
  type Says,
  type ScriptedModel,
  scriptedModel,
  turnNumber,
} from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let record: MemoryStore;
let model: ScriptedModel;
let says: Says;
let opened: Keepsake[];

beforeEach(() => {
  record = createInMemoryStore();
  opened = [];
  says = () => itemsAnswer();
  model = scriptedModel((prompt, options) => says(prompt, options));
});
afterEach(() => Promise.all(opened.map((one) => one.close())));

async function open(options: MemoryOptions = {}): Promise<Keepsake> {
  const memory = await createMemory({ record, model, ...options });
  opened.push(memory);
  return memory;
}
const ana = async (options: MemoryOptions = {}): Promise<ScopedMemory> =>
  (await open(options)).scope({ user: "ana" });

const shown = ({ turns }: Prompt): string => turns.at(-1)?.content ?? "";
/** A model that knows what one sentence says. */
const knows =
  (words: string, ...items: readonly Partial<ModelItem>[]): Says =>
  (prompt) => {
    const turn = turnNumber(shown(prompt), words);
    return turn === 0 ? itemsAnswer() : itemsAnswer(...items.map((item) => ({ turn, ...item })));
  };
const texts = async (memory: ScopedMemory): Promise<string[]> =>
  (await memory.list()).items.map(({ text }) => text).sort();

/** What no rule reads. */
const PARROT = "The parrot answers to Zed, mostly.";
const ZED = { quote: "parrot answers to Zed", who: "user/parrot", verb: "be called", what: "Zed" } as const;

describe("rules and a model together", () => {
  it("extract memories: the rules at once, the model later", async () => {
    says = knows(PARROT, ZED);
    const memory = await ana();
    const receipt = await memory.remember(`I use Shram. ${PARROT}`);
    expect(receipt).toMatchObject({ memories: [{ text: "The user uses Shram." }], pending: 1 });
    expect(model.asked).toEqual([]);
    expect(await memory.understand()).toMatchObject({
      read: 1,
      memories: [{ action: "added", text: "The user's parrot is called Zed." }],
      pending: 0,
    });
    const [zed] = (await memory.list()).items;
    expect(zed?.sources[0]).toMatchObject({ quote: "parrot answers to Zed", role: "user" });
    expect(await memory.understand()).toMatchObject({ read: 0, memories: [] });
    expect(model.asked).toHaveLength(1);
  });

  it("make one memory of the same words, and count it once", async () => {
    says = knows(
      "I use Shram",
      { quote: "I use Shram for my notes", what: "Shram", how: "for my notes" },
      { quote: "I use Shram", verb: "work with", what: "Shram" },
    );
    const memory = await ana();
    await memory.remember("I use Shram for my notes.");
    const before = (await memory.list()).items;
    expect((await memory.understand()).memories).toEqual([]);
    expect((await memory.list()).items).toEqual(before);
    expect(before).toMatchObject([{ evidence: 1, version: 1 }]);
  });

  it("count a statement twice when it is said twice", async () => {
    says = knows("Shram it is", { quote: "Shram it is", what: "Shram" });
    const memory = await ana();
    await memory.remember("I use Shram.");
    await memory.remember("Shram it is, as ever.");
    await memory.understand();
    expect((await memory.list()).items).toMatchObject([{ evidence: 2 }]);
  });

  it("read a batch at once, session by session, and skip small talk", async () => {
    const memory = await ana();
    for (const content of ["thanks!", PARROT, "ok", "About the shed: leaks, again.", "What is rust?"]) {
      await memory.remember(content, { session: "one" });
    }
    await memory.remember("Tea goes on the top shelf.", { session: "two" });
    expect(await memory.understand()).toMatchObject({ read: 3 });
    expect(model.asked).toHaveLength(2);
    expect(model.asked.map(({ units }) => units)).toEqual([2, 1]);
  });

  it("read imported messages, and messages left for later", async () => {
    says = knows(PARROT, ZED);
    const memory = await ana();
    await memory.remember(`I live in Porto. ${PARROT}`, { extract: "later" });
    await expect
      .poll(() => texts(memory))
      .toEqual(["The user lives in Porto.", "The user's parrot is called Zed."]);
  });
});

describe("a model", () => {
  it("has its proposals ignored for a message that was undone, changed or erased", async () => {
    says = knows("I use Shram", { quote: "I use Shram", what: "Shram" });
    const memory = await ana();
    const { memories } = await memory.remember("I use Shram.");
    await memory.remove(memories[0]?.id ?? "");
    expect((await memory.understand()).memories).toEqual([]);
    const { revision } = await memory.remember(PARROT);
    await memory.undo(revision);
    expect((await memory.understand()).read).toBe(0);
    expect(await texts(memory)).toEqual([]);
  });

  it("restores nothing that was erased during its call", async () => {
    const memory = await ana();
    says = async (prompt, options) => {
      await memory.forget("Zed");
      return knows(PARROT, ZED)(prompt, options);
    };
    await memory.remember(PARROT);
    await memory.understand();
    expect(JSON.stringify((await memory.list({ status: "all" })).items)).not.toContain("Zed");
    const { items } = await memory.recall("parrot Zed");
    expect(JSON.stringify(items)).not.toContain("Zed");
  });

  it("is not awaited by a message that was erased before its call", async () => {
    const memory = await ana();
    const { messages } = await memory.remember(PARROT);
    await memory.forget({ ids: messages });
    expect(await memory.understand()).toMatchObject({ pending: 0, memories: [] });
    expect(model.asked).toEqual([]);
  });

  it("erases nothing, whatever it says; the user's own request is executed at once", async () => {
    const memory = await ana();
    await memory.remember("I use Magnet.");
    says = knows("that name", { do: "forget", quote: "Magnet, that name" });
    await memory.remember("Magnet, that name, I would rather not see.");
    expect((await memory.understand()).memories).toMatchObject([
      { action: "refused", why: expect.stringContaining("erases nothing") },
    ]);
    expect(await texts(memory)).toEqual(["The user uses Magnet."]);
    const { erasures } = await memory.remember("Forget that I ever mentioned Magnet.");
    expect(erasures).toMatchObject([{ complete: true }]);
    expect(await texts(memory)).toEqual([]);
  });

  it("ends what it names by number, one or a few, and not more than three in one message", async () => {
    const memory = await ana();
    for (const tool of ["Shram", "Magnet", "Linear", "Notion", "Trello"])
      await memory.remember(`I use ${tool}.`);
    await memory.understand();
    const all = (count: number): Says =>
      knows(
        "of the window",
        ...Array.from({ length: count }, (_, i) => ({
          do: "end" as const,
          quote: "Out of the window",
          old: i + 1,
        })),
      );
    says = all(5);
    await memory.remember("Out of the window with those.");
    expect((await memory.understand()).memories).toMatchObject([
      { action: "refused", why: expect.stringContaining("5 memories at once") },
    ]);
    expect(await texts(memory)).toHaveLength(5);
    says = all(2);
    await memory.remember("Out of the window with two of them.");
    expect((await memory.understand()).memories).toMatchObject([
      { action: "superseded", text: "The user uses Shram." },
      { action: "superseded", text: "The user uses Magnet." },
    ]);
    says = knows(
      "Everything moved",
      ...[1, 2, 3].map((old) => ({ quote: "Everything moved", what: "Everything", old })),
      {
        quote: "Everything moved",
        do: "end" as const,
        old: 1,
      },
    );
    await memory.remember("Everything moved to Everything.");
    await memory.understand();
    expect(await texts(memory)).toEqual(["The user uses Everything."]);
  });

  it("ends more than three only after the user's confirmation", async () => {
    const sweep: Says = (prompt) => {
      const turn = turnNumber(shown(prompt), "of the window");
      const quote = "Out of the window";
      return itemsAnswer(
        ...(turn === 0 ? [] : [1, 2, 3, 4].map((old) => ({ turn, do: "end" as const, quote, old }))),
      );
    };
    for (const [yes, left] of [
      ["Yes, do it.", 0],
      ["No.", 4],
      ["I like tea.", 4],
    ] as const) {
      record = createInMemoryStore();
      const memory = await ana();
      for (const tool of ["Shram", "Magnet", "Linear", "Notion"]) await memory.remember(`I use ${tool}.`);
      says = sweep;
      await memory.remember("Out of the window with those.");
      expect((await memory.understand()).memories).toMatchObject([{ action: "refused" }]);
      await memory.remember(yes);
      await memory.understand();
      expect((await texts(memory)).filter((text) => text.includes("uses"))).toHaveLength(left);
    }
  });

  it("learns nothing without a valid quote, and nothing from the assistant", async () => {
    says = knows(PARROT, { quote: "The cat is Quixote", what: "parrot" });
    const memory = await ana();
    await memory.remember([
      { role: "user", content: PARROT },
      { role: "assistant", content: "You use Shram, I take it." },
    ]);
    expect(await memory.understand()).toMatchObject({
      read: 1,
      memories: [{ action: "refused", why: "the quote is not in the message" }],
    });
    expect(await texts(memory)).toEqual([]);
  });

  it("reads alone what the rules would; requests to forget are still executed at once", async () => {
    says = knows("I use Shram", { quote: "I use Shram", what: "Shram" });
    const memory = await ana({ extractor: "model" });
    expect(await memory.remember("I use Shram.")).toMatchObject({ memories: [], pending: 1 });
    await memory.understand();
    expect(await texts(memory)).toEqual(["The user uses Shram."]);
    await memory.remember("Forget Shram.");
    expect(await texts(memory)).toEqual([]);
  });

  it("is required when configured, and not called when rules suffice", async () => {
    await expect(createMemory({ record, extractor: "both" })).rejects.toMatchObject({
      code: "invalid_input",
    });
    const memory = await ana({ extractor: "rules" });
    expect(await memory.remember(PARROT)).toMatchObject({ pending: 0 });
    await memory.understand();
    expect(model.asked).toEqual([]);
  });
});

describe("two processes at once", () => {
  it("decide again on the other's result, without another call", async () => {
    const other = (await open({ extractor: "rules" })).scope({ user: "ana" });
    const scope = { project: "default", user: "ana" };
    let conflicts = 0;
    const plain = record;
    record = {
      ...plain,
      async commit(whose, changes) {
        if (changes.cause === "digest" && conflicts < 2) {
          conflicts += 1;
          await other.remember(`I own ${conflicts} boats.`);
        }
        return plain.commit(whose, changes);
      },
    };
    says = knows("the north", { quote: "the north", verb: "live in", what: "the north" });
    const memory = await ana();
    await memory.remember("It is quiet here, in the north.");
    expect(await memory.understand()).toMatchObject({ read: 1, memories: [{ action: "added" }] });
    expect(conflicts).toBe(2);
    expect(model.asked).toHaveLength(1);
    expect(await texts(memory)).toContain("The user lives in the north.");
    expect(await plain.check()).toEqual([]);
    expect(await plain.revision(scope)).toBe(4);
  });

  it("read one message once", async () => {
    says = knows(PARROT, ZED);
    const memory = await ana();
    await memory.remember(PARROT);
    const [one, two] = await Promise.all([memory.understand(), memory.understand()]);
    expect([one.read, two.read]).toEqual([1, 0]);
    expect(model.asked).toHaveLength(1);
  });
});

describe("a failing model", () => {
  it("leaves extraction to the rules and messages pending; nothing is lost after it recovers", async () => {
    says = () => new MemoryError("unavailable", "the model's server is down.");
    const memory = await ana();
    const receipt = await memory.remember(`I use Shram. ${PARROT}`);
    expect(receipt).toMatchObject({ memories: [{ action: "added" }], pending: 1 });
    expect(await memory.understand()).toMatchObject({
      read: 0,
      pending: 1,
      problem: "the model's server is down.",
    });
    expect((await memory.answer("What tools do I use?")).text).toContain("Shram");
    says = knows(PARROT, ZED);
    expect(await memory.understand()).toMatchObject({ read: 1, pending: 0 });
    expect(await texts(memory)).toEqual(["The user uses Shram.", "The user's parrot is called Zed."]);
  });

  it("is tried again at the next start after a process ended in the middle of a call", async () => {
    says = () => new Promise(() => {});
    const first = await open();
    await first.scope({ user: "ana" }).remember(PARROT);
    const reading = first.scope({ user: "ana" }).understand({ signal: AbortSignal.timeout(20) });
    await expect(reading).rejects.toMatchObject({ name: "TimeoutError" });
    says = knows(PARROT, ZED);
    const memory = await ana({ extractor: [modelExtractor(model, { lingerMs: 0 })] });
    expect(await memory.understand()).toMatchObject({ read: 1 });
    expect(await texts(memory)).toEqual(["The user's parrot is called Zed."]);
  });

  it("on one message does not delay the others; that message is tried three times and stays pending", async () => {
    says = (prompt) => (turnNumber(shown(prompt), "shed") > 0 ? "???" : knows(PARROT, ZED)(prompt, {}));
    const memory = await ana();
    await memory.remember("About the shed: leaks, again.");
    await memory.remember(PARROT);
    for (let i = 0; i < 5; i += 1) {
      expect(await memory.understand()).toMatchObject({
        pending: 1,
        problem: "the model gave no usable answer about 1 message; it stays pending.",
      });
    }
    expect(await texts(memory)).toEqual(["The user's parrot is called Zed."]);
    expect(model.asked.filter((prompt) => turnNumber(shown(prompt), "shed") > 0)).toHaveLength(4);
  });

  it("is not asked again about a message that it refuses", async () => {
    says = () => ({ text: "", finish: "refused" });
    const memory = await ana();
    await memory.remember(PARROT);
    expect(await memory.understand()).toMatchObject({ pending: 0 });
    expect((await memory.recall("parrot")).items[0]?.text).toBe(PARROT);
  });

  it("is reported in the receipt: a used-up budget, a server that is down", async () => {
    const memory = await ana({
      extractor: [{ ...modelExtractor(model), circuit: { state: () => "open" } }],
    });
    expect(await memory.remember(PARROT)).toMatchObject({ pending: 1, hindered: "unavailable" });
    const spent = await ana({ costs: { budgets: { user: { day: { tokens: 0 } } } } });
    expect(await spent.remember("About the shed: leaks, again.")).toMatchObject({ hindered: "over_quota" });
  });

  it("does not affect a program on the same store without a model, which leaves pending messages to the other", async () => {
    says = knows(PARROT, ZED);
    const memory = await ana();
    await memory.remember(`I use Shram. ${PARROT}`);
    const without = await ana({ extractor: "rules" });
    expect(await without.understand()).toMatchObject({ read: 0, pending: 1 });
    expect((await without.list()).items).toMatchObject([{ version: 1, evidence: 1 }]);
    expect(await memory.understand()).toMatchObject({ read: 1, pending: 0 });
  });
});

describe("background extraction", () => {
  it("reads several messages together a moment after the write", async () => {
    says = knows(PARROT, ZED);
    const memory = await ana({ extractor: [modelExtractor(model, { lingerMs: 60 })] });
    await memory.remember("About the shed: leaks, again.");
    await memory.remember(PARROT);
    await expect.poll(() => texts(memory), { timeout: 5000 }).toEqual(["The user's parrot is called Zed."]);
    expect(model.asked).toHaveLength(1);
  });
});
