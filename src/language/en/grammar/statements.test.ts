import { describe, expect, it } from "vitest";
import type { AddProposal } from "../../../ports/language/extractor.ts";
import { extractAdditions } from "../../../testing/test-doubles.ts";
import { rulesExtractor } from "./rules.ts";

const extractor = rulesExtractor();

async function added(content: string): Promise<AddProposal[]> {
  const adds = await extractAdditions(extractor, content);
  for (const { start, end } of adds) expect(content.slice(start, end).trim()).not.toBe("");
  return adds;
}

const texts = async (content: string): Promise<string[]> => (await added(content)).map(({ text }) => text);

/** What is said, and every memory of it. */
const TELLS: readonly (readonly [said: string, ...memories: string[]])[] = [
  // Small letters, no marks, marks that stand apart.
  [
    "i have a pony her name is juno and i love archery",
    "The user has a pony.",
    "The user's pony is called juno.",
    "The user loves archery.",
  ],
  ["i grew up in a small town , near bergen .", "The user grew up in a small town, near bergen."],
  ["thats my car , its a volvo", "The user's car is a volvo."],
  ["i m a baker", "The user is a baker."],
  ["i don t eat eggs", "The user does not eat eggs."],
  // Names keep their capitals, persons and animals have none.
  ["My Ford Kuga needs a new exhaust.", "The user's Ford Kuga needs a new exhaust."],
  ["My Uncle works at the docks.", "The user's uncle works at the docks."],
  // What several do together.
  [
    "My aunt and my cousins live in Graz.",
    "The user's aunt and the user's cousins live in Graz.",
    "The user has cousins.",
  ],
  // One of several is one.
  [
    "Our twins are Ebbe and Tove. Tove has a cough.",
    "The user's twin is called Ebbe.",
    "The user's twin is called Tove.",
    "The user's twin Tove has a cough.",
  ],
  // What is done on a day of each week or month is no date.
  ["I do aikido on Monday and Thursday.", "The user does aikido on Monday and Thursday."],
  ["My rent goes out on the 3rd.", "The user's rent goes out on the 3rd."],
  ["I'm in my last year of nursing school.", "The user is in their last year of nursing school."],
  ["I was in Lund for nine years before.", "The user was in Lund for nine years before."],
  // An order to the one who answers.
  ["I'm bad with mornings, don't book anything early."],
  // A statement before a question to whoever listens.
  ["i keep two geese , what pets do you have ?", "The user keeps two geese."],
  ["I work in forestry, how about you?", "The user works in forestry."],
  ["i like a lot of tea do you drink tea", "The user likes a lot of tea."],
  // Answers to one's own question.
  ["Do you like knitting? I do.", "The user likes knitting."],
  ["what is your favourite drink ? mine is cider", "The user's favourite drink is cider."],
  ["are you a vegetarian? I am.", "The user is a vegetarian."],
  ["Do you play chess? I love it.", "The user loves chess."],
  // What one is beside being of an age, and what is no trade.
  ["I'm 45 and still single.", "The user is 45 years old.", "The user is single."],
  [
    "I'm a sucker for old maps and rainy mornings.",
    "The user is a sucker for old maps.",
    "The user is a sucker for rainy mornings.",
  ],
  ["I'm a carer for my mum.", "The user is a carer for their mum."],
  [
    "My brother is a driver for Uber.",
    "The user's brother is a driver.",
    "The user's brother works at Uber.",
  ],
  // What a name, and what a doing, is said of in front.
  ["bruno is my name", "The user is called bruno."],
  ["fishing is what i do on weekends", "The user does fishing on weekends."],
  ["i like fixing things", "The user likes fixing things."],
  ["I am unemployed right now.", "The user is unemployed."],
  ["I don't care for rap.", "The user does not care for rap."],
  ["Clowns scare me.", "The user is scared of Clowns."],
  ["new york is where i'm from", "The user is from new york."],
  // How much, and no choice.
  ["I have no kids or pets.", "The user has no kids or pets."],
  ["I drink two or three coffees a day.", "The user drinks two or three coffees a day."],
  ["I run three miles or more every day.", "The user runs three miles or more every day."],
  // Favourites and pastimes.
  ["my go to drink is iced tea", "The user's go-to drink is iced tea."],
  ["My favourite colour would have to be teal.", "The user's favourite colour is teal."],
  ["Otters are my favourite animal.", "The user's favourite animal is Otters."],
  ["New Orleans, that's my favourite city.", "The user's favourite city is New Orleans."],
  ["Chess is one of my favourite games.", "One of the user's favourite games is Chess."],
  ["My hobbies are knitting and chess.", "The user's hobbies are knitting.", "The user's hobbies are chess."],
  ["I'm a huge rugby fan.", "The user is a huge rugby fan."],
  // Lists of doings.
  [
    "I love to read, draw and play chess.",
    "The user loves to read.",
    "The user loves to draw.",
    "The user loves to play chess.",
  ],
  [
    "I love singing, dancing and acting.",
    "The user loves singing.",
    "The user loves dancing.",
    "The user loves acting.",
  ],
  [
    "I want to move to Oslo and study law.",
    "The user wants to move to Oslo.",
    "The user wants to study law.",
  ],
  ["I can juggle and whistle.", "The user can juggle.", "The user can whistle."],
  ["I was born in Lund but raised in Kiel.", "The user was born in Lund.", "The user was raised in Kiel."],
  // What is told in passing.
  ["My beagle keeps me company.", "The user has a beagle."],
  ["As a nurse, I work nights.", "The user works nights.", "The user is a nurse."],
  ["I cook a lot because I am a vegetarian.", "The user cooks a lot.", "The user is a vegetarian."],
  ["There is a garden at the library where I work.", "The user works at the library."],
  ["They call me Slim.", "The user is nicknamed Slim."],
  ["I have a parrot whose name is Kiwi.", "The user has a parrot.", "The user's parrot is called Kiwi."],
  // Wishes and views: as such.
  ["I wish I could play the harp.", "The user wishes they could play the harp."],
  ["wish i lived near the coast", "The user wishes they lived near the coast."],
  ["Sunsets are amazing.", "The user finds Sunsets amazing."],
  ["We are divorced.", "The user is divorced."],
  ["I usually go running in the morning.", "The user goes running in the morning."],
  // Several, by name.
  [
    "I have two sons, Ole and Per, and a parrot.",
    "The user has two sons.",
    "The user's son is called Ole.",
    "The user's son is called Per.",
    "The user has a parrot.",
  ],
  [
    "My twins Ada and Bo have a cold.",
    "The user's twins Ada and Bo have a cold.",
    "The user's twin is called Ada.",
    "The user's twin is called Bo.",
  ],
  // Lists of things, with how much.
  [
    "I love fishing, jazz and old maps.",
    "The user loves fishing.",
    "The user loves jazz.",
    "The user loves old maps.",
  ],
  [
    "I'm allergic to nuts and a bit to pollen.",
    "The user is allergic to nuts.",
    "The user is allergic to pollen.",
  ],
  // What stands between commas, and what is said behind.
  [
    "My brother, a big fan of jazz, plays the sax.",
    "The user's brother is a big fan of jazz.",
    "The user's brother plays the sax.",
  ],
  ["I work at Lidl, been there for six years.", "The user works at Lidl."],
  // Counts, ages and ends told in passing.
  ["I collect stamps, I have nine of them.", "The user collects stamps.", "The user has nine stamps."],
  ["turned 30 last week", "The user is 30 years old."],
  [
    "I used to bite my nails but I quit in 2015.",
    "The user used to bite their nails.",
    "The user stopped biting their nails in 2015.",
  ],
  // "quit" and "set" are their own past: no second habit.
  ["I used to smoke, quit three years ago.", "The user used to smoke."],
  // A form that is both present and past is the past behind one person, and with a point in time.
  ["I read Dune in January.", "The user read Dune in January 2026."],
  ["My landlord cut the rent in January.", "The user's landlord cut the rent in January 2026."],
  ["My sister Ana quit smoking.", "The user's sister Ana quit smoking.", "The user's sister is called Ana."],
  ["I put in my notice on Friday.", "The user put in their notice on 6 March 2026."],
  [
    "I cut my hours to four days a week last month.",
    "The user cut their hours to four days a week in February 2026.",
  ],
  ["I swim twice a week in summer.", "The user swims twice a week in summer."],
  ["I read every night.", "The user reads every night."],
  ["My doc put me on levothyroxine in January.", "The user has been on levothyroxine since January 2026."],
  ["I haven't smoked since 2019.", "The user has not smoked since 2019."],
  // What is loved or hated is what the verb before acts on, and not where or with whom.
  ["I use Linear at work and I hate it.", "The user uses Linear at work.", "The user hates Linear."],
  ["I drive a van and hate it.", "The user drives a van.", "The user hates the van."],
  ["I always read two papers.", "The user reads two papers."],
  // What stands between commas belongs to the subject.
  [
    "My local pub, the Eagle, closed in January.",
    "The user's local pub the Eagle closed in January 2026.",
    "The user's local pub is called the Eagle.",
  ],
  [
    "My gym, a chain from Leeds, closed in January.",
    "The user's gym is a chain from Leeds.",
    "The user's gym closed in January 2026.",
  ],
  ["My dog, a greyhound, hates rain.", "The user's dog is a greyhound.", "The user's dog hates rain."],
  [
    "My neighbour, a retired pilot, bakes bread.",
    "The user's neighbour is a retired pilot.",
    "The user's neighbour bakes bread.",
  ],
  ["My dog hates rain.", "The user's dog hates rain."],
  // "Cut" looks the same in all forms, and needs a person before it and an object behind it.
  ["My wife cut sugar out of her diet.", "The user's wife cut sugar out of her diet."],
  ["My dad put his house up for sale.", "The user's dad put his house up for sale."],
  ["I've cut carbs out of my diet.", "The user has cut carbs out of their diet."],
  ["My hair cut was awful."],
  // Who is named behind "my" has that name, wherever it stands.
  [
    "My partner Sam and I moved to Ghent in January.",
    "The user moved to Ghent in January 2026.",
    "The user's partner is called Sam.",
  ],
  [
    "I live with my partner Sam.",
    "The user lives with their partner Sam.",
    "The user's partner is called Sam.",
  ],
  // What is so since a day is so, and did not happen on that day.
  ["Been vegan since 2018.", "The user has been vegan since 2018."],
  ["I've been sober since 2018.", "The user has been sober since 2018."],
  ["I've been ill since Monday."],
  // Of a list each, however much.
  [
    "For work I live in Linear and Notion, and a bit of Figma.",
    "The user lives in Linear for work.",
    "The user lives in Notion for work.",
    "The user lives in a bit of Figma for work.",
  ],
  [
    "I play guitar, drums and some bass.",
    "The user plays guitar.",
    "The user plays drums.",
    "The user plays some bass.",
  ],
  // A sum without the day from which it holds.
  ["My rent goes up to 1100 starting April.", "The user's rent is 1100."],
  // "At my sister's" is a place, and whole.
  ["I'm staying at my sister's until June.", "The user is staying at their sister's until June 2026."],
  ["I get my hair cut at Lena's.", "The user gets their hair cut at Lena's."],
  ["I drink oat milk because dairy gives me hives.", "The user drinks oat milk."],
  [
    "My best mate from uni, Tariq, lives in Doha now.",
    "The user's best mate Tariq lives in Doha.",
    "The user's best mate is called Tariq.",
  ],
  // Behind a modal, "do" is the verb itself.
  ["I can't do dairy.", "The user cannot do dairy."],
  ["I can't do spicy food anymore.", "The user can no longer do spicy food."],
  ["I don't drive anymore.", "The user no longer drives."],
  ["I used to run and swim a lot.", "The user used to run.", "The user used to swim a lot."],
];

describe("a statement tells", () => {
  it.each(TELLS.map(([said, ...memories]) => ({ said, memories })))("$said", async ({ said, memories }) => {
    expect(await texts(said)).toEqual(memories);
  });
});

describe("no memory comes of", () => {
  it.each([
    "If my dog were here, he would bark.",
    "Do you know what you like?",
    "I wonder what you think of my idea.",
    "The weather is great.",
    "Meetings like this are hard, right?",
    "The library I love has closed.",
    "I wish you were here.",
    "plays the sax",
    "Nice weather today!",
  ])("%s", async (said) => {
    expect(await texts(said)).toEqual([]);
  });
});

describe("a state since a day", () => {
  it.each([
    ["Been vegan since 2018.", "vegan", "2018-01-01T00:00:00.000Z"],
    ["I've been sober since 3 May 2021.", "sober", "2021-05-03T00:00:00.000Z"],
    ["I've been a nurse since 2009.", "a nurse", "2009-01-01T00:00:00.000Z"],
  ])("is a fact that holds from that day: %s", async (said, value, validFrom) => {
    const [state] = await added(said);
    expect(state).toMatchObject({ kind: "fact", validFrom, claim: { relation: "be", value } });
    expect(state?.when).toBeUndefined();
  });
});

describe("a sum that rises", () => {
  it("holds from the coming month, and is the sum alone", async () => {
    const [rent] = await added("My rent goes up to 1100 starting January.");
    expect(rent).toMatchObject({ validFrom: "2027-01-01T00:00:00.000Z", claim: { value: "1100" } });
  });
});

describe("how a statement is weighed", () => {
  it("makes a wish and a view a preference, and believes less what is understood from the context", async () => {
    const [wish] = await added("I wish I could play the harp.");
    expect(wish).toMatchObject({ kind: "preference", confidence: 0.7, importance: 0.4 });
    const [view] = await added("Sunsets are amazing.");
    expect(view).toMatchObject({ kind: "preference", importance: 0.3 });
  });

  it("says why", async () => {
    const [allergy] = await added("I'm allergic to latex.");
    expect(allergy).toMatchObject({ importance: 0.9, sensitive: true, why: "health; sensitive: health" });
    const [hedged] = await added("I think I like jazz.");
    expect(hedged?.why).toContain("hedge");
  });
});
