import { hash } from "node:crypto";
import { defanged } from "../domain/defang.ts";
import type { Role } from "../domain/message.ts";
import { ordersIn, type Voice } from "../domain/orders/orders.ts";
import { masked } from "../domain/secrets.ts";

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
  if (item.quarantined) return "";
  const said = item.type === "passage" ? withoutOrders(item) : item.text;
  return defanged(masked(said)).replace(/\s+/g, " ").trim();
}

const VOICES: { readonly [role in Role]?: Voice } = { user: "typed", assistant: "reply" };

/** Where orders stand in texts that were looked at lately, by a hash of them: no word of anybody outlives its erasure here. */
const LOOKED_AT = new Map<string, ReturnType<typeof ordersIn>>();
const MOST = 50_000;

/** As `ordersIn`. It takes a while, and the same passages are recalled again and again. */
function ordersOf(text: string, voice: Voice): ReturnType<typeof ordersIn> {
  const key = hash("sha256", `${voice} ${text}`, "base64");
  const known = LOOKED_AT.get(key);
  if (known) return known;
  const spans = ordersIn(text, voice);
  if (LOOKED_AT.size >= MOST) LOOKED_AT.clear();
  LOOKED_AT.set(key, spans);
  return spans;
}

function withoutOrders({ text, sources = [] }: Injectable): string {
  const source = sources.at(-1);
  const { role = "user", start = 0 } = typeof source === "object" ? source : {};
  const voice = VOICES[role];
  if (voice === undefined) return "";
  // A passage from the middle of a long message has lost what would say that it was brought in.
  const spans = ordersOf(text, voice === "typed" && start > 0 ? "brought" : voice);
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start: begin, end } of spans) {
    parts.push(text.slice(from, begin));
    from = end;
  }
  parts.push(text.slice(from));
  return parts
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .join(" … ");
}
