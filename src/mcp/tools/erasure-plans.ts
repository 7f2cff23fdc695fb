import { createHash } from "node:crypto";
import type { ErasurePlan } from "../../domain/receipt.ts";
import { sanitizeForPrompt } from "../../engine/prompt-block.ts";
import { MemoryError } from "../../errors.ts";
import { takeWithin } from "../lines.ts";
import type { ToolCall } from "../tool.ts";

/** What the tool `forget` can erase: what words describe, or memories and messages by id. */
export type ErasureTarget = string | { readonly ids: readonly string[] };

const HASH_LENGTH = 22;
/** The most memories that a preview shows, the most quotes, and the most of what may be meant too. */
const MAX_SHOWN = 40;
const MAX_QUOTE_LENGTH = 200;
/** Characters of each of these three lists. */
const MAX_LIST_LENGTH = 3000;

/** How long a plan can be confirmed after it was made, in minutes of the server's clock. */
export const PLAN_MINUTES = 15;
const PLAN_MS = PLAN_MINUTES * 60_000;
/** How far the clock of the server that confirms may be behind that of the one that planned, in ms. */
const MAX_CLOCK_SKEW_MS = 60_000;

type PlanCall = Pick<ToolCall, "clock" | "owner">;

/** The token of a plan, and until when it can be confirmed. */
interface PlanToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/**
 * Makes the token of a plan: the time, and a hash of the time, the user, what is asked and all that would go. Only who has
 * seen this plan knows it, and it is worth nothing once the plan would be another: it works once. No server has to keep plans,
 * and any server can confirm one. It has no secret: a client that could compute one may also ask for a new plan.
 */
export function createPlanToken(
  target: ErasureTarget,
  plan: ErasurePlan,
  { clock, owner }: PlanCall,
): PlanToken {
  const madeAt = clock().getTime();
  return {
    token: `${madeAt.toString(36)}.${hashPlan(target, plan, { madeAt, owner })}`,
    expiresAt: new Date(madeAt + PLAN_MS).toISOString(),
  };
}

/** Checks the token of a plan against the plan as it is now. Throws `conflict` if it is of another plan, or has expired. */
export function checkPlanToken(
  token: string,
  { target, plan }: { readonly target: ErasureTarget; readonly plan: ErasurePlan },
  { clock, owner }: PlanCall,
): void {
  const [time = "", hash] = token.split(".");
  const madeAt = Number.parseInt(time, 36);
  if (hash !== hashPlan(target, plan, { madeAt, owner })) throw new MemoryError("conflict", CHANGED_PLAN);
  const age = clock().getTime() - madeAt;
  if (!(age >= -MAX_CLOCK_SKEW_MS && age <= PLAN_MS)) throw new MemoryError("conflict", EXPIRED_PLAN);
}

function hashPlan(
  target: ErasureTarget,
  { memories, messages }: ErasurePlan,
  { madeAt, owner = "" }: { readonly madeAt: number; readonly owner: string | undefined },
): string {
  const words = messages.map((message) => [message.id, message.words, message.attachments ?? 0]);
  const content = JSON.stringify([madeAt, owner, target, memories, words]);
  return createHash("sha256").update(content).digest("base64url").slice(0, HASH_LENGTH);
}

const NEW_PLAN = "Call without `confirm`, show the new plan to the user, and confirm that one.";
const CHANGED_PLAN =
  "this is not the token of the plan as it is now: the memory has changed since, the plan was for something else, or it was " +
  `confirmed before. Nothing is erased. ${NEW_PLAN}`;
const EXPIRED_PLAN =
  `this plan has expired: it can be confirmed for ${PLAN_MINUTES} minutes by the server's clock. Nothing is erased. ` +
  NEW_PLAN;

export function countPlan({ memories, messages }: ErasurePlan): { memories: number; messages: number } {
  return { memories: memories.length, messages: messages.length };
}

interface PlannedMemory {
  readonly id: string;
  readonly text: string;
}

/** What a plan shows to the user. */
interface PlanPreview {
  readonly memories: readonly PlannedMemory[];
  readonly quotes: readonly { readonly message: string; readonly at: string; readonly quote: string }[];
  readonly unsure: readonly PlannedMemory[];
  /** How many memories and quotes would go that are not listed. */
  readonly left: number;
}

export function previewPlan(
  { memories, messages, unsure = [] }: ErasurePlan,
  { promptGuard }: Pick<ToolCall, "promptGuard">,
): PlanPreview {
  const toText = (text: string): string => {
    const safe = sanitizeForPrompt({ text }, promptGuard);
    return safe.length <= MAX_QUOTE_LENGTH ? safe : `${safe.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…`;
  };
  const toMemory = ({ id, text }: PlannedMemory): PlannedMemory => ({ id, text: toText(text) });
  const quotes = messages.flatMap(({ id, at, words }) =>
    words.map((quote) => ({ message: id, at: at.slice(0, 10), quote })),
  );
  const others = unsure.flatMap((one) => [
    ...one.memories,
    ...one.quotes.map(({ message, quote }) => ({ id: message, text: quote })),
  ]);
  const shown = {
    memories: limitList(memories.slice(0, MAX_SHOWN).map(toMemory)),
    quotes: limitList(quotes.slice(0, MAX_SHOWN).map((one) => ({ ...one, quote: toText(one.quote) }))),
    unsure: limitList(others.slice(0, MAX_SHOWN).map(toMemory)),
  };
  const left = memories.length + quotes.length - shown.memories.length - shown.quotes.length;
  return { ...shown, left };
}

const limitList = <Line extends object>(lines: readonly Line[]): readonly Line[] =>
  takeWithin(lines, MAX_LIST_LENGTH, (line) => JSON.stringify(line).length);
