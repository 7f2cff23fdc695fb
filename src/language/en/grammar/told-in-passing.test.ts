import { describe, expect, it } from "vitest";
import { extractAdditions } from "../../../testing/test-doubles.ts";
import { rulesExtractor } from "./rules.ts";

const texts = async (content: string): Promise<string[]> =>
  (await extractAdditions(rulesExtractor(), content)).map(({ text }) => text);

describe("a reason that lasts is told as well", () => {
  it.each([
    ["I write every day because I want to be a poet.", "The user wants to be a poet."],
    ["I get up early because I'm training to be a pilot.", "The user is training to be a pilot."],
    ["since I study to become a librarian, I read a lot", "The user studies to become a librarian."],
    ["We moved here because my wife is a doctor.", "The user's wife is a doctor."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });

  it("is not what holds for an hour, or may be", async () => {
    const told = [
      ...(await texts("I skipped lunch because I was tired.")),
      ...(await texts("I called because I might want to be a poet.")),
    ].join(" ");
    expect(told).not.toMatch(/tired|poet/);
  });
});

describe("what is liked least is no favourite", () => {
  it.each([
    ["History is my least favorite class", "The user's least favorite class is History."],
    ["math is my least favourite subject", "The user's least favourite subject is math."],
    ["Physics is my favourite class", "The user's favourite class is Physics."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toEqual([told]);
  });
});

describe("what is or is not somebody's thing is liked or not", () => {
  it.each([
    ["Running is just not my thing", "The user does not like Running."],
    ["golf is not really my thing", "The user does not like golf."],
    ["knitting is my thing", "The user likes knitting."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toEqual([told]);
  });
});

describe("names in small letters behind a relation are names", () => {
  it.each([
    ["my boss dana and i went to the same college", "The user's boss is called Dana."],
    ["my friend raj works at a bank", "The user's friend is called Raj."],
    ["i live with my roommate jamal", "The user's roommate is called Jamal."],
    ["my cat luna sleeps on my bed", "The user's cat is called Luna."],
    ["my daughters lily and rose play the violin", "The user's daughter is called Rose."],
    ["my kids zoe and max go to school", "The user's kids Zoe and Max go to school."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });

  it.each(["my student loan is huge", "my dog walker is sick", "my kids toys and books are everywhere"])(
    "a thing of theirs is no name: %s",
    async (said) => {
      expect((await texts(said)).join(" ")).not.toContain("called");
    },
  );
});

describe("what hangs on a noun is told of that noun", () => {
  it.each([
    ["I'm on statins, which I take every morning", "The user takes statins every morning."],
    ["I wear hearing aids, which I hate", "The user hates hearing aids."],
    ["I have a bike, which I ride to work", "The user rides their bike to work."],
    ["I drive a Volvo, which my dad sold me", "The user's dad sold the user a Volvo."],
    ["I take levothyroxine, 75 mcg, which I hate", "The user hates levothyroxine 75 mcg."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });

  it.each([
    ["We have a cabin in Vermont, which we rent out in summer", /rent/],
    ["I have a car, which I think is a Skoda", /think/],
  ])("is left out where it is open what it is told of: %s", async (said, left) => {
    expect((await texts(said)).join(" ")).not.toMatch(left);
  });
});

describe("verbs that look the same in all forms, and verbs as they sound", () => {
  it.each([
    ["The vet put Bruno on a diet", "The vet put Bruno on a diet."],
    ["we r staying in Lisbon", "The user is staying in Lisbon."],
    ["my kids r allergic to nuts", "The user's kids are allergic to nuts."],
    ["my brother married a show jumper", "The user's brother is married to a show jumper."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });
});

describe("what was done to somebody is not what they did", () => {
  it.each([
    ["I'm Swiss, born and raised in Lugano", "The user was raised in Lugano."],
    ["I'm Welsh, adopted from Korea", "The user was adopted from Korea."],
    ["I'm a nurse and worked in Leeds", "The user worked in Leeds."],
  ])("%s", async (said, told) => {
    expect(await texts(said)).toContain(told);
  });
});

describe("what has been so since a day", () => {
  it.each([
    ["been off work since tuesday", /has been off work since/],
    ["been out of work since may", /has been out of work since/],
  ])("lasts, where it would pass by itself: %s", async (said, told) => {
    expect((await texts(said)).join(" ")).toMatch(told);
  });
});

describe("what somebody does on a day is no day of theirs", () => {
  it.each(["dad retiring in june", "boss leaving in january", "council tax going up in april"])(
    "%s",
    async (said) => {
      expect((await texts(said)).join(" ")).not.toMatch(/ is in /);
    },
  );

  it("a thing that takes place on a day is", async () => {
    expect((await texts("big exam coming up on 3 June")).join(" ")).toMatch(/exam is on 3 June/);
  });
});
