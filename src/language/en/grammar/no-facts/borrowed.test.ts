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
