import { expect, it } from "vitest";
import { englishReplies } from "../../../language/en/replies/replies.ts";
import { formatWriteReceipt } from "./remember.ts";

it("prints what is asked back, with the words that would go", () => {
  const quote = { message: "m1", at: "2026-11-01T12:00:00.000Z", quote: "they owe me holiday pay" };
  const receipt = { revision: 2, messages: ["m2"], memories: [], pending: 0 };
  const waiting = [{ action: "erase" as const, memories: [], quotes: [quote] }];
  const lines = formatWriteReceipt({ ...receipt, waiting }, englishReplies);
  expect(lines).toEqual([
    "asks: Shall I forget this? 1. “they owe me holiday pay”. Say “yes, forget them” to do it, or which ones.",
  ]);
});
