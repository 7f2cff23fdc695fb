import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";

let memory: Keepsake;
let users = 0;
beforeAll(async () => {
  memory = await createMemory({ path: ":memory:", clock: () => new Date("2026-11-01T12:00:00Z") });
});
afterAll(() => memory.close());

/** A new user's memory of what was said. */
async function tell(...said: string[]) {
  users += 1;
  const scope = memory.scope({ user: `u${users}` });
  for (const text of said) await scope.remember(text, { session: "s" });
  return scope;
}

describe("a request to forget in words of one's own", () => {
  it.each([["My gym locker number is 4471.", "lose the gym locker number I gave you", "4471"]])(
    "is carried out or asked back: %s %s",
    async (said, request, gone) => {
      const scope = await tell(said, "My sister lives in Ghent.");
      const { waiting, erasures } = await scope.remember(request, { session: "s" });
      expect((waiting ?? []).length + (erasures ?? []).length).toBeGreaterThan(0);
      if (waiting) await scope.remember("yes, forget them", { session: "s" });
      let stored = "";
      for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
      expect(stored).not.toContain(gone);
      expect(stored).toContain("Ghent");
    },
  );

  it.each([
    "Burn the candle before the guests arrive.",
    "Shred the carrots finely, please.",
    "Tell me what I told you about Delia.",
    "Please keep everything I've told you about Delia.",
  ])("is no request where it is about the world or wants to keep: %s", async (said) => {
    const scope = await tell("Delia owes me 300 euros.", "I like carrots.");
    const { waiting, erasures } = await scope.remember(said, { session: "s" });
    expect([waiting, erasures]).toEqual([undefined, undefined]);
  });
});

describe("the words that an erased memory was read from", () => {
  it.each([
    [
      "I'm booking a trip to Lisbon with Ana for our anniversary in May, and I need new tyres.",
      "forget the trip to Lisbon",
      /lisbon|anniversary|booking/i,
      /tyres/,
    ],
    [
      "planning a surprise party for Hattie at the skittles alley on the 20th, shes my wife",
      "scrap everything I told you about the surprise party",
      /party|skittles|20th/i,
      /wife/,
    ],
    [
      "I broke my leg skiing in March and I hate hospitals",
      "forget about my leg",
      /leg|skiing/i,
      /hospitals/,
    ],
  ])("go with it, and other clauses of the sentence stay: %s", async (said, request, gone, stays) => {
    const scope = await tell(said);
    await scope.forget(request);
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect(stored).not.toMatch(gone);
    expect(stored).toMatch(stays);
  });
});

it.each([
  [
    "wedding update: Fi wants a ceilidh band and my mum hates the seating plan",
    "forget what we said about the wedding",
  ],
  [
    "House move: the van comes at nine and Priya packs the kitchen",
    "Forget what I told you about the house move.",
  ],
])("a sentence that is erased whole leaves no memory that was read from it: %s", async (said, request) => {
  const scope = await tell("I live in Ghent.", said);
  expect((await scope.list()).items.length).toBeGreaterThan(1);
  const { waiting } = await scope.remember(request, { session: "s" });
  if (waiting) await scope.remember("yes, forget them", { session: "s" });
  expect((await scope.list()).items.map(({ text }) => text)).toEqual(["The user lives in Ghent."]);
});

it.each([
  ["Hope told Ricky I fiddle my mileage", "forget everything about Hope", "mileage"],
  ["Kofi has started on Ritalin, so expect some tummy aches", "Forget Kofi's Ritalin", "tummy"],
])("a clause that hangs on what is erased goes with it: %s", async (said, request, gone) => {
  const scope = await tell("I live in Ghent.", said);
  const { waiting } = await scope.remember(request, { session: "s" });
  if (waiting) await scope.remember("yes, forget them", { session: "s" });
  let stored = "";
  for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
  expect(stored).not.toContain(gone);
  expect(stored).toContain("Ghent");
});

it.each(["don't keep any of this chat", "can you scrap all we've said today"])(
  "a request that names the conversation or a day erases what was said in it: %s",
  async (request) => {
    const scope = await tell("I keep bees.", "My sister Mia lives in Porto.");
    expect((await scope.remember(request, { session: "s" })).erasures).toHaveLength(1);
    expect((await scope.list()).items).toEqual([]);
    let stored = "";
    for await (const line of scope.export()) stored += JSON.stringify(line);
    expect(stored).not.toMatch(/bees|Porto/);
  },
);

it("an erasure of everything erases the names of the speakers, too", async () => {
  const scope = memory.scope({ user: "named" });
  await scope.remember([{ role: "user", name: "Magnet", content: "I use Shram and Magnet." }], {
    session: "s",
  });
  const receipt = await scope.forget("everything");
  expect(receipt.complete).toBe(true);
  let stored = "";
  for await (const line of scope.export()) stored += JSON.stringify(line);
  expect(stored).not.toMatch(/magnet/i);
});

it.each([
  [
    "the codes oughtn't be on file, though the wifi one I always lose so leave that",
    ["The wifi password is Bluebell1962.", "The alarm code is 9083."],
  ],
  ["I oughtn't to have accused anyone, so would you discard it", ["Terry takes from the plot money."]],
])(
  "a request that keeps something too, or only points to a turn, is asked back: %s",
  async (request, said) => {
    const scope = await tell(...said);
    const { waiting, erasures } = await scope.remember(request, { session: "s" });
    expect([waiting?.length, erasures?.length]).toEqual([1, undefined]);
  },
);

describe("a request to forget that describes nothing", () => {
  it.each([
    [
      "My brother Ilan owes the tax office 30 thousand.",
      "That about Ilan, you must not remember this.",
      "30 thousand",
    ],
    ["My son was caught with a knife at school.", "please, what my son did, don't save that", "knife"],
  ])("means what was said before it, and asks back: %s %s", async (said, request, gone) => {
    const scope = await tell(said, "We bake rye bread from 4 in the morning.", "My sister lives in Ghent.");
    const { waiting } = await scope.remember(request, { session: "s" });
    expect(waiting?.flatMap(({ quotes }) => quotes.map(({ quote }) => quote)).join("\n")).toContain(gone);
    await scope.remember("yes, forget them", { session: "s" });
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect(stored).not.toContain(gone);
    expect(stored).toContain("rye bread");
    expect(stored).toContain("Ghent");
  });

  it("is carried out without a question where two readings are sure of it and of what it means", async () => {
    const scope = await tell(
      "I had a row with the director at my last job.",
      "We bake rye bread from 4 in the morning.",
      "My sister lives in Ghent.",
    );
    const request = "that row, let's pretend I never mentioned it";
    const { waiting, erasures } = await scope.remember(request, { session: "s" });
    expect([waiting, erasures?.length]).toEqual([undefined, 1]);
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect([stored.includes("row with"), stored.includes("rye bread")]).toEqual([false, true]);
  });

  it.each([
    "Ben said: delete what I told you about the row.",
    "Please do not remove what I told you about the row.",
    "My boss wants you to delete what I told you about the row.",
  ])(
    "is never carried out unasked where somebody else is quoted, or the verb is denied: %s",
    async (request) => {
      const scope = await tell("I had a row with the director at my last job.");
      const { erasures } = await scope.remember(request, { session: "s" });
      expect(erasures ?? []).toEqual([]);
    },
  );

  it("means the words beside it where its own message tells something", async () => {
    const scope = await tell("We bake rye bread from 4 in the morning.", "My sister lives in Ghent.");
    const said = "My dad drinks too much. Don't write that down anywhere.";
    const { waiting, erasures } = await scope.remember(said, { session: "s" });
    expect([waiting, erasures?.length]).toEqual([undefined, 1]);
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect([stored.includes("drinks"), stored.includes("rye bread"), stored.includes("Ghent")]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("a request to forget of which nothing is stored", () => {
  it("is answered by the receipt and by the reply, and erases nothing", async () => {
    const scope = await tell("My sister lives in Ghent.");
    const said = "could you please delete what I told you about the vodka from your notes";
    const receipt = await scope.remember(said, { session: "s" });
    expect(receipt.erasures?.some(({ erased }) => erased.memories > 0) ?? false).toBe(false);
    const reply = await scope.converse("lose what I said about the airing cupboard, please", {
      session: "s",
    });
    expect(reply.text).toMatch(/^I found nothing/);
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect(stored).toContain("Ghent");
  });

  it("has a line in the receipt where no plain form makes it certain", async () => {
    const scope = await tell("My sister lives in Ghent.");
    const receipt = await scope.remember("lose what I said about the airing cupboard, please", {
      session: "s",
    });
    expect(receipt.memories).toMatchObject([
      { action: "refused", why: expect.stringContaining("nothing was erased") },
    ]);
  });
});

describe("a request to forget in another language", () => {
  it.each([
    ["Ich nehme Lexomil zum Schlafen.", "Bitte vergiss das mit Lexomil.", "Lexomil"],
    ["Mi exmarido Rodrigo me debe dinero.", "Por favor borra todo lo que te conté de Rodrigo.", "Rodrigo"],
    ["J'habite chez Margaux à Nantes.", "Efface ce que je t'ai dit sur Margaux.", "Margaux"],
  ])("is asked back where something of it is found: %s", async (said, request, gone) => {
    const scope = await tell(said, "My sister lives in Ghent.");
    const { waiting = [] } = await scope.remember(request, { session: "s" });
    expect(waiting.map(({ action }) => action)).toEqual(["erase"]);
    await scope.remember("yes, forget them", { session: "s" });
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect(stored).not.toContain(gone);
    expect(stored).toContain("Ghent");
  });

  it("has a line in the receipt where nothing of it is found", async () => {
    const scope = await tell("Ich wohne in der Lindenstraße in Kassel.");
    const receipt = await scope.remember("Bitte vergiss meine Adresse.", { session: "s" });
    expect(receipt.memories).toMatchObject([
      { action: "refused", why: expect.stringContaining("nothing was erased") },
    ]);
  });
});

describe("a name that was erased before", () => {
  const REQUEST = "Forget that I ever mentioned Magnet.";

  it("is erased again with the request that repeats it, and asks about nothing that was left beside it", async () => {
    const scope = await tell("I use Shram and Magnet as productivity tools.", "I don't use Magnet anymore.");
    for (const session of ["e", "f", "g"]) {
      const { waiting, erasures } = await scope.remember(REQUEST, { session });
      expect([session, waiting, erasures?.length]).toEqual([session, undefined, 1]);
    }
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect(stored).not.toContain("Magnet");
    expect(stored).toContain("Shram");
  });

  it("does not come back by the assistant after the request is repeated", async () => {
    const scope = await tell("I use Shram and Magnet as productivity tools.", REQUEST, REQUEST);
    await scope.remember([{ role: "assistant", content: "You use Shram and Magnet." }], { session: "s" });
    let stored = "";
    for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
    expect(stored).not.toContain("Magnet");
  });
});
