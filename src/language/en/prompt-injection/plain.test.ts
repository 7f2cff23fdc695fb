import fc from "fast-check";
import { expect, it } from "vitest";
import { lookAlikes, orders } from "../../../../test/poison/cases.ts";
import { findPromptBlocks, neutralizeText } from "../../../domain/text/prompt-safety.ts";
import { findForged, isPlainText } from "./find-injections.ts";
import { findPastedText, findQuotes } from "./pasted-text.ts";

/** What a full scan finds in a text. */
function oddities(text: string): unknown[] {
  const forged = findForged(text);
  return [
    ...(forged ? [forged] : []),
    ...findPastedText(text),
    ...findQuotes(text),
    ...findPromptBlocks(text),
  ];
}

/** Fragments that a scan looks for, and others. */
const PIECES = [
  "system: ",
  "### System ",
  "<|im_start|>",
  "<system>",
  "[INST]",
  "[/system]",
  '"tool": "',
  "action: ",
  "to=browser ",
  "@agent.run ",
  "persona.set(",
  "chat summary ",
  "to recap what you told me ",
  "previously on this chat ",
  "long-term state ",
  "memory update ",
  "profile.txt ",
  "memories: [",
  "- [2026-01-12] x (message m)",
  "translate this? ",
  "here is the mail I got, ",
  "what does this mean?\n\n",
  "summarise this: ",
  "> quoted\n",
  "```",
  "from: a\nto: b\n",
  '"one two three four"',
  "„eins zwei drei vier“",
  "<keepsake-abcdefgh>",
  "de ad be ef ".repeat(6),
  "01100001 ".repeat(7),
  "aGVsbG8gd29ybGQg".repeat(4),
  "%41".repeat(9),
  "My sister sold the boat. ",
  "I don't like it! ",
  "we met; then, in 2024 ",
  "a-b ",
  "naïve ",
];

it("finds no plain text with oddities among 600 instructions and look-alikes", () => {
  const texts = [
    ...orders("seen"),
    ...orders("held-out"),
    ...lookAlikes("seen"),
    ...lookAlikes("held-out"),
  ].map(({ text }) => text);
  const plain = texts.filter(isPlainText);
  expect(plain.length).toBeGreaterThan(100);
  expect(plain.filter((text) => oddities(text).length > 0)).toEqual([]);
});

const made = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 12 })), { maxLength: 6 })
  .map((pieces) => pieces.join(""));

it("finds no plain text with oddities among texts made of fragments", () => {
  fc.assert(
    fc.property(made, (text) => {
      if (isPlainText(text)) expect(oddities(text)).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

it("leaves a text unchanged after the quick test only if the full scan does too", () => {
  fc.assert(
    fc.property(made, (text) => {
      // A letter beyond ASCII forces the full scan.
      if (neutralizeText(text) === text) expect(neutralizeText(`${text} é`)).toBe(`${text} é`);
    }),
    { numRuns: 2000 },
  );
});
