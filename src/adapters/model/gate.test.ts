import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Message } from "../../domain/message.ts";
import { makeUserMessage } from "../../testing/test-doubles.ts";
import { mayHoldFacts } from "./turns.ts";

const lines = (name: string): string[] =>
  readFileSync(`${import.meta.dirname}/__fixtures__/${name}.txt`, "utf8")
    .trim()
    .split("\n");

it("spares none of 156 messages that tell something, in ten languages, as questions and as orders", () => {
  const tells = lines("tells");
  expect(tells.length).toBeGreaterThanOrEqual(155);
  expect(tells.filter((content) => !mayHoldFacts(makeUserMessage(content), []))).toEqual([]);
});

it("spares 45 that tell nothing", () => {
  const nothing = lines("tells-nothing");
  expect(nothing).toHaveLength(45);
  expect(nothing.filter((content) => mayHoldFacts(makeUserMessage(content), []))).toEqual([]);
});

const asked = (content: string): Message => makeUserMessage(content, { id: "q", role: "assistant" });

it("takes any answer to a question for one that may tell something, but for thanks", () => {
  const question = asked("Do you have any allergies?");
  for (const answer of ["Yes.", "No", "ok", "maybe", "nope", "Nuts?"]) {
    expect(mayHoldFacts(makeUserMessage(answer), [question])).toBe(true);
  }
  expect(mayHoldFacts(makeUserMessage("Thanks!"), [question])).toBe(false);
  expect(mayHoldFacts(makeUserMessage("Yes."), [asked("I see.")])).toBe(false);
});

it("reads only what the user says, and not what was put into a prompt", () => {
  expect(mayHoldFacts(asked("I live in Porto."), [])).toBe(false);
  expect(mayHoldFacts(makeUserMessage("I live in Porto.", { role: "tool", origin: "tool_result" }), [])).toBe(
    false,
  );
  expect(mayHoldFacts(makeUserMessage("I live in Porto.", { origin: "import" }), [])).toBe(true);
  const block = "<keepsake-abcdefgh1234>\nI live in Porto.\n</keepsake-abcdefgh1234>";
  expect(mayHoldFacts(makeUserMessage(block), [])).toBe(false);
  expect(mayHoldFacts(makeUserMessage(`${block}\nthanks`), [])).toBe(false);
  expect(mayHoldFacts(makeUserMessage(`${block}\nI use Shram.`), [])).toBe(true);
});

it("never spares a long message", () => {
  expect(mayHoldFacts(makeUserMessage("What is this? ".repeat(40)), [])).toBe(true);
});
