import { describe, expect, it } from "vitest";
import { tellsErased, tellsEvent } from "./told-events.ts";

describe("a text tells that an event has happened", () => {
  it.each([
    ["the trip is over, back at my desk", "the trip is over"],
    ["elm road said YES. accepted this morning", "elm road gets accepted"],
    ["The wedding was lovely!", "the wedding"],
    ["I've moved out of the flat", "I've moved out"],
    ["we checked out an hour ago", "we've checked out"],
  ])("if it uses its words in a past or present form: %s", (text, event) => {
    expect(tellsEvent(text, event)).toBe(true);
  });

  it.each([
    ["when the trip is over I need a rest", "the trip is over"],
    ["is the trip over yet?", "the trip is over"],
    ["the trip isn't over", "the trip is over"],
    ["the wedding is next week", "the wedding"],
    ["I hope elm road gets accepted", "elm road gets accepted"],
    ["we booked another trip", "the trip is over"],
    ["", "the trip is over"],
  ])("but not if it is a plan, a question, a denial or something else: %s", (text, event) => {
    expect(tellsEvent(text, event)).toBe(false);
  });
});

describe("a text tells that something has been erased", () => {
  it.each([
    ["The temporary door codes are now deleted from memory.", "the temporary door codes"],
    ["Done: lockbox number erased.", "the lockbox number"],
  ])("if it names it and says so: %s", (text, about) => {
    expect(tellsErased(text, about)).toBe(true);
  });

  it.each([
    ["I'll have the door codes deleted on Sunday.", "the door codes"],
    ["The door codes will be deleted once you have left.", "the door codes"],
    ["You asked me to have the door codes deleted.", "the door codes"],
    ["The deletion of the door codes is pending.", "the door codes"],
    ["The door codes have not been deleted.", "the door codes"],
    ["The parking permit is deleted.", "the door codes"],
    ["Are the door codes deleted?", "the door codes"],
  ])("but not if it is for later, asked for, denied or of something else: %s", (text, about) => {
    expect(tellsErased(text, about)).toBe(false);
  });
});
