import { describe, expect, it } from "vitest";
import { findSensitiveKind } from "../../topics.ts";
import { weigh } from "./weights.ts";

const fact = { text: "The user grows leeks.", kind: "fact" as const, quote: "I grow leeks" };
const leeks = { subject: "user", relation: "grow", value: "leeks" };

describe("Weighing a statement", () => {
  it("believes what is plainly said, and gives no reason where nothing sets it apart", () => {
    expect(weigh({ ...fact, claim: leeks })).toEqual({
      confidence: 0.9,
      importance: 0.6,
      sensitive: false,
      why: "",
    });
  });

  it("believes a hedge less, and says so", () => {
    const weight = weigh({ ...fact, quote: "I maybe grow leeks", claim: leeks });
    expect(weight.confidence).toBe(0.65);
    expect(weight.why).toBe("said with a hedge");
  });

  it("says when it was understood from what was said around it", () => {
    expect(weigh({ ...fact, claim: leeks, confidence: 0.7 }).why).toBe(
      "understood from what was said around it",
    );
  });

  it("puts health first, and marks it", () => {
    const claim = { subject: "user", relation: "be allergic to", value: "latex" };
    expect(weigh({ ...fact, text: "The user is allergic to latex.", claim })).toMatchObject({
      importance: 0.9,
      sensitive: true,
      why: "health; sensitive: health",
    });
  });

  it.each([
    ["be called", "Odile", "who somebody is", 0.8],
    ["live in", "Ghent", "home and work", 0.75],
    ["have", "two daughters", "family", 0.75],
    ["be married to", "Ola", "family", 0.75],
  ])("puts %s %s above what is told in passing", (relation, value, why, importance) => {
    const weight = weigh({ ...fact, text: "It.", claim: { subject: "user", relation, value } });
    expect(weight).toMatchObject({ importance, why });
  });

  it("never lowers what the reading itself made of it, and leaves an opinion low", () => {
    expect(weigh({ ...fact, claim: leeks, importance: 0.3 }).importance).toBe(0.3);
    const named = { subject: "user", relation: "be called", value: "Odile" };
    expect(weigh({ ...fact, claim: named, importance: 0.95 }).importance).toBe(0.95);
  });
});

describe("What is sensitive", () => {
  it.each([
    ["The user takes insulin.", "health"],
    ["The user is a practising Catholic.", "beliefs"],
    ["The user earns 3,000 a month.", "money"],
    ["The user is bisexual.", "sexuality"],
    ["The user is undocumented.", "immigration status"],
    ["The user was convicted of theft.", "criminal record"],
  ])("%s: %s", (text, kind) => {
    expect(findSensitiveKind(text)).toBe(kind);
  });

  it.each(["The user lives in Tallinn.", "The user transports furniture.", "The user bikes to work."])(
    "%s: nothing",
    (text) => {
      expect(findSensitiveKind(text)).toBeUndefined();
    },
  );
});
