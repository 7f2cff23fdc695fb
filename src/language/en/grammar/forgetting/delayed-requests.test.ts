import { describe, expect, it } from "vitest";
import { delayedRequests } from "./delayed-requests.ts";

const AT = "2026-06-11T18:00:00Z";

describe("a sentence with a request and a later time", () => {
  it.each([
    ["forget the wifi password in two hours", "forget the wifi password", "2026-06-11T20:00:00.000Z"],
    ["delete my locker code after Tuesday please", "delete my locker code", "2026-06-17T00:00:00.000Z"],
    ["tomorrow, forget what I said about Tom", "forget what I said about Tom", "2026-06-12T00:00:00.000Z"],
    [
      "keep the visitor one till 30 september, then erase it",
      "erase the visitor one",
      "2026-10-01T00:00:00.000Z",
    ],
    [
      "delete Tom's number, the one I use for work, in two hours",
      "delete Tom's number, the one I use for work",
      "2026-06-11T20:00:00.000Z",
    ],
    ["only keep the alarm code until Monday", "forget the alarm code", "2026-06-16T00:00:00.000Z"],
    [
      "when we've checked out on Sunday 14 june delete the lockbox number ok",
      "delete the lockbox number",
      "2026-06-15T00:00:00.000Z",
    ],
  ])("gives the request and the time: %s", (sentence, request, at) => {
    expect(delayedRequests(sentence, AT)).toEqual([{ request, due: { at } }]);
  });
});

describe("a sentence with a request and an event", () => {
  it.each([
    ["once the trip is over you can delete our hotel codes", "delete our hotel codes", "the trip is over"],
    [
      "Once it's settled between Tom and I, delete the figure",
      "delete the figure",
      "it's settled between Tom and I",
    ],
    ["Delete the alarm code once I have moved.", "Delete the alarm code", "I have moved"],
    ["please erase the gate code after the wedding", "erase the gate code", "the wedding"],
    ["as soon as I've moved out, forget the old address", "forget the old address", "I've moved out"],
  ])("gives the request and the event: %s", (sentence, request, event) => {
    expect(delayedRequests(sentence, AT)).toEqual([{ request, due: { event } }]);
  });

  it("gives each of two requests its own condition", () => {
    const sentence =
      "if the bid is accepted delete the plan B figure, if it falls through delete the first figure";
    expect(delayedRequests(sentence, AT)).toEqual([
      { request: "delete the plan B figure", due: { event: "the bid is accepted" } },
      { request: "delete the first figure", due: { event: "it falls through" } },
    ]);
  });
});

describe("a sentence without a later time", () => {
  it.each([
    "delete what I told you on 3 May",
    "delete the note about the meeting on Friday",
    "forget my old address",
    "delete the note about calling Mr. Pell after nine",
    "unless I say otherwise, delete the code",
    "delete the old number after saving the new one",
    "if I haven't said otherwise by Friday, delete the code",
    "delete the trial budget from the record, everybody is puzzled when it turns up",
    "if the board finds this out I lose my licence",
    "what the new tenant would like to see, delete that please, the garden plan will be useful next year",
  ])("gives no delayed request: %s", (sentence) => {
    expect(delayedRequests(sentence, AT)).toEqual([]);
  });
});
