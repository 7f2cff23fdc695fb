import { expect, it } from "vitest";
import type { Answer } from "../../../domain/recall.ts";
import type { ErasureReceipt, Receipt, ReceiptLine } from "../../../domain/receipt.ts";
import { englishReplies } from "./replies.ts";

function receipt(memories: readonly ReceiptLine[], more: Partial<Receipt> = {}): Receipt {
  return { revision: 1, messages: ["m"], memories, pending: 0, ...more };
}

function answer(text: string, abstained = false): Answer {
  const recall = { id: "r", items: [], context: "", tokens: 0, abstained };
  return { text, used: [], abstained, recall, by: "memory" };
}

function erasure(memories: number, messages: number, complete = true): ErasureReceipt {
  return {
    id: "e",
    at: "2026-01-01T00:00:00.000Z",
    project: "default",
    user: "ana",
    revision: 2,
    erased: { memories, versions: 1, messages, emptied: 0, passages: 1, vectors: 1, tombstones: 1 },
    ids: [],
    verified: [],
    complete,
    previous: "",
    hash: "",
    signature: "",
  };
}

it("says what was learnt", () => {
  const lines: ReceiptLine[] = [
    { id: "1", action: "added", text: "The user uses Shram." },
    { id: "2", action: "added", text: "The user's sister lives in Bonn." },
  ];
  expect(englishReplies.writeReply({ receipt: receipt(lines) })).toBe(
    "Noted: you use Shram; your sister lives in Bonn.",
  );
});

it("says what has ended", () => {
  const lines: ReceiptLine[] = [
    { id: "1", action: "superseded", text: "The user uses Shram.", why: "said so" },
  ];
  expect(englishReplies.writeReply({ receipt: receipt(lines) })).toBe("Noted. No longer so: you use Shram.");
});

it("answers from memory, and says that it does not know", () => {
  expect(englishReplies.writeReply({ receipt: receipt([]), answer: answer("You use Shram.") })).toBe(
    "You use Shram.",
  );
  const unknown = answer("I don't know that.", true);
  expect(englishReplies.writeReply({ receipt: receipt([]), answer: unknown })).toBe(unknown.text);
});

it("tells a doubted answer beside what was learnt only where there was no time to be sure", () => {
  const lines: ReceiptLine[] = [{ id: "1", action: "added", text: "The user likes tea." }];
  const doubted = answer("I'm not certain. You use Shram.", true);
  const write = (given: Answer): string =>
    englishReplies.writeReply({ receipt: receipt(lines), answer: given, said: "What do I use? I like tea." });
  expect(write(doubted)).toBe("Noted: you like tea.");
  expect(write({ ...doubted, trouble: "busy" })).toBe(`${doubted.text} Noted: you like tea.`);
});

it("says how much was erased, without the words", () => {
  const lines: ReceiptLine[] = [{ id: "1", action: "erased", text: "" }];
  const reply = englishReplies.writeReply({ receipt: receipt(lines, { erasures: [erasure(2, 3)] }) });
  expect(reply).toBe(
    "Done. I have forgotten everything about that: 2 memories and the words in 3 messages are erased.",
  );
  expect(englishReplies.writeReply({ receipt: receipt([], { erasures: [erasure(0, 0)] }) })).toMatch(
    /nothing like that/,
  );
  expect(englishReplies.writeReply({ receipt: receipt([], { erasures: [erasure(1, 1, false)] }) })).toMatch(
    /could not verify/,
  );
});

it("says why something was not stored", () => {
  const lines: ReceiptLine[] = [{ id: "", action: "refused", text: "", why: "it was erased" }];
  expect(englishReplies.writeReply({ receipt: receipt(lines) })).toBe("I did not keep that: it was erased.");
});

it("replies to small talk, and to a pending message", () => {
  expect(englishReplies.writeReply({ receipt: receipt([]) })).toBe("All right, I'm listening.");
  expect(englishReplies.writeReply({ receipt: receipt([], { pending: 1 }) })).toMatch(/in a moment/);
});

it.each(["how are you?", "tell me a joke", "What's 2 + 2?", "what can you do?"])(
  "says what it can do when “%s” is asked",
  (said) => {
    const unknown = answer("I don't know that.", true);
    expect(englishReplies.writeReply({ receipt: receipt([]), answer: unknown, said })).toMatch(
      /^I only remember/,
    );
  },
);

it.each(["Where do I live?", "Where does Teo work?", "what should you call me?", "Do you know my name?"])(
  "says that it does not know when “%s” is asked",
  (said) => {
    const unknown = answer("I don't know that.", true);
    expect(englishReplies.writeReply({ receipt: receipt([]), answer: unknown, said })).toBe(unknown.text);
  },
);

it("admits that it learnt nothing from a statement", () => {
  const said = "the quick fox was over there again";
  expect(englishReplies.writeReply({ receipt: receipt([]), said })).toBe(
    "Saved. I found no new facts in that.",
  );
  expect(englishReplies.writeReply({ receipt: receipt([]), said: "thanks a lot!" })).toBe(
    "All right, I'm listening.",
  );
});

it("says which backups still contain the erased content", () => {
  const said = (...backups: { name: string; at: string; until?: string }[]): string =>
    englishReplies.writeReply({ receipt: receipt([], { erasures: [{ ...erasure(1, 1), backups }] }) });
  const at = "2026-01-01T00:00:00.000Z";
  expect(said()).toMatch(/are erased\.$/);
  expect(said({ name: "a.db", at })).toMatch(/are erased\. A backup made before still holds it\.$/);
  expect(said({ name: "a.db", at, until: "2027-01-31T00:00:00.000Z" })).toMatch(
    /A backup made before still holds it, until 31 January 2027 at the latest\.$/,
  );
  expect(said({ name: "a.db", at, until: "2027-01-31T00:00:00.000Z" }, { name: "b.db", at })).toMatch(
    /2 backups made before still hold it\.$/,
  );
});

it("says that only the history contained the erased content", () => {
  const { erased } = erasure(0, 0);
  const erasures = [{ ...erasure(0, 0), erased: { ...erased, rewritten: 1 } }];
  expect(englishReplies.writeReply({ receipt: receipt([], { erasures }) })).toBe(
    "Done. It was only in the history, and is erased there.",
  );
});
