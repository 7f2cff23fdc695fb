import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Message } from "../../domain/message.ts";
import { makeUserMessage } from "../../testing/test-doubles.ts";
import { mayHoldFacts } from "./turns.ts";

const lines = (name: string): string[] =>
  readFileSync(`${import.meta.dirname}/__fixtures__/${name}.txt`, "utf8")
    .trim()
    .split("\n");

it("accepts all 156 messages with a fact, in ten languages, also as questions and commands", () => {
  const tells = lines("tells");
  expect(tells.length).toBeGreaterThanOrEqual(155);
  expect(tells.filter((content) => !mayHoldFacts(makeUserMessage(content), []))).toEqual([]);
});

it("rejects 45 messages without a fact", () => {
  const nothing = lines("tells-nothing");
  expect(nothing).toHaveLength(45);
  expect(nothing.filter((content) => mayHoldFacts(makeUserMessage(content), []))).toEqual([]);
});

const asked = (content: string): Message => makeUserMessage(content, { id: "q", role: "assistant" });

it("accepts any answer to a question, except thanks", () => {
  const question = asked("Do you have any allergies?");
  for (const answer of ["Yes.", "No", "ok", "maybe", "nope", "Nuts?"]) {
    expect(mayHoldFacts(makeUserMessage(answer), [question])).toBe(true);
  }
  expect(mayHoldFacts(makeUserMessage("Thanks!"), [question])).toBe(false);
  expect(mayHoldFacts(makeUserMessage("Yes."), [asked("I see.")])).toBe(false);
});

it("ignores messages of the assistant and injected prompt blocks", () => {
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

it("accepts every long message", () => {
  expect(mayHoldFacts(makeUserMessage("What is this? ".repeat(40)), [])).toBe(true);
});
