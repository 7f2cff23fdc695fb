import { describe, expect, it } from "vitest";
import { eraseScope } from "./erase-scopes.ts";

/** A Wednesday. */
const AT = "2026-05-20T15:00:00.000Z";

describe("what is meant as a whole", () => {
  it.each([
    ["everything I told you yesterday", { from: "2026-05-19T00:00:00.000Z", to: "2026-05-20T00:00:00.000Z" }],
    ["what I said today", { from: "2026-05-20T00:00:00.000Z", to: "2026-05-21T00:00:00.000Z" }],
    ["everything from last week", { from: "2026-05-11T00:00:00.000Z", to: "2026-05-18T00:00:00.000Z" }],
    ["all we discussed last weekend", { from: "2026-05-16T00:00:00.000Z", to: "2026-05-18T00:00:00.000Z" }],
    ["everything I said before March", { to: "2026-03-01T00:00:00.000Z" }],
    ["everything I told you since Monday", { from: "2026-05-18T00:00:00.000Z" }],
    ["whatever I mentioned after 3 May", { from: "2026-05-04T00:00:00.000Z" }],
    ["all my messages from last month", { from: "2026-04-01T00:00:00.000Z", to: "2026-05-01T00:00:00.000Z" }],
    [
      "everything I told you between 3 May and 5 May",
      { from: "2026-05-03T00:00:00.000Z", to: "2026-05-06T00:00:00.000Z" },
    ],
    ["everything I said in the last two hours", { from: "2026-05-20T13:00:00.000Z" }],
    ["this conversation", { session: true }],
    ["our whole chat", { session: true }],
    ["any of this conversation", { session: true }],
    ["everything I said in this session", { session: true }],
    ["what I told you about my health", { topic: "health" }],
    ["everything you know about my job", { topic: "work" }],
    ["anything about my family", { topic: "family" }],
    ["my medical history", { topic: "health" }],
    ["all my financial information", { topic: "money" }],
  ])("%s", (object, scope) => {
    expect(eraseScope(object, AT)).toEqual(scope);
  });

  it.each([
    "what I told you about Magnet",
    "my address",
    "my sister",
    "everything about Frank",
    "what I said about the concert yesterday",
    "everything",
    "what car I drive",
    "the meeting on Monday",
  ])("not: %s", (object) => {
    expect(eraseScope(object, AT)).toBeUndefined();
  });
});
