import { describe, expect, it } from "vitest";
import { ownSpans } from "./borrowed.ts";

function own(text: string): string[] {
  return ownSpans(text, [{ start: 0, end: text.length }]).map(({ start, end }) => text.slice(start, end));
}

describe("words beside a text that is brought in", () => {
  it.each([
    "for the insurance quote I need this again: I ride a Honda",
    "for the letter I need it here: I own a boat",
  ])("“%s” is told for a text, and is one's own", (text) => expect(own(text)).toEqual([text]));

  it.each(["here is the quote I need: I ride a Honda", "for the email I need this text: I own a boat"])(
    "“%s” is somebody's text",
    (text) => expect(own(text)).toEqual([]),
  );
});

describe("the numbers of a list", () => {
  it("part its sentences, where they count from one", () => {
    const pieces = own("1. I live in Hull 2. I have a dog 3) I hate figs").map((piece) => piece.trim());
    expect(pieces).toEqual(["I live in Hull", "I have a dog", "I hate figs"]);
  });

  it.each(["I have 2. No more", "2. I live in Hull 4. I ski"])("are none in “%s”", (text) =>
    expect(own(text)).toEqual([text]),
  );
});

describe("words about what is made up", () => {
  it.each(["Let's pretend we live on Mars and I am the captain", "let's play a game: I own a castle"])(
    "“%s” opens a game",
    (text) => expect(own(text)).toEqual([]),
  );

  it("are one's own where they ask to pretend that nothing was said", () => {
    const text = "that quarrel, let's pretend I never mentioned it";
    expect(own(text)).toEqual([text]);
  });
});
