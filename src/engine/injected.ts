import { neutralizeText } from "../domain/defang.ts";
import type { Role } from "../domain/message.ts";
import { findJointBefore } from "../domain/orders/inner.ts";
import { findInjections, type TextAuthorship } from "../domain/orders/orders.ts";
import { maskCredentials } from "../domain/secrets.ts";
import type { TextSpan } from "../domain/sentences.ts";
import { stripInvisible } from "../domain/unseen.ts";
import { cacheByHash } from "./by-hash.ts";

/** What can go into a prompt: an item of a recall, or a memory. */
export interface PromptSource {
  readonly text: string;
  readonly type?: "memory" | "passage";
  readonly quarantined?: boolean;
  readonly sources?: readonly (
    | string
    | { readonly role?: Role; readonly name?: string; readonly start?: number }
  )[];
}

/**
 * A text as it may stand in a prompt, on one line; empty where nothing of it may. A quote goes in without the orders to the
 * assistant that stand in it; what a tool or a document said stays out: the turn it was said in has it already. Hidden characters,
 * tags, links and encoded text do not work any more, and passwords are not shown. What was decided on as a memory is whole.
 */
export function sanitizeForPrompt(item: PromptSource): string {
  const known = SANITIZED.get(item);
  if (known !== undefined) return known;
  const said = sanitizeItem(item);
  SANITIZED.set(item, said);
  return said;
}

/** What is recalled goes into a context and into a prompt; it is read once, and gone with the recall. */
const SANITIZED = new WeakMap<PromptSource, string>();

function sanitizeItem(item: PromptSource): string {
  const voice = voiceOf(item);
  if (item.quarantined || voice === undefined) return "";
  const { injections: orders, isPlain } = inspectText(item.text, voice);
  return isPlain ? item.text : sanitizeText(removeSpans(item.text, orders));
}

const VOICES: { readonly [role in Role]?: TextAuthorship } = { user: "typed", assistant: "reply" };

/** By whom it is said; nothing where none of it may stand in a prompt. */
function voiceOf({ type, sources = [] }: PromptSource): TextAuthorship | "decided" | undefined {
  if (type !== "passage") return "decided";
  const source = sources.at(-1);
  const { role = "user", start = 0 } = typeof source === "object" ? source : {};
  const voice = VOICES[role];
  // A passage from the middle of a long message has lost what would say that it was brought in.
  return voice === "typed" && start > 0 ? "brought" : voice;
}

/**
 * A sentence of the user's as it may be quoted: without the order to the assistant in it, and without what stands behind that.
 * Empty where nothing is left.
 */
export function toQuotableText(content: string, passage: TextSpan, sentence: TextSpan): string {
  const text = content.slice(passage.start, passage.end);
  const { injections: orders } = inspectText(text, passage.start > 0 ? "brought" : "typed");
  const order = orders.find(
    ({ start, end }) => passage.start + start < sentence.end && sentence.start < passage.start + end,
  );
  const end = order ? findJointBefore(content, passage.start + order.start) : sentence.end;
  return end <= sentence.start ? "" : stripInvisible(content.slice(sentence.start, end)).trim();
}

interface InspectedText {
  /** Where orders to the assistant stand. */
  readonly injections: ReturnType<typeof findInjections>;
  /** Whether it may stand in a prompt as it is. */
  readonly isPlain: boolean;
}

const inspectText = cacheByHash((text, voice: TextAuthorship | "decided"): InspectedText => {
  const orders = voice === "decided" ? [] : findInjections(text, voice);
  return { injections: orders, isPlain: sanitizeText(removeSpans(text, orders)) === text };
});

function sanitizeText(text: string): string {
  return neutralizeText(maskCredentials(text)).replace(/\s+/g, " ").trim();
}

function removeSpans(text: string, spans: InspectedText["injections"]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start: begin, end } of spans) {
    parts.push(text.slice(from, Math.max(from, findJointEnd(text, begin))));
    from = end;
  }
  parts.push(text.slice(from));
  return parts
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .join(" … ");
}

/** Of "I work at Acme and |from now on", the statement alone. */
function findJointEnd(text: string, begin: number): number {
  const at = findJointBefore(text, begin);
  // The mark that ends a sentence is the sentence's own.
  return /[.!?]/.test(text.slice(at - 1, at)) ? begin : at;
}
