import { createHash } from "node:crypto";
import type { ErasurePlan } from "../../domain/receipt.ts";
import { sanitizeForPrompt } from "../../engine/prompt-block.ts";
import type { ToolCall } from "../tool.ts";

/** What the tool `forget` can erase: what words describe, or memories and messages by id. */
export type ErasureTarget = string | { readonly ids: readonly string[] };

const TOKEN_LENGTH = 16;
/** The most memories and quotes that a preview shows. */
const MAX_SHOWN = 40;
const MAX_QUOTE_LENGTH = 200;

/**
 * Gives the token of a plan: a hash of what is asked and of all that would go. Only who has seen this plan knows it, and
 * it is worth nothing once the plan would be another: it works once. No server has to keep plans, and any server can
 * confirm one.
 */
export function tokenOfPlan(target: ErasureTarget, { memories, messages }: ErasurePlan): string {
  const content = [target, memories, messages.map(({ id, words }) => [id, words])];
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, TOKEN_LENGTH);
}

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
  return {
    memories: memories.slice(0, MAX_SHOWN).map(toMemory),
    quotes: messages
      .flatMap(({ id, at, words }) =>
        words.map((quote) => ({ message: id, at: at.slice(0, 10), quote: toText(quote) })),
      )
      .slice(0, MAX_SHOWN),
    unsure: unsure
      .flatMap((one) => [
        ...one.memories.map(toMemory),
        ...one.quotes.map(({ message, quote }) => ({ id: message, text: toText(quote) })),
      ])
      .slice(0, MAX_SHOWN),
  };
}
