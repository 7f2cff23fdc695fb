import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../adapters/memory/index.ts";
import { openSqliteStore } from "../adapters/sqlite/index.ts";
import { passingSecret, uuidv7 } from "../adapters/system/index.ts";
import type { Trace } from "../domain/receipt.ts";
import { englishAnswerer } from "../language/en/answers/answers.ts";
import { englishForgetRequests } from "../language/en/forget-requests/forget-requests.ts";
import { createNeedReader } from "../language/en/needs/needs.ts";
import { createOutdatedReader } from "../language/en/needs/outdated-statements.ts";
import { englishPhrases as phrases } from "../language/en/phrases.ts";
import { englishProfileWriter } from "../language/en/profile/profile-lines.ts";
import { englishPromptGuard } from "../language/en/prompt-injection/prompt-guard.ts";
import { englishReplies } from "../language/en/replies/replies.ts";
import { englishVocabulary } from "../language/en/vocabulary.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { MemoryStore } from "../ports/memory-store.ts";
import { blankQuestionReader, hashEmbedder, scriptedExtractor } from "../testing/test-doubles.ts";
import { createKeepsake } from "../wiring/keepsake.ts";
import type { Keepsake } from "./api/keepsake.ts";
import type { ScopedMemory } from "./api/scoped-memory.ts";
import type { InputMessage } from "./api/writing-types.ts";
import { finishInterruptedErasures } from "./erase/verify-erasure.ts";
import type { Ports } from "./ports.ts";
import { createUserStates } from "./user-state/user-state.ts";

const RECORDS: readonly (readonly [string, () => Promise<MemoryStore>])[] = [
  ["memory", async () => createInMemoryStore()],
  ["sqlite", () => openSqliteStore({ path: ":memory:" })],
];

let record: MemoryStore;
let now: Date;
let memory: Keepsake;
let ana: ScopedMemory;

function open(over: Partial<Ports> = {}): Keepsake {
  const clock = (): Date => now;
  return createKeepsake(
    {
      store: record,
      embedder: hashEmbedder(),
      extractor: scriptedExtractor(),
      questions: blankQuestionReader(),
      answerer: englishAnswerer({ questions: blankQuestionReader(), embedder: hashEmbedder() }),
      needs: createNeedReader(hashEmbedder()),
      outdated: createOutdatedReader(hashEmbedder()),
      replies: englishReplies,
      profileWriter: englishProfileWriter,
      forgetRequests: englishForgetRequests(blankQuestionReader()),
      promptGuard: englishPromptGuard,
      vocabulary: englishVocabulary,
      clock,
      ids: uuidv7(clock),
      secret,
      states: createUserStates(record, hashEmbedder(), { phrases }),
      ...over,
    },
    { release: async () => {} },
  );
}

let secret = passingSecret();

describe.each(RECORDS)("with a store of %s", (_name, openRecord) => {
  beforeEach(async () => {
    record = await openRecord();
    secret = passingSecret();
    now = new Date("2026-01-01T10:00:00Z");
    memory = open();
    ana = memory.scope({ user: "ana" });
  });

  const later = (): void => {
    now = new Date(now.getTime() + 60_000);
  };
  const current = async (scope = ana): Promise<string[]> =>
    (await scope.list()).items.map(({ text }) => text).sort();

  const passages = async (query: string): Promise<string[]> =>
    (await ana.recall(query, { types: ["passage"] })).items.map(({ text }) => text);

  /** Everything that any read path gives of a user. */
  async function everything(scope = ana): Promise<string> {
    const exported: unknown[] = [];
    for await (const line of scope.export()) exported.push(line);
    const log = await scope.history();
    const all = await scope.list({ status: "all", limit: 1000 });
    const versions = await Promise.all(all.items.map(({ id }) => scope.history(id)));
    const { items: recalled } = await scope.recall("Shram Magnet Porto use", { limit: 100 });
    // Recalls, such as this one, are counted; they change nothing else.
    return JSON.stringify([exported, log, all.items, versions, recalled], (key, value) =>
      key === "usage" ? undefined : value,
    );
  }

  describe("remembering", () => {
    it("keeps the words, and the memories extracted from them, with their source", async () => {
      const receipt = await ana.remember("I use Shram and Magnet as productivity tools.", { session: "s1" });
      expect(receipt.memories.map(({ action }) => action)).toEqual(["added", "added"]);
      expect(receipt.revision).toBe(1);
      const [first] = (await ana.list()).items;
      expect(first?.sources[0]).toMatchObject({
        message: receipt.messages[0],
        session: "s1",
        role: "user",
        start: 0,
      });
    });

    it("stores a message with a known id once", async () => {
      const message: InputMessage = { id: "m-1", role: "user", content: "I use Shram." };
      const first = await ana.remember(message);
      const second = await ana.remember({ ...message, content: "I use Magnet." });
      expect(second).toMatchObject({ messages: ["m-1"], memories: [], revision: first.revision });
      expect(await current()).toEqual(["The user uses Shram."]);
    });

    it("names the invalid message of a batch by its number, and stores none", async () => {
      const batch = Array.from({ length: 1000 }, (_, i) => ({
        role: "user" as const,
        content: "I use Shram.",
        ...(i === 616 ? { id: "\u0000" } : {}),
      }));
      await expect(ana.remember(batch)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("message 617 of 1000"),
      });
      expect(await ana.history()).toEqual([]);
    });

    it("gives the same answer under the same idempotency key, and refuses another body under it", async () => {
      const first = await ana.remember("I use Shram.", { idempotencyKey: "k" });
      const again = await ana.remember("I use Shram.", { idempotencyKey: "k" });
      expect(again).toEqual(first);
      await expect(ana.remember("I use Magnet.", { idempotencyKey: "k" })).rejects.toMatchObject({
        code: "conflict",
      });
      expect(await current()).toEqual(["The user uses Shram."]);
    });

    it("reads pending messages later, and resumes after the memory is reopened", async () => {
      const receipt = await ana.remember("I use Shram.", { extract: "later" });
      expect(receipt).toMatchObject({ memories: [], pending: 1 });
      await memory.close();
      memory = open();
      ana = memory.scope({ user: "ana" });
      await ana.remember("I use Magnet.");
      await expect.poll(() => current()).toEqual(["The user uses Magnet.", "The user uses Shram."]);
    });

    it("loses none of fifty concurrent writes", async () => {
      const other = open().scope({ user: "ana" });
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          (i % 2 ? ana : other).remember({ id: `m${i}`, role: "user", content: `I use Tool${i}.` }),
        ),
      );
      expect(await current()).toHaveLength(50);
      expect((await ana.history(undefined, { limit: 100 })).length).toBe(50);
    });

    it("keeps users and projects apart", async () => {
      await ana.remember("I use Shram.");
      expect(await current(memory.scope({ user: "bob" }))).toEqual([]);
      expect(await current(memory.scope({ user: "ana", project: "other" }))).toEqual([]);
      const [held] = (await ana.list()).items;
      await expect(memory.scope({ user: "bob" }).get(held?.id ?? "")).rejects.toMatchObject({
        code: "not_found",
      });
    });
  });

  describe("changing", () => {
    it("supersedes outdated memories and keeps them in the history", async () => {
      await ana.remember("I use Shram and Magnet as productivity tools.");
      later();
      const receipt = await ana.remember("I don't use Magnet anymore.");
      expect(receipt.memories).toMatchObject([{ action: "superseded" }]);
      expect(await current()).toEqual(["The user uses Shram."]);
      const versions = await ana.history(receipt.memories[0]?.id ?? "");
      expect(versions.map(({ status }) => status)).toEqual(["current", "superseded"]);
    });

    it("undo reverts a revision, and undo of the undo restores it", async () => {
      await ana.remember("I live in Leeds.");
      later();
      const moved = await ana.remember("I live in Bristol.");
      const undone = await ana.undo(moved.revision);
      expect(await current()).toEqual(["The user live ins Leeds."]);
      expect(await passages("Bristol")).not.toContain("I live in Bristol.");
      await ana.undo(undone.revision);
      expect(await current()).toEqual(["The user live ins Bristol."]);
      expect(await passages("Bristol")).toContain("I live in Bristol.");
    });

    it("undo refuses memories changed later, and unknown revisions", async () => {
      const first = await ana.remember("I use Magnet.");
      await ana.remember("I don't use Magnet anymore.");
      await expect(ana.undo(first.revision)).rejects.toMatchObject({ code: "conflict" });
      await expect(ana.undo(99)).rejects.toMatchObject({ code: "not_found" });
    });

    it("changes and removes by hand, with history", async () => {
      const { memories } = await ana.remember("I use Shram.");
      const id = memories[0]?.id ?? "";
      await ana.update(id, { text: "The user uses Shram daily.", importance: 0.9 });
      expect(await current()).toEqual(["The user uses Shram daily."]);
      const removed = await ana.remove(id);
      expect(await current()).toEqual([]);
      await ana.undo(removed.revision);
      expect(await current()).toEqual(["The user uses Shram daily."]);
      expect((await ana.history(id)).map(({ action }) => action)).toEqual([
        "added",
        "updated",
        "retracted",
        "restored",
      ]);
    });
  });

  describe("forgetting", () => {
    beforeEach(async () => {
      await ana.remember("I use Shram and Magnet as productivity tools. The sky is grey.", { session: "s1" });
      later();
      await ana.remember({ role: "assistant", content: "Magnet is a window manager. Nice weather!" });
      later();
      await ana.remember("I don't use Magnet anymore.");
      later();
    });

    it("erases the matching words from every place, and leaves the rest", async () => {
      const receipt = await ana.remember("Forget Magnet.");
      const text = await everything();
      expect(text).not.toMatch(/magnet/i);
      expect(text).toContain("I use Shram and […] as productivity tools.");
      expect(text).toContain("Nice weather!");
      expect(await current()).toEqual(["The user uses Shram."]);
      expect(receipt.erasures).toHaveLength(1);
      expect(receipt.erasures?.[0]).toMatchObject({
        complete: true,
        erased: { memories: 1, messages: 4, emptied: 2 },
      });
    });

    it("every quote of a memory matches its message", async () => {
      await ana.forget("Magnet");
      for (const { sources } of (await ana.list({ status: "all" })).items) {
        for (const { message, start, end, quote } of sources) {
          const held = (await record.since({ project: "default", user: "ana" }, 0)).messages.find(
            ({ id }) => id === message,
          );
          expect(held?.content.slice(start, end)).toBe(quote);
        }
      }
    });

    it("previews a plan that erases nothing", async () => {
      const before = await everything();
      const plan = await ana.forget("Forget Magnet.", { dryRun: true });
      expect(plan.memories.map(({ text }) => text)).toEqual(["The user uses Magnet."]);
      expect(plan.messages.flatMap(({ words }) => words)).toEqual([
        "Magnet",
        "Magnet is a window manager.",
        "I don't use Magnet anymore.",
      ]);
      expect(await everything()).toBe(before);
    });

    it("erased content is not learnt again until the user says it again", async () => {
      await ana.forget("Magnet");
      later();
      await ana.remember({ role: "user", content: "I use Magnet.", at: "2026-01-01T10:00:00Z" });
      await ana.remember({ role: "assistant", content: "You use Magnet. Right?" });
      expect(await everything()).not.toMatch(/magnet/i);
      await ana.remember("I use Magnet.");
      expect(await current()).toContain("The user uses Magnet.");
    });

    it("chains and signs its receipts", async () => {
      await ana.forget("Magnet");
      await ana.forget("Shram");
      await memory.scope({ user: "bob" }).remember("I use Magnet.");
      await memory.scope({ user: "bob" }).forget({ everything: true });
      const { receipts, broken } = await memory.audit();
      expect(broken).toEqual([]);
      expect(receipts).toHaveLength(3);
      expect(receipts[1]?.previous).toBe(receipts[0]?.hash);
      secret = passingSecret();
      expect((await open().audit()).broken).toHaveLength(3);
    });

    it("forgets by id, by session, by metadata, and everything; and refuses an empty filter", async () => {
      const bob = memory.scope({ user: "bob" });
      await bob.remember({ role: "user", content: "I use Alpha.", metadata: { topic: "x" } });
      await bob.remember("I use Beta.", { session: "s2" });
      const { memories } = await bob.remember("I use Gamma.");
      await bob.remember("I use Delta.");
      await expect(bob.forget({ where: {} })).rejects.toMatchObject({ code: "invalid_input" });
      await expect(bob.forget({ ids: ["nobody"] })).rejects.toMatchObject({ code: "not_found" });
      await bob.forget({ where: { topic: "x" } });
      await bob.forget({ session: "s2" });
      await bob.forget({ ids: [memories[0]?.id ?? ""] });
      expect(await current(bob)).toEqual(["The user uses Delta."]);
      await bob.forget({ everything: true });
      expect(await everything(bob)).not.toMatch(/alpha|beta|gamma|delta/i);
      expect(await current()).toEqual(["The user uses Shram."]);
    });

    it("gives an empty receipt when nothing matches, and stores none", async () => {
      const receipt = await ana.forget("Zebra");
      expect(receipt.erased).toMatchObject({ memories: 0, messages: 0 });
      expect((await memory.audit()).receipts).toEqual([]);
    });

    it("erases the content of an idempotent answer", async () => {
      await ana.remember("I use Magnet and Pencil.", { idempotencyKey: "k" });
      await ana.forget("Pencil");
      const again = await ana.remember("I use Magnet and Pencil.", { idempotencyKey: "k" });
      expect(JSON.stringify(again)).not.toMatch(/pencil/i);
    });

    it("an erasure interrupted before verification is completed at the next start, and its receipt says so", async () => {
      const broken = open({
        store: {
          ...record,
          erasures: { ...record.erasures, scrub: () => Promise.reject(new Error("killed")) },
        },
      });
      await expect(broken.scope({ user: "ana" }).forget("Magnet")).rejects.toThrow("killed");
      expect((await memory.audit()).receipts[0]).toMatchObject({ complete: false, verified: [] });
      expect(await finishInterruptedErasures({ store: record, secret, clock: () => now })).toBe(1);
      expect(await finishInterruptedErasures({ store: record, secret, clock: () => now })).toBe(0);
      const { receipts, broken: faults } = await memory.audit();
      expect(receipts[0]?.verified).toMatchObject([{ found: 0 }]);
      expect(faults.map(({ problem }) => problem)).toEqual(["it was not verified to the end"]);
      expect(await everything()).not.toMatch(/magnet/i);
    });

    it("is complete where the same is said again before it was verified, and what is said again stays", async () => {
      await ana.remember("What do I use for work?");
      const appended: Trace[] = [];
      const ledger: Ledger = {
        append: async (traces) => {
          appended.push(...traces);
          await ana.remember("What do I use for work?");
        },
        read: async () => ({ traces: appended, damaged: 0 }),
        receipts: async () => new Set(appended.map(({ receipt: id }) => id)),
      };
      const receipt = await open({ ledger }).scope({ user: "ana" }).forget({ everything: true });
      expect(appended).toHaveLength(1);
      expect([receipt.complete, receipt.verified.filter(({ found }) => found > 0)]).toEqual([true, []]);
      expect(await everything()).toContain("What do I use for work?");
      expect((await memory.audit()).broken).toEqual([]);
    });

    it("cannot be undone", async () => {
      const { revision } = await ana.forget("Magnet");
      await expect(ana.undo(revision)).rejects.toMatchObject({ code: "unsupported" });
    });

    it("erases only the message that is not to be remembered", async () => {
      await ana.remember("Forget this, my code is 44719365.");
      expect(await everything()).not.toContain("44719365");
      expect(await current()).toEqual(["The user uses Shram."]);
    });
  });

  describe("importing", () => {
    it("imports a conversation once, and erases nothing", async () => {
      await ana.remember("I use Shram.");
      const source: InputMessage[] = Array.from({ length: 450 }, (_, i) => ({
        id: `i${i}`,
        role: "user",
        content: i === 100 ? "Forget Shram." : `I use Tool${i}.`,
        at: "2023-05-01T00:00:00Z",
      }));
      let last: unknown;
      for await (const progress of ana.import(source)) last = progress;
      expect(last).toMatchObject({ read: 450, stored: 450, known: 0, done: true });
      for await (const progress of ana.import(source)) last = progress;
      expect(last).toMatchObject({ read: 450, stored: 0, known: 450 });
      expect(await current()).toContain("The user uses Shram.");
    });
  });
});
