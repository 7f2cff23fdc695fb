import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import { createMemory } from "../../../memory.ts";

/** What is held after these lines, said one after the other on a Monday. */
async function heldAfter(...lines: readonly string[]): Promise<string[]> {
  await using memory = await createMemory({
    record: createInMemoryStore(),
    clock: () => new Date("2026-03-02T12:00:00Z"),
  });
  const scope = memory.scope({ user: "u" });
  for (const line of lines) await scope.remember(line, { session: "one" });
  return (await scope.list({ limit: 100 })).items.map(({ text }) => text);
}

describe("a sentence about another thing leaves what was told before", () => {
  it.each([
    ["I drive a tram in Lodz.", "The doctor has put me on insulin twice a day."],
    ["I teach Year 4 at a primary school in Swansea.", "They've put me on lunch duty three days a week."],
    ["I run a small bakery in Cork.", "The accountant has moved us to quarterly VAT."],
    ["I have rheumatoid arthritis.", "My consultant has switched me to methotrexate."],
    ["The user speaks Tagalog at home.", "Work moved me to the Rotterdam office."],
    ["My yoga teacher is called Ilse.", "She moved her class to the church hall."],
    ["I used to weigh 95 kilos.", "I'm down to 82."],
    ["I sold three goats.", "So 11 now."],
    ["I smoke ten a day.", "I'm at 300 words of my essay."],
    ["I have three sisters.", "Down to two cigarettes a day now."],
    ["I paid 30 euros for the ticket.", "It's up to 40 degrees here."],
    ["I'm learning the cello with Mrs Petrov.", "She's put me on Suzuki book three."],
    ["I lived in Basel.", "Switched to industry after that."],
    ["I'm on the 07:42 to Leeds every day.", "They've cut it to one every hour."],
    ["We're getting married on 14 June in Sorrento.", "Actually it's more like 80."],
  ])("%s %s", async (before, after) => {
    const first = await heldAfter(before);
    expect(await heldAfter(before, after)).toEqual(expect.arrayContaining(first));
  });
});

describe("one thing takes the place of another of its kind", () => {
  it.each([
    ["we use zoom at work", "they switched us to teams", /uses teams at work/, /zoom/],
    ["I have 14 goats. Had to sell three.", "So 11 now.", /has 11 goats/, /14/],
    ["I weigh 80 kg.", "I'm at 74 kilos now.", /74/, /80/],
    ["I play the trombone.", "I switched to the euphonium.", /plays the euphonium/, /trombone/],
    ["I'm on Cetirizine.", "My doctor switched me to Loratadine.", /is on Loratadine/, /Cetirizine/],
  ])("%s %s", async (before, after, holds, gone) => {
    const held = (await heldAfter(before, after)).join("\n");
    expect(held).toMatch(holds);
    expect(held).not.toMatch(gone);
  });

  it("how long the old one lasted is not said of the new one", async () => {
    const held = await heldAfter(
      "I've been with Octopus for my electricity for years.",
      "Just changed to EDF.",
    );
    expect(held).toEqual(["The user is with EDF for their electricity."]);
  });

  it("a thing added with a circumstance of its own does not take the circumstance of the one before", async () => {
    const held = await heldAfter("I take lisinopril for blood pressure.", "And a statin at night.");
    expect(held.toSorted()).toEqual([
      "The user takes a statin at night.",
      "The user takes lisinopril for blood pressure.",
    ]);
  });
});

describe("what others have put somebody on stands beside what they are on", () => {
  it.each([
    [
      "I drive a tram in Lodz.",
      "The doctor has put me on insulin twice a day.",
      "The user is on insulin twice a day.",
    ],
    ["I take lisinopril.", "My GP has put me on a statin as well.", "The user is on a statin."],
  ])("%s %s", async (before, after, told) => {
    const first = await heldAfter(before);
    expect((await heldAfter(before, after)).toSorted()).toEqual([...first, told].toSorted());
  });

  it.each([
    "They put me on hold for an hour.",
    "My mum put me on the train.",
    "My boss put me on nights last year.",
  ])("%s tells of a moment", async (said) => {
    expect((await heldAfter(said)).join("\n")).not.toMatch(/is on/);
  });
});

describe("a word without a thing of its own means what it says, or nothing", () => {
  it.each([
    [["We adopted a greyhound called Biscuit.", "Vet says he's got a heart murmur."], /Vet has/],
    [["We tried for years and finally had IVF.", "She's due on 20 September."], /IVF is due/],
    [["I have an interview at Siemens on Thursday.", "It's been pushed to the week after."], /Siemens is on/],
    [["I work for the council.", "It's been eleven years."], /council has been/],
    [["My car's a Skoda.", "My wife's is a Mini."], /wife is a Mini/],
    [["My dad's birthday is 3 May.", "Mum's is the day after."], /mum is on|3 March/],
    [["My wedding ring is my grandmother's."], /is called/],
    [["I bought a second-hand Fiat Panda."], /is called/],
    [["At the moment we've got two brothers, 5 and 7."], /has [57]\b/],
    [["I drive a lorry. Usually Rotterdam to Milan.", "Last week they gave me Lyon."], /Rotterdam gave/],
    [["My landlord raised the rent to 950.", "I earn 2100 a month.", "It's now 2300."], /rent is now/],
    [["I take the kids to my mum's on Fridays."], /are on Fridays/],
    [["My fridge died.", "The new one comes Wednesday."], /comes is/],
    [["I booked flights to Osaka for the 21st."], /February/],
    [["My mother is 70 on Friday."], /70 years old/],
    [["I used to weigh 95 kilos.", "I'm down to 82."], /used to weigh 82/],
    [["I've two jobs, cleaning offices and dog walking."], /offices walking|jobs walking/],
    [["My team trains on Tuesdays.", "We've moved to Mondays and Wednesdays."], /lives in/],
    [["My test is on 2 May.", "They've brought it forward to 18 April."], /2 May/],
    [["My laptop's an old ThinkPad.", "My work one is a Mac."], /work is a Mac/],
    [["My parents-in-law gave us a freezer.", "It's in the garage."], /in-law (?:is|are) in/],
    [["My best man is my cousin Rory."], /is called My/],
    [["Our anniversary is 8 July. Married in 2009, sorry, 2008."], /2009/],
    [["My sister's wedding is on 22 August.", "She's moved it to the 29th."], /March|22/],
    [["My old dog was called Bess."], /is called/],
    [["I keep forgetting my pills.", "Two in the morning, one at night."], /Two is/],
    [["Work moved my daughter to the Rotterdam office."], /lives in/],
  ] as const)("%s", async (lines, wrong) => {
    expect((await heldAfter(...lines)).join("\n")).not.toMatch(wrong);
  });

  it("what is somebody's own, told without its name, is of the kind told before", async () => {
    expect(await heldAfter("My car's a Skoda.", "My wife's is a Mini.")).toContain(
      "The user's wife's car is a Mini.",
    );
  });
});
