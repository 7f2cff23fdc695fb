import { defanged } from "../domain/defang.ts";
import type { Role } from "../domain/message.ts";
import { jointBefore } from "../domain/orders/inner.ts";
import { ordersIn, type Voice } from "../domain/orders/orders.ts";
import { masked } from "../domain/secrets.ts";
import type { Span } from "../domain/sentences.ts";
import { seen } from "../domain/unseen.ts";
import { byHash } from "./by-hash.ts";

/** What can go into a prompt: an item of a recall, or a memory. */
export interface Injectable {
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
export function injected(item: Injectable): string {
  const known = SAID.get(item);
  if (known !== undefined) return known;
  const said = injectedNow(item);
  SAID.set(item, said);
  return said;
}

/** What is recalled goes into a context and into a prompt; it is read once, and gone with the recall. */
const SAID = new WeakMap<Injectable, string>();

function injectedNow(item: Injectable): string {
  const voice = voiceOf(item);
  if (item.quarantined || voice === undefined) return "";
  const { orders, isPlain } = lookedAt(item.text, voice);
  return isPlain ? item.text : harmless(without(item.text, orders));
}

const VOICES: { readonly [role in Role]?: Voice } = { user: "typed", assistant: "reply" };

/** By whom it is said; nothing where none of it may stand in a prompt. */
function voiceOf({ type, sources = [] }: Injectable): Voice | "decided" | undefined {
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
export function quotable(content: string, passage: Span, sentence: Span): string {
  const text = content.slice(passage.start, passage.end);
  const { orders } = lookedAt(text, passage.start > 0 ? "brought" : "typed");
  const order = orders.find(
    ({ start, end }) => passage.start + start < sentence.end && sentence.start < passage.start + end,
  );
  const end = order ? jointBefore(content, passage.start + order.start) : sentence.end;
  return end <= sentence.start ? "" : seen(content.slice(sentence.start, end)).trim();
}

interface Looked {
  /** Where orders to the assistant stand. */
  readonly orders: ReturnType<typeof ordersIn>;
  /** Whether it may stand in a prompt as it is. */
  readonly isPlain: boolean;
}

const lookedAt = byHash((text, voice: Voice | "decided"): Looked => {
  const orders = voice === "decided" ? [] : ordersIn(text, voice);
  return { orders, isPlain: harmless(without(text, orders)) === text };
});

function harmless(text: string): string {
  return defanged(masked(text)).replace(/\s+/g, " ").trim();
}

function without(text: string, spans: Looked["orders"]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start: begin, end } of spans) {
    parts.push(text.slice(from, Math.max(from, jointEnd(text, begin))));
    from = end;
  }
  parts.push(text.slice(from));
  return parts
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .join(" … ");
}

/** Of "I work at Acme and |from now on", the statement alone. */
function jointEnd(text: string, begin: number): number {
  const at = jointBefore(text, begin);
  // The mark that ends a sentence is the sentence's own.
  return /[.!?]/.test(text.slice(at - 1, at)) ? begin : at;
}
