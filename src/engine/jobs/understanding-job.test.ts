import { afterEach, beforeEach, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { Extractor } from "../../ports/language/extractor.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { scriptedExtractor } from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";

/** What runs in the background has time, on a machine that is busy too. */
const PATIENT = { timeout: 10_000 };

let record: MemoryStore;
let opened: Keepsake[] = [];
beforeEach(() => {
  record = createInMemoryStore();
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

async function open(): Promise<Keepsake> {
  const memory = await createMemory({ record, extractor: scriptedExtractor() });
  opened.push(memory);
  return memory;
}

/** What a crash leaves behind: stored, and read by nobody. */
async function leave(user: string, content: string, digest: "pending" | "never" = "pending"): Promise<void> {
  const scope = { project: "default", user };
  const base = await record.revision(scope);
  await record.commit(
    scope,
    makeChangeSet({ base, messages: [makeMessage(`m${base}`, { content, digest })] }),
  );
}

const texts = async (memory: Keepsake, user: string): Promise<string[]> =>
  (await memory.scope({ user }).list()).items.map(({ text }) => text);

it("messages of every user left by a crash are read after the next start", async () => {
  await leave("ann", "I use Shram.");
  await leave("bob", "I live in Porto.");
  const memory = await open();
  await expect.poll(() => texts(memory, "bob"), PATIENT).toEqual(["The user live ins Porto."]);
  await expect.poll(() => texts(memory, "ann"), PATIENT).toEqual(["The user uses Shram."]);
  const job = async (): Promise<unknown> => (await memory.jobs())[0];
  await expect.poll(job, PATIENT).toMatchObject({ name: "understanding", done: 2, left: 0, attempts: 0 });
});

it("messages stored for later extraction are read although they are new", async () => {
  const memory = await open();
  const receipt = await memory.scope({ user: "ann" }).remember("I use Shram.", { extract: "later" });
  expect(receipt.pending).toBe(1);
  await expect.poll(() => texts(memory, "ann"), PATIENT).toEqual(["The user uses Shram."]);
});

it("messages stored with extraction off stay unread", async () => {
  await leave("ann", "I use Magnet.", "never");
  await leave("ann", "I use Shram.");
  const memory = await open();
  await expect.poll(() => texts(memory, "ann"), PATIENT).toEqual(["The user uses Shram."]);
});

/** Somebody is being read; meanwhile others come to wait, of whom some are known here. Gives in which order they are read then. */
async function readAfter(waiting: readonly string[], known: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  const scripted = scriptedExtractor();
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const leaveOf = (user: string): Promise<void> => leave(user, `I use the desk of ${user}.`);
  await leaveOf("first");
  const extractor: Extractor = {
    ...scripted,
    async propose(reading, options) {
      for (const { content } of reading.messages) order.push(/desk of (.+)\./.exec(content)?.[1] ?? content);
      begun.resolve();
      await goOn.promise;
      return scripted.propose(reading, options);
    },
  };
  const memory = await createMemory({ record, extractor });
  opened.push(memory);
  await begun.promise;
  for (const user of waiting) await leaveOf(user);
  for (const user of known) await memory.scope({ user }).recall("What do I use?");
  goOn.resolve();
  await expect.poll(() => order.length, PATIENT).toBe(waiting.length + 1);
  return order;
}

it("users cached by this process are read first", async () => {
  expect(await readAfter(["ann", "bob", "cleo"], ["cleo"])).toEqual(["first", "cleo", "ann", "bob"]);
});

it("the user who waits longest gets a turn, however many are cached", async () => {
  const known = Array.from({ length: 15 }, (_, i) => `known-${i}`);
  const order = await readAfter(["ann", ...known], known);
  expect(order.indexOf("ann")).toBe(9);
});

it("a user whose messages cannot be read does not delay the others", async () => {
  await leave("ann", "Boom.");
  await leave("bob", "I use Shram.");
  const scripted = scriptedExtractor();
  const memory = await createMemory({
    record,
    extractor: {
      ...scripted,
      async propose(reading, options) {
        if (reading.messages.some(({ content }) => content === "Boom.")) throw new TypeError("broken");
        return scripted.propose(reading, options);
      },
    },
  });
  opened.push(memory);
  await expect.poll(() => texts(memory, "bob"), PATIENT).toEqual(["The user uses Shram."]);
  await expect
    .poll(async () => (await memory.jobs())[0], PATIENT)
    .toMatchObject({ state: "failing", left: 1, problem: "internal error." });
});

it("a user whose messages cannot be read is eventually quarantined, listed, and can be released", async () => {
  await leave("ann", "Boom.");
  await leave("bob", "I use Shram.");
  const scripted = scriptedExtractor();
  let isBroken = true;
  let tries = 0;
  const memory = await createMemory({
    record,
    extractor: {
      ...scripted,
      async propose(reading, options) {
        if (!reading.messages.some(({ content }) => content === "Boom."))
          return scripted.propose(reading, options);
        tries += 1;
        if (isBroken) throw new TypeError("Ann said Boom.");
        return [];
      },
    },
  });
  opened.push(memory);
  const [scope] = [{ project: "default", user: "ann" }];
  // It has failed four times already, in other processes.
  const failed = { attempts: 4, problem: "internal", at: new Date().toISOString() };
  await record.jobs.saveProgress("understanding", [{ scope, visit: { revision: 1, failed } }]);
  await expect.poll(() => memory.setAside(), PATIENT).toHaveLength(1);
  const [aside] = await memory.setAside();
  expect(aside).toMatchObject({ job: "understanding", project: "default", user: "ann", attempts: 5 });
  expect(aside?.problem).toBe("internal");
  await expect
    .poll(async () => (await memory.jobs())[0], PATIENT)
    .toMatchObject({ state: "scheduled", attempts: 0, setAside: 1, left: 1 });
  expect(await texts(memory, "bob")).toEqual(["The user uses Shram."]);
  isBroken = false;
  expect(await memory.again("nobody")).toBe(false);
  expect(await memory.again(aside?.id ?? "")).toBe(true);
  await expect.poll(() => memory.setAside(), PATIENT).toEqual([]);
  await expect.poll(async () => (await memory.jobs())[0], PATIENT).toMatchObject({ left: 0 });
  expect(tries).toBe(2);
});
