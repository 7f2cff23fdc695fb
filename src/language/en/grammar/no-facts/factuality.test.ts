import { describe, expect, it } from "vitest";
import { createMemory } from "../../../../memory.ts";

/** What is believed after messages, read by the rules and by the trees. */
async function believedAfter(...messages: readonly string[]): Promise<string[]> {
  await using memory = await createMemory({ path: ":memory:", secret: "the secret of this test" });
  const scope = memory.scope({ user: "ann" });
  for (const message of messages) await scope.remember(message);
  const texts: string[] = [];
  for await (const { text } of scope.list()) texts.push(text);
  return texts.sort();
}

describe("what a clause stands under decides whether it is a fact", () => {
  it.each([
    ["I don't think I'm anaemic"],
    ["I don't believe I have a thyroid problem"],
    ["I doubt I have arthritis"],
    ["Perhaps I'm lactose intolerant"],
    ["I probably have coeliac disease"],
    ["I'm not sure I like sushi"],
    ["I'm no longer certain I want to live in Spain"],
    ["I never claimed I was a doctor"],
    ["I can't say I love opera"],
    ["I hope I don't have diabetes"],
    ["I feel like I'm 90 this morning"],
    ["I don't always eat breakfast"],
    ["I can't not drink coffee"],
    ["I pretended I own a yacht and live in Rome"],
    ["As a joke I told everyone I'm Finnish"],
    ["I told my boss I'm a vegan (I'm not)."],
    ["I tell people I'm 30"],
    ["I lied and said I have a degree"],
    ["Rumour has it I'm leaving Shell"],
    ["In the game I'm a level 12 elf and I live in Rivendell"],
    ["I'm Gandalf in our D&D campaign"],
    ["I'm dead lol"],
    ["I basically live at the library"],
  ])("%s: nothing", async (said) => {
    expect(await believedAfter(said)).toEqual([]);
  });

  it.each([
    ["It isn't true that I drink", "The user does not drink."],
    ["It's false that I have a criminal record", "The user does not have a criminal record."],
    ["I very rarely drink wine", "The user rarely drinks wine."],
    ["I hardly ever smoke", "The user hardly ever smokes."],
    ["I don't often eat meat", "The user does not often eat meat."],
    ["I don't only drink tea", "The user drinks tea."],
  ])("%s: %s", async (said, memory) => {
    expect(await believedAfter(said)).toEqual([memory]);
  });

  it("neither … nor denies", async () => {
    expect(await believedAfter("Neither my brother nor I eat fish")).toContain("The user does not eat fish.");
  });

  it("a home that one does not think one's own anymore is given up", async () => {
    expect(await believedAfter("I live in Leeds.", "I don't think I live in Leeds anymore")).not.toContain(
      "The user lives in Leeds.",
    );
  });

  it("a joke is taken back, and what is so behind it is read", async () => {
    expect(await believedAfter("I love opera.", "jk i hate it")).not.toContain("The user loves opera.");
    expect(await believedAfter("I have three kids.", "nah jk")).toEqual([]);
  });
});

describe("what only looks like that is a fact", () => {
  it.each([
    ["I think I'm allergic to nuts, the doctor said so", "The user is allergic to nuts."],
    ["I'm sure I told you I live in Hull", "The user lives in Hull."],
    ["I don't think I've mentioned that I'm a nurse", "The user is a nurse."],
    ["I didn't tell you that I'm a nurse", "The user is a nurse."],
    ["I'm glad I'm not diabetic", "The user is not diabetic."],
    ["I never eat meat", "The user never eats meat."],
    ["I believe in God", "The user believes in God."],
    ["I told my mum I'm pregnant", "The user is pregnant."],
    ["I have a joke book and I live in York", "The user lives in York."],
    ["I doubt it will rain but I live in York", "The user lives in York."],
  ])("%s: %s", async (said, memory) => {
    expect(await believedAfter(said)).toContain(memory);
  });
});

describe("a swap that is thought of, planned or refused is not made", () => {
  it.each([
    ["I'm thinking of moving from Leeds to Hull."],
    ["We decided against a move from Leeds to Oslo."],
    ["I refused to move from Leeds to Oslo."],
    ["I decided not to move from Leeds to Oslo."],
    ["I dread moving from Leeds to York."],
    ["I was going to move from Leeds to York."],
    ["I regret not moving from Leeds to York."],
    ["I refuse to leave Leeds for London."],
    ["I doubt I'm moving from Leeds to York."],
  ])("%s", async (said) => {
    const believed = await believedAfter("I live in Leeds.", said);
    expect(believed).toContain("The user lives in Leeds.");
    expect(believed.filter((text) => /lives in (?!Leeds)/.test(text))).toEqual([]);
  });

  it.each([
    ["I moved from Leeds to York."],
    ["I've decided to move from Leeds to York."],
    ["I made the move from Leeds to York."],
    ["I finally managed to move from Leeds to York."],
  ])("%s: made", async (said) => {
    expect(await believedAfter("I live in Leeds.", said)).toContain("The user lives in York.");
  });
});
