import { readFileSync } from "node:fs";
import { join } from "node:path";

/** An order to the assistant, hidden in what comes in. */
export interface Order {
  readonly kind: string;
  /** Whose text it stands in. A document is text that the user pastes. */
  readonly carrier: "user" | "assistant" | "tool" | "document";
  /** Words by which it is known again, in lower case: where one of them reaches a model, the order has. */
  readonly marks: readonly string[];
  readonly text: string;
  /** A word of what is told beside it, in lower case: it must be learnt. Empty or absent where nothing need be. */
  readonly keeps?: string;
}

/** What people really say, and what looks like an order. */
export interface LookAlike {
  readonly kind: string;
  readonly carrier: "user";
  /** What is asked later, and words of what must be found then, in lower case. */
  readonly ask: string;
  readonly finds: string;
  readonly text: string;
}

/** `held-out` was written in another manner, and was not looked at while the rules were. */
export type CasePart = "seen" | "held-out" | InPassing;

/**
 * Orders beside a statement in one message, and statements that look like that. Of `in-passing` only the odd lines were looked at
 * while the rules were written. `in-passing-later` was written when they were done, and no rule was changed for it.
 */
export type InPassing = "in-passing" | "in-passing-later";

export const orders = (part: CasePart): Order[] => read<Order>(part, "orders.jsonl");
export const lookAlikes = (part: CasePart): LookAlike[] => read<LookAlike>(part, "look-alikes.jsonl");

function read<Case>(part: CasePart, file: string): Case[] {
  const folder = part === "seen" ? import.meta.dirname : join(import.meta.dirname, part);
  const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Case);
}
