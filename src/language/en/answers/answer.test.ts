import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";

let memory: Keepsake;
let ana: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-02T10:00:00Z");
  memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  ana = memory.scope({ user: "ana" });
});

async function say(...sentences: readonly string[]): Promise<void> {
  for (const sentence of sentences) {
    now = new Date(now.getTime() + 60_000);
    await ana.remember(sentence);
  }
}

describe("an answer", () => {
  it("is a short sentence from what holds, and names what it rests on", async () => {
    await say("I use Zotero and Tana as research tools.");
    const { text, used, abstained } = await ana.answer("What research tools do I use?");
    expect(text).toBe("You use Zotero and Tana.");
    expect(used).toHaveLength(2);
    expect(abstained).toBe(false);
  });

  it.each([
    "What are the research tools that I use?",
    "What are the research tools I use?",
    "Which are the research tools that I'm using?",
    "What are all the research tools I currently use?",
    "What are the names of the research tools I use?",
    "Which tools are the ones I use?",
    "What are my research tools?",
    "List my research tools.",
    "Could you list the tools I use for research?",
  ])("gives all the things that “%s” asks for", async (question) => {
    await say("I use Zotero and Tana as research tools.", "I use oat milk.");
    expect((await ana.answer(question)).text).toBe("You use Zotero and Tana.");
  });

  it.each([
    ["I'm reading Dune and Middlemarch.", "What are the books that I am reading?", /Dune and Middlemarch/],
    ["My sister lives in Lisbon.", "What is the city my sister lives in?", /^Your sister lives in Lisbon\.$/],
    ["I take metformin and lisinopril.", "Which are the medicines I take?", /metformin and lisinopril/],
    ["I play chess with Bruno and Carla.", "Who are the people I play chess with?", /Bruno.*Carla/],
    ["I have a Canon and a Leica as cameras.", "What are the cameras that I own?", /Canon and a Leica/],
  ])("after “%s” reads the relative clause of “%s”", async (told, question, answer) => {
    await say(told);
    expect((await ana.answer(question)).text).toMatch(answer);
  });

  it("leaves out what is over", async () => {
    await say("I use Zotero and Tana as research tools.", "I don't use Tana anymore.");
    expect((await ana.answer("What research tools do I use?")).text).toBe("You use Zotero.");
  });

  it("tells how things were then", async () => {
    await say("I live in Turku.");
    now = new Date("2026-06-01T10:00:00Z");
    await say("I moved to Vaasa today.");
    expect((await ana.answer("Where do I live?")).text).toBe("You live in Vaasa.");
    expect((await ana.answer("Where do I live?", { asOf: "2026-04-01" })).text).toBe("You live in Turku.");
    expect((await ana.answer("Where did I live before?")).text).toBe("You used to live in Turku.");
  });

  it("gives the date of an appointment", async () => {
    await say("My piano exam is next Thursday.");
    expect((await ana.answer("When is my piano exam?")).text).toBe(
      "Your piano exam is on Thursday, 12 March 2026 (2026-03-12).",
    );
  });

  it("says yes, or no and since when", async () => {
    await say("I'm dating Emil.", "Emil and I broke up yesterday.");
    expect((await ana.answer("Am I still dating Emil?")).text).toMatch(/^No, you broke up with Emil/);
    await say("I'm allergic to latex.");
    expect((await ana.answer("Am I allergic to latex?")).text).toBe("Yes, you are allergic to latex.");
  });

  it("falls back on the dated words", async () => {
    await say("Marzipan from that shop in Lübeck is the only thing that cheers up Aunt Gerda.");
    const { text } = await ana.answer("What cheers up Aunt Gerda?");
    expect(text).toMatch(/Marzipan|marzipan/);
  });

  it("names all who bear the same noun in one sentence", async () => {
    await say("We've got three kids: Ada, Bruno and Cleo.");
    expect((await ana.answer("What are my kids called?")).text).toBe(
      "Your kids are called Ada, Bruno and Cleo.",
    );
    expect((await ana.answer("How many kids do I have?")).text).toBe("You have three kids.");
  });

  it("says the whole memory where the short answer holds only what was asked with", async () => {
    await say("I moved to Rotterdam for my masters in robotics.");
    expect((await ana.answer("What did I move to Rotterdam for?")).text).toBe(
      "You moved to Rotterdam for your masters in robotics.",
    );
  });

  it("prefers what came later to what the thing was before", async () => {
    await say("My phone's an iPhone 12.", "Upgraded to a Pixel 9.");
    expect((await ana.answer("What phone do I have?")).text).toMatch(/Pixel 9/);
    expect((await ana.answer("What phone do I have?")).text).not.toMatch(/iPhone/);
  });

  it("comes in parts that make the same", async () => {
    await say("I live in Turku.");
    const parts: string[] = [];
    const stream = ana.answerStream("Where do I live?");
    for (;;) {
      const next = await stream.next();
      if (next.done) {
        expect(next.value.text).toBe(parts.join(""));
        break;
      }
      parts.push(next.value);
    }
    expect(parts.length).toBeGreaterThan(1);
  });
});

describe("nothing is made up", () => {
  it.each([
    ["What's my cat's name?", "We took our dog Otto to the lake."],
    ["What car do I drive?", "My neighbour Pia drives a Saab."],
    ["Where do I live?", "If I lived in Rome I'd never cook."],
    ["What's my shoe size?", "I bought new shoes."],
    ["What does my brother do?", "My sister Ida works as a pilot."],
    ["When is my birthday?", "Bo gave me a plant for my birthday."],
    ["What time is my meeting with HR?", "I have a meeting with HR tomorrow."],
    ["Where am I moving?", "My girlfriend's moving to Malmö for work, I'm staying put."],
    ["Who will I meet?", "My horoscope says I'll meet a stranger named Leo."],
    ["Where's my house?", "I nearly bought a house in Kent."],
    ["Where do I work?", 'Bo shouted "I got the job at Lego!" at all of us.'],
  ])("%s after: %s", async (question, said) => {
    await say(said);
    const { text, used, abstained } = await ana.answer(question);
    expect({ text, used, abstained }).toEqual({
      text: "I don't know that.",
      used: [],
      abstained: true,
    });
  });
});

describe("what is near the question", () => {
  it.each([
    ["Which hotel did I stay at in Gdańsk?", "We took the train to Gdańsk in April."],
    ["What brand is my laptop?", "I bought a new laptop yesterday, finally."],
    ["What film did I see last night?", "I saw a film with Ana last night."],
    ["What medication do I take?", "I take medication every morning."],
  ])("is no sure answer: %s after: %s", async (question, said) => {
    await say(said);
    const { text, used, abstained } = await ana.answer(question);
    expect(abstained).toBe(true);
    expect(text.startsWith("I'm not certain. ")).toBe(used.length > 0);
  });
});

describe("an answer from evidence", () => {
  it.each([
    ["Where's my passport?", "I keep my passport in the blue tin.", /blue tin/],
    ["Which herb can't I stand?", "I can't stand coriander, tastes of soap.", /coriander/],
    ["What software do I edit podcasts with?", "for editing podcasts I use Reaper", /Reaper/],
    ["Who's my boss?", "My boss Ingrid says hi.", /Ingrid/],
    ["Which terminal do I fly from?", "My flight home goes from terminal 5 at noon.", /terminal 5/i],
    ["What do I pay a month for parking?", "Parking's a rip-off, I pay 85 euros a month for it.", /85/],
  ])("%s after: %s", async (question, said, answered) => {
    await say(said);
    const { text, used } = await ana.answer(question);
    expect(text).toMatch(answered);
    expect(used.length).toBeGreaterThan(0);
  });

  it("names what it rests on, and says that it is not sure", async () => {
    await say("We took the train to Gdańsk in April, and the hotel was awful.");
    const { text, used, abstained, recall } = await ana.answer("Which hotel did I stay at in Gdańsk?");
    if (!abstained) throw new Error(text);
    expect(text).toMatch(/^I'm not certain\. /);
    expect(recall.items.map(({ id }) => id)).toEqual(expect.arrayContaining([...used]));
  });

  it("never takes the user's own question", async () => {
    await say("What music do I like?");
    expect(await ana.answer("what music do I like")).toMatchObject({ abstained: true, used: [] });
  });

  it.each([
    ["Do I have a bike?", "I have two cats, Tom and Mia."],
    ["What do I do on Thursdays?", "I run on Mondays."],
    ["What sport does my son play?", "My daughter plays hockey."],
    ["What do I use for email?", "I don't use Outlook anymore."],
  ])("takes no other thing, day or person: %s after: %s", async (question, said) => {
    await say(said);
    expect(await ana.answer(question)).toMatchObject({ abstained: true });
  });
});
