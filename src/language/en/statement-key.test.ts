import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Claim, Memory } from "../../domain/memory.ts";
import { makeMemory } from "../../testing/memory-store/change-sets.ts";
import { toStatementKey } from "./statement-key.ts";

const saying = (text: string, fields: Partial<Memory> = {}): string | undefined =>
  toStatementKey(makeMemory("m", 1, { text, ...fields }));

describe("gives two memories the same key", () => {
  it.each([
    ["The user uses Shram.", "user uses Shram"],
    ["User doesn't eat meat.", "The user does not eat meat"],
    ["The user can't swim.", "The user cannot swim."],
    ["The user lives in “Porto”.", 'The user lives in "Porto"'],
    ["The user also plays an oboe.", "The user plays an oboe."],
    ["The user’s cat is called Quixote.", "The user's cat is called Quixote"],
  ])("%s / %s", (one, other) => {
    expect(saying(one)).toBe(saying(other));
  });

  it("if their claims are identical and their sentences have the same distinctive tokens", () => {
    const claim: Claim = { subject: "user", relation: "use", value: "Shram" };
    expect(saying("The user uses Shram.", { claim })).toBe(saying("Uses Shram at work.", { claim }));
  });
});

describe("gives two memories different keys", () => {
  it.each([
    ["a value", "The user uses Shram.", "The user uses Magnet."],
    ["a number", "The user runs 5 km a day.", "The user runs 6 km a day."],
    ["a sign", "It was -5 degrees.", "It was 5 degrees."],
    ["a unit", "The rent is 900 $.", "The rent is 900 €."],
    ["a name", "Lena lives in Porto.", "Lea lives in Porto."],
    ["a name that is a word too", "The user likes Turkey.", "The user likes turkey."],
    ["a plural name", "The user met William.", "The user met Williams."],
    ["a sign in a name", "The user writes C.", "The user writes C++."],
    ["a negation", "The user eats meat.", "The user does not eat meat."],
    ["never", "The user never smoked.", "The user smoked."],
    ["a tense", "The user used Shram.", "The user uses Shram."],
    ["still", "The user still works at Vantor.", "The user works at Vantor."],
    ["who does what", "Ann likes Ben.", "Ben likes Ann."],
    ["a question", "The user lives in Porto?", "The user lives in Porto."],
    ["an accent", "The user sent a resume.", "The user sent a resumé."],
    ["really", "The user doesn't really like tea.", "The user doesn't like tea."],
  ])("if they differ in %s", (_what, one, other) => {
    expect(saying(one)).not.toBe(saying(other));
  });

  it.each<[string, Partial<Memory>, Partial<Memory>]>([
    ["their kind", { kind: "fact" }, { kind: "preference" }],
    ["the day", { when: "2026-05-01" }, { when: "2026-05-02" }],
    ["their end", {}, { validTo: "2026-05-02T00:00:00.000Z" }],
    ["their expiry", {}, { expiresAt: "2026-05-02T00:00:00.000Z" }],
    ["who said it", { origin: "user_message" }, { origin: "document" }],
    ["what they carry", { metadata: { of: "a" } }, { metadata: { of: "b" } }],
    ["the agent", { agent: "a" }, { agent: "b" }],
    ["the subject", { claim: claim("user") }, { claim: claim("user/sister") }],
    ["the value", { claim: claim("user", "Shram") }, { claim: claim("user", "Shrams") }],
    ["the qualifier", { claim: claim("user") }, { claim: { ...claim("user"), qualifier: "at work" } }],
    ["a claim at all", {}, { claim: claim("user") }],
  ])("if they differ in %s", (_what, one, other) => {
    expect(saying("The user uses Shram.", one)).not.toBe(saying("The user uses Shram.", other));
  });

  it("if the same claim has another number, name or negation", () => {
    const told = (text: string) => saying(text, { claim: claim("user") });
    expect(told("The user uses Shram.")).not.toBe(told("The user does not use Shram."));
    expect(told("The user uses Shram.")).not.toBe(told("The user uses Shram 2."));
    expect(told("The user uses Shram.")).not.toBe(told("The user uses Shram with Lena."));
  });

  it("if something may have happened twice, or is quarantined", () => {
    expect(saying("The user ran.", { kind: "event" })).toBeUndefined();
    expect(saying("The user ran.", { kind: "event", when: "2026-05-01" })).toBeDefined();
    expect(saying("The user owes a call.", { kind: "commitment" })).toBeUndefined();
    expect(saying("Send it all.", { quarantined: true })).toBeUndefined();
  });
});

describe("gives different keys in any text", () => {
  const word = fc.stringMatching(/^[a-z]{2,8}$/);
  const name = fc.stringMatching(/^[A-Z][a-z]{2,8}$/);
  const number = fc.oneof(
    fc.integer({ min: -999, max: 9999 }).map(String),
    fc.stringMatching(/^\d{1,3}\.\d{1,2}$/),
  );
  const telling = fc.oneof(name, number, fc.constantFrom("not", "never", "no", "without"));
  const sentence = fc.array(fc.oneof(word, telling), { minLength: 2, maxLength: 8 });

  it("if a number, name or negation is added, removed or changed", () => {
    fc.assert(
      fc.property(sentence, telling, telling, fc.nat(), (words, one, other, at) => {
        fc.pre(one !== other);
        // At the start of a sentence, a capital means nothing. Usually "the user" is there.
        const with_ = (put: string[]): string => {
          const place = at % (words.length + 1);
          return ["the", "user", ...words.slice(0, place), ...put, ...words.slice(place)].join(" ");
        };
        const texts = [with_([]), with_([one]), with_([other])];
        const distinct = new Set(texts).size;
        expect(new Set(texts.map((text) => saying(text))).size).toBe(distinct);
        const claims = texts.map((text) => saying(text, { claim: claim("user") }));
        expect(new Set(claims).size).toBe(distinct);
      }),
    );
  });

  it("if a value differs", () => {
    fc.assert(
      fc.property(sentence, sentence, (one, other) => {
        fc.pre(one.join(" ") !== other.join(" "));
        const texts = [one, other].map((words) => `the user uses ${words.join(" ")}`);
        expect(saying(texts[0] ?? "")).not.toBe(saying(texts[1] ?? ""));
        const [told, retold] = [one, other].map((words) =>
          saying("Told.", { claim: claim("user", `x ${words.join(" ")}`) }),
        );
        expect(told).not.toBe(retold);
      }),
    );
  });
});

function claim(subject: string, value = "Shram"): Claim {
  return { subject, relation: "use", value };
}
