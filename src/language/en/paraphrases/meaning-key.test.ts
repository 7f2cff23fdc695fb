import { describe, expect, it } from "vitest";
import type { Memory } from "../../../domain/memory.ts";
import { makeMemory } from "../../../testing/memory-store/change-sets.ts";
import { toMeaningKey } from "./meaning-key.ts";

const keyOf = (text: string, fields: Partial<Memory> = {}) =>
  toMeaningKey(makeMemory("m", 1, { text, ...fields }));

const SAME: readonly (readonly [one: string, other: string])[] = [
  ["The user bought a bike in Utrecht.", "User purchased a bicycle in Utrecht"],
  ["The user works for Initech in Porto with Ana.", "The user is employed by Initech with Ana in Porto."],
  ["On Mondays the user goes swimming with Ana.", "The user swims with Ana every Monday."],
  ["The user's sister is Ines.", "Ines is the user's sister."],
  ["The name of the user's cat is Miso.", "The user's cat is called Miso."],
  ["The user does not have to work on 4 June.", "The user doesn't need to work on 4 June."],
  ["The user cancelled the trip.", "The user canceled the journey."],
  ["The user organises two parties every year.", "The user organizes 2 parties annually."],
  ["The user can't stand olives.", "The user hates olives."],
  ["The user likes to cook.", "The user enjoys cooking."],
];

const APART: readonly (readonly [difference: string, one: string, other: string])[] = [
  ["name", "The user bought a bike from Ana.", "The user purchased a bicycle from Eva."],
  ["number", "The user has two kids.", "The user has three children."],
  ["plural", "The user owns a cat.", "The user has cats."],
  ["negation", "The user likes olives.", "The user doesn't enjoy olives."],
  ["tense", "The user lives in Porto.", "The user resided in Porto."],
  ["degree", "The user likes olives.", "The user loves olives."],
  ["duty", "The user must not work.", "The user doesn't need to work."],
  ["person", "The user's mum is a doctor.", "The user's dad is a physician."],
  ["owner", "The user's mum is a doctor.", "The user is a physician."],
  ["role", "The user lent Ana money.", "Ana lent the user money."],
  ["role after a preposition", "The user prefers tea to coffee.", "The user prefers coffee to tea."],
  ["comparison", "The user is taller than Ben.", "Ben is taller than the user."],
  ["country and bird", "The user likes turkey.", "The user likes Turkey."],
  ["quantity", "The user speaks little French.", "The user speaks a little French."],
  ["condition", "The user bikes if it rains.", "The user bikes."],
  ["place", "The user keeps keys in the flat.", "The user keeps keys near the apartment."],
  ["weekday", "The user swims on Mondays.", "The user swims every Tuesday."],
];

describe("the key of a meaning", () => {
  it.each(SAME)("is the same for “%s” and “%s”", (one, other) => {
    expect(keyOf(one)).toBeDefined();
    expect(keyOf(other)).toBe(keyOf(one));
  });

  it.each(APART)("keeps statements apart that differ in a %s: “%s” and “%s”", (_difference, one, other) => {
    expect(keyOf(one)).toBeDefined();
    expect(keyOf(other)).not.toBe(keyOf(one));
  });

  it.each<Partial<Memory>>([
    { kind: "preference" },
    { validFrom: "2019-01-01T00:00:00.000Z" },
    { validTo: "2027-01-01T00:00:00.000Z" },
    { expiresAt: "2027-01-01T00:00:00.000Z" },
    { agent: "travel" },
    { origin: "document" },
    { sensitive: true },
    { metadata: { app: "notes" } },
  ])("keeps memories apart that differ in %j", (fields) => {
    expect(keyOf("The user bought a bike.", { kind: "fact", ...fields })).not.toBe(
      keyOf("The user purchased a bicycle.", { kind: "fact" }),
    );
  });

  it("does not depend on when it was said, except with words such as “last” and “new”", () => {
    const later = { at: "2026-05-01T00:00:00.000Z", validFrom: "2026-05-01T00:00:00.000Z" };
    expect(keyOf("The user owns a bike.", later)).toBe(keyOf("The user has a bicycle."));
    expect(keyOf("The user owns a new bike.", later)).not.toBe(keyOf("The user has a new bicycle."));
    expect(keyOf("The user bought a bike last year.", later)).not.toBe(
      keyOf("The user purchased a bicycle last year."),
    );
  });

  it.each([
    "Did the user buy a bike?",
    "The user bought a bike. It is red.",
    'The user said "I bought a bike".',
    `The user bought ${"a bike and ".repeat(20)}a car.`,
    "",
    "The user has two.",
    "The user owns 4.",
  ])("is undefined for what is not one plain statement: %j", (text) => {
    expect(keyOf(text)).toBeUndefined();
  });

  it("is undefined for an event without a day, which may have happened twice", () => {
    expect(keyOf("The user bought a bike.", { kind: "event" })).toBeUndefined();
    expect(keyOf("The user bought a bike.", { kind: "event", when: "2026-03-01" })).toBeDefined();
  });

  it("changes with every word that is in no row of synonyms", () => {
    for (const [one, other] of SAME) {
      const text = other.replace(/\.?$/, " with Zoltan.");
      expect(keyOf(text)).not.toBe(keyOf(one));
    }
  });
});
