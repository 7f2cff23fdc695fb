import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import type { ScopedMemory } from "../../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../../memory.ts";
import { ageAt, lengthBetween, sayLength } from "./lengths.ts";

let now: Date;
let ole: ScopedMemory;

beforeEach(async () => {
  now = new Date("2026-03-11T10:00:00Z");
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  ole = memory.scope({ user: "ole" });
});

async function say(day: string, ...lines: readonly string[]): Promise<void> {
  now = new Date(`${day}T10:00:00Z`);
  for (const line of lines) {
    now = new Date(now.getTime() + 60_000);
    await ole.remember(line);
  }
}

async function ask(question: string): Promise<string> {
  return (await ole.answer(question)).text;
}

describe("asked beside something else", () => {
  it("tells what was before it and after it", async () => {
    await say("2023-05-01", "I live in Dublin.");
    await say("2025-02-01", "I moved to Cork.");
    await say("2026-02-01", "I moved to Galway.");
    expect(await ask("Where did I live before Galway?")).toBe("You lived in Cork.");
    expect(await ask("Where did I live before Cork?")).toBe("You lived in Dublin.");
    expect(await ask("Where did I live before Dublin?")).not.toMatch(/Cork|Galway/);
  });

  it("tells what happened after an event", async () => {
    await say("2026-03-01", "I finished my degree in 2010. I joined the navy in 2012.");
    expect(await ask("What did I do after I finished my degree?")).toContain("navy");
  });
});

describe("asked of a span", () => {
  it("tells what was so in it, and in the past where it is over", async () => {
    await say("2022-01-10", "My dentist is Dr Holm.");
    await say("2025-01-10", "My dentist is Dr Falk now.");
    expect(await ask("Who was my dentist in 2023?")).toContain("Holm");
    expect(await ask("Who is my dentist?")).toContain("Falk");
  });

  it("tells what happened in it and nothing else", async () => {
    await say("2026-03-11", "I went to a pottery class on Monday and to a concert on Tuesday.");
    expect(await ask("What did I do on Monday?")).toContain("pottery");
    expect(await ask("What did I do on Monday?")).not.toContain("concert");
    expect(await ask("What did I do yesterday?")).toContain("concert");
  });

  it("tells what is told of the past as of that time", async () => {
    await say("2026-03-11", "From 2015 to 2019 I lived in Rome.");
    expect(await ask("Where did I live in 2017?")).toContain("Rome");
    expect((await ole.answer("Where do I live?", { asOf: "2017-06-01" })).text).toContain("Rome");
    expect((await ole.answer("Where do I live?")).abstained).toBe(true);
  });
});

describe("what is told with its end or its beginning", () => {
  it("holds until then, and from then on", async () => {
    await say("2026-03-11", "I'm in Rome until Friday.", "I live in Basel.", "From October I live in Zug.");
    expect(await ask("Where am I?")).toContain("Rome");
    expect(await ask("Where do I live?")).toBe("You live in Basel.");
    now = new Date("2026-11-20T10:00:00Z");
    expect(await ask("Where am I?")).not.toContain("You are in Rome");
    expect(await ask("Where do I live?")).toContain("Zug");
  });
});

describe("asked for a length", () => {
  it("counts from what was told, and repeats what was said", async () => {
    await say("2026-03-11", "I have lived in Ghent since 2014.", "I've known Petra for nine years.");
    await say("2026-03-11", "I quit smoking in 2018.", "My daughter was born on 4 May 2020.");
    expect(await ask("How long have I lived in Ghent?")).toBe(
      "You have lived in Ghent since 2014, so for about 12 years.",
    );
    expect(await ask("How long have I known Petra?")).toBe("You have known Petra for nine years.");
    expect(await ask("How long ago did I quit smoking?")).toBe(
      "You quit smoking in 2018, about 8 years ago.",
    );
    expect(await ask("How old is my daughter?")).toBe("Your daughter is 5 (born on 4 May 2020).");
  });

  it.each([
    ["2020-03-11", "2026-03-11", "6 years"],
    ["2020", "2026-03-11", "about 6 years"],
    ["2026-03-01", "2026-03-11", "10 days"],
    ["2026-01", "2026-03-11", "about 2 months"],
  ])("from %s to %s it is %s", (from, to, said) => {
    const length = lengthBetween(from, to);
    expect(length && sayLength(length)).toBe(said);
  });

  it("has a birthday on the day itself", () => {
    expect(ageAt("1990-03-11", "2026-03-10")).toEqual({ years: 35, isExact: true });
    expect(ageAt("1990-03-11", "2026-03-11")).toEqual({ years: 36, isExact: true });
  });
});

describe("asked for the first or the last time", () => {
  it("takes that of all that were told", async () => {
    await say("2026-01-05", "I went to the opera on Saturday.");
    await say("2026-02-20", "I went to the opera yesterday.");
    expect(await ask("When did I last go to the opera?")).toContain("2026-02-19");
    expect(await ask("When did I first go to the opera?")).toContain("2026-01-03");
    expect(await ask("When was the last time I went to the opera?")).toContain("2026-02-19");
  });
});

describe("what was known then", () => {
  it("is answered as it was known, whatever has been said since", async () => {
    await say("2026-01-05", "My aunt Siv is a vet.");
    await say("2026-02-20", "My aunt Siv is a farmer now.");
    const { text } = await ole.answer("What is Siv?", { knownAt: "2026-01-10" });
    expect(text).toContain("vet");
    expect(await ask("What is Siv?")).toContain("farmer");
  });
});
