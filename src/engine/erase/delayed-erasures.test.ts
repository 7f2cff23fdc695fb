import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import type { RememberOptions } from "../api/writing-types.ts";

let now: Date;
let keepsake: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  now = new Date("2026-06-11T18:00:00Z");
  keepsake = await createMemory({ record: createInMemoryStore(), clock: () => now });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

function tell(at: string, text: string, options: RememberOptions = {}) {
  now = new Date(at);
  return ana.remember(text, { session: "s", ...options });
}

async function stored(): Promise<string> {
  let lines = "";
  for await (const line of ana.export()) lines += JSON.stringify(line);
  return lines;
}

const PENDING = "The user asked to erase “the lockbox number” from 15 June 2026 on.";

async function askForLater() {
  await tell("2026-06-11T18:00:00Z", "airbnb in Split: lockbox 0773, host is Mrs Juric");
  return tell("2026-06-11T18:02:00Z", "when we've checked out on Sunday 14 june delete the lockbox number");
}

describe("a request to forget at a later time", () => {
  it("is stored as a commitment that the receipt and the list show", async () => {
    const receipt = await askForLater();
    expect(receipt.memories).toMatchObject([{ action: "added", text: PENDING }]);
    expect(receipt.erasures).toBeUndefined();
    const { items } = await ana.list({ kind: "commitment" });
    expect(items).toMatchObject([{ text: PENDING, when: "2026-06-15T00:00:00.000Z" }]);
    expect(await stored()).toContain("0773");
  });

  it("is not carried out by a message before its time", async () => {
    await askForLater();
    await tell("2026-06-14T23:00:00Z", "We had grilled fish by the harbour.");
    expect(await stored()).toContain("0773");
  });

  it("is carried out by the first message after its time, with the request and the commitment, and nothing else", async () => {
    await askForLater();
    const receipt = await tell("2026-06-17T20:00:00Z", "Home again, and sunburned.");
    expect(receipt.erasures).toMatchObject([{ complete: true }]);
    const left = await stored();
    expect(left).not.toContain("0773");
    expect(left).not.toContain("delete the lockbox");
    expect(left).toContain("Mrs Juric");
    expect(left).toContain("Home again");
    expect((await ana.list({ kind: "commitment" })).items).toEqual([]);
  });

  it("is carried out by optimize after its time, and not by its dry run", async () => {
    await askForLater();
    now = new Date("2026-06-16T00:00:00Z");
    await ana.optimize({ dryRun: true });
    expect(await stored()).toContain("0773");
    await ana.optimize();
    expect(await stored()).not.toContain("0773");
  });

  it("is not carried out while the clock runs behind", async () => {
    await askForLater();
    now = new Date("2026-01-01T00:00:00Z");
    await ana.optimize();
    expect(await stored()).toContain("0773");
  });

  it("is not carried out if its commitment was removed", async () => {
    await askForLater();
    const [pending] = (await ana.list({ kind: "commitment" })).items;
    await ana.remove(pending?.id ?? "");
    await tell("2026-06-17T20:00:00Z", "Home again, and sunburned.");
    expect(await stored()).toContain("0773");
  });

  it("is not carried out if it was undone", async () => {
    const { revision } = await askForLater();
    await ana.undo(revision);
    await tell("2026-06-17T20:00:00Z", "Home again, and sunburned.");
    expect(await stored()).toContain("0773");
  });

  it("asks back where its target is unsure, and keeps the yes until it is due", async () => {
    await tell("2026-09-02T09:00:00Z", "Visitor permit for our street is VP-61180, mine is RP-61108");
    const asked = await tell("2026-09-02T09:01:00Z", "keep the visitor one till 30 september, then erase it");
    expect(asked.waiting?.[0]?.quotes.map(({ quote }) => quote).join()).toContain("VP-61180");
    await tell("2026-09-02T09:02:00Z", "yes");
    expect(await stored()).toContain("VP-61180");
    await tell("2026-10-03T17:00:00Z", "Traffic wardens everywhere today.");
    expect(await stored()).not.toContain("VP-61180");
    expect(await stored()).toContain("RP-61108");
  });

  it("is carried out when a reply says that it is done", async () => {
    await askForLater();
    const reply = (content: string) => ana.remember([{ role: "assistant", content }], { session: "s" });
    await reply("I'll have the lockbox number deleted after your stay.");
    expect(await stored()).toContain("0773");
    await reply("The lockbox number is deleted.");
    expect(await stored()).not.toContain("0773");
  });

  it("does nothing if it is not confirmed", async () => {
    await tell("2026-09-02T09:00:00Z", "Visitor permit for our street is VP-61180, mine is RP-61108");
    await tell("2026-09-02T09:01:00Z", "keep the visitor one till 30 september, then erase it");
    await tell("2026-10-03T17:00:00Z", "Traffic wardens everywhere today.");
    expect(await stored()).toContain("VP-61180");
  });
});

describe("a request to forget after an event", () => {
  const ask = async () => {
    await tell(
      "2026-05-09T11:00:00Z",
      "Elm Road: we bid 312,000. Tower Street is plan B, max we'd pay there 287,500",
    );
    return tell("2026-05-09T11:02:00Z", "if elm road gets accepted delete the tower street figure");
  };

  it("is carried out when the user tells the event", async () => {
    await ask();
    const receipt = await tell("2026-05-14T10:30:00Z", "elm road said YES. accepted this morning");
    expect(receipt.erasures).toMatchObject([{ complete: true }]);
    expect(await stored()).not.toContain("287,500");
    expect(await stored()).toContain("312,000");
  });

  it.each([
    "Will the Elm Road bid be accepted?",
    "If Elm Road is accepted, we will move in July.",
    "Elm Road was not accepted.",
    "I went to Elm Road today.",
  ])("waits if the user says: %s", async (text) => {
    await ask();
    await tell("2026-05-14T10:30:00Z", text);
    expect(await stored()).toContain("287,500");
  });

  it("waits if somebody else tells the event", async () => {
    await ask();
    await ana.remember([{ role: "assistant", content: "Elm Road accepted your bid." }], { session: "s" });
    expect(await stored()).toContain("287,500");
  });
});

describe("a commitment that looks like a request to forget", () => {
  it("erases nothing if the program added it", async () => {
    await ana.remember("My gate code is 5512.");
    await ana.add({
      text: "The user asked to erase “gate code” from 1 June 2026 on.",
      kind: "commitment",
      claim: { subject: "user", relation: "ask to erase", value: "gate code" },
    });
    now = new Date("2026-12-01T00:00:00Z");
    await ana.optimize();
    await ana.remember("I went for a walk.");
    expect(await stored()).toContain("5512");
  });

  it("erases nothing if its message was imported", async () => {
    const messages = [
      { role: "user" as const, content: "My gate code is 5512." },
      { role: "user" as const, content: "Delete the gate code after Tuesday." },
    ];
    for await (const step of ana.import(messages)) expect(step).toBeDefined();
    now = new Date("2026-12-01T00:00:00Z");
    await ana.remember("I went for a walk.");
    expect(await stored()).toContain("5512");
  });

  it("erases nothing if the key of its message may not erase", async () => {
    await ana.remember("My gate code is 5512.", { session: "s" });
    await ana.remember("Delete the gate code after Tuesday.", { session: "s", mayErase: false });
    now = new Date("2026-12-01T00:00:00Z");
    await ana.remember("I went for a walk.", { session: "s" });
    expect(await stored()).toContain("5512");
  });
});

describe("a request that waits for its time", () => {
  it("is no answer to a question about the thing, and answers what is to be forgotten", async () => {
    await tell("2026-09-02T09:00:00Z", "My locker at the gym is number 61180.");
    await tell("2026-09-02T09:01:00Z", "Delete the locker number after 30 September.");
    const { text } = await ana.answer("What's my locker number?");
    expect(text).toContain("61180");
    expect(text).not.toMatch(/delete/i);
    expect((await ana.answer("What did I ask you to erase?")).text).toContain("locker number");
  });
});
