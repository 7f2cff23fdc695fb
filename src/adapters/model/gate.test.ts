import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Message } from "../../domain/message.ts";
import { said } from "../../testing/told.ts";
import { mayTell } from "./gate.ts";

const lines = (name: string): string[] =>
  readFileSync(`${import.meta.dirname}/__fixtures__/${name}.txt`, "utf8")
    .trim()
    .split("\n");

it("spares none of 156 messages that tell something, in ten languages, as questions and as orders", () => {
  const tells = lines("tells");
  expect(tells.length).toBeGreaterThanOrEqual(155);
  expect(tells.filter((content) => !mayTell(said(content), []))).toEqual([]);
});

it("spares 45 that tell nothing", () => {
  const nothing = lines("tells-nothing");
  expect(nothing).toHaveLength(45);
  expect(nothing.filter((content) => mayTell(said(content), []))).toEqual([]);
});

const asked = (content: string): Message => said(content, { id: "q", role: "assistant" });

it("takes any answer to a question for one that may tell something, but for thanks", () => {
  const question = asked("Do you have any allergies?");
  for (const answer of ["Yes.", "No", "ok", "maybe", "nope", "Nuts?"]) {
    expect(mayTell(said(answer), [question])).toBe(true);
  }
  expect(mayTell(said("Thanks!"), [question])).toBe(false);
  expect(mayTell(said("Yes."), [asked("I see.")])).toBe(false);
});

it("reads only what the user says, and not what was put into a prompt", () => {
  expect(mayTell(asked("I live in Porto."), [])).toBe(false);
  expect(mayTell(said("I live in Porto.", { role: "tool", origin: "tool_result" }), [])).toBe(false);
  expect(mayTell(said("I live in Porto.", { origin: "import" }), [])).toBe(true);
  const block = "<keepsake-abcdefgh1234>\nI live in Porto.\n</keepsake-abcdefgh1234>";
  expect(mayTell(said(block), [])).toBe(false);
  expect(mayTell(said(`${block}\nthanks`), [])).toBe(false);
  expect(mayTell(said(`${block}\nI use Shram.`), [])).toBe(true);
});

it("never spares a long message", () => {
  expect(mayTell(said("What is this? ".repeat(40)), [])).toBe(true);
});
