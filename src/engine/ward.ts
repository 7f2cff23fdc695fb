import type { Message } from "../domain/message.ts";
import { type OrderSpan, orderSteps, ordersIn } from "../domain/orders/orders.ts";
import { pastedIn, quotesIn } from "../domain/pasted.ts";
import type { Span } from "../domain/sentences.ts";
import { atOnce, inSlices } from "./in-slices.ts";

/** What of a message of the user's is not theirs to be believed. */
interface Ward {
  readonly orders: readonly OrderSpan[];
  readonly pasted: readonly Span[];
}

/** Messages are read once, however many proposals there are on them. */
const wards = new WeakMap<Message, Ward>();

/** So many characters of a message are looked through. Nobody types more: what stands behind them was brought in. */
const LOOKED_THROUGH = 40_000;

function wardOf(message: Message): Ward {
  return wards.get(message) ?? atOnce(warding(message));
}

/** Looks through a message ahead, in slices: what is asked of it later is then at hand. */
export async function readWard(message: Message): Promise<void> {
  if (!wards.has(message)) await inSlices(warding(message));
}

function* warding(message: Message): Generator<void, Ward, void> {
  const { length } = message.content;
  const text = message.content.slice(0, LOOKED_THROUGH);
  const orders = yield* orderSteps(text, "typed");
  yield;
  const rest = length > text.length ? [{ start: text.length, end: length }] : [];
  const ward = { orders, pasted: [...pastedIn(text), ...rest] };
  wards.set(message, ward);
  return ward;
}

/** The order to the assistant that these words of the user's stand in, or that a statement made of them is. */
export function orderAt(message: Message, place: Span, text = ""): OrderSpan | undefined {
  const { orders } = wardOf(message);
  return orders.find((span) => meet(span, place)) ?? ordersIn(text, "typed")[0];
}

/** Whether these words stand in a text that the user brought in: a mail, a page, a quote. */
export function isPasted(message: Message, place: Span): boolean {
  return wardOf(message).pasted.some(({ start, end }) => start <= place.start && place.end <= end);
}

/**
 * Whether these words are the user's, to end or erase something with: they stand in nothing brought in or quoted, and
 * beside no order of somebody else's.
 */
export function isAsked(message: Message, place: Span): boolean {
  const { orders, pasted } = wardOf(message);
  const others = [...pasted, ...quotesIn(message.content.slice(0, LOOKED_THROUGH))];
  return (
    !orders.some(({ foreign }) => foreign) &&
    !others.some(({ start, end }) => start <= place.start && place.end <= end)
  );
}

function meet(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}
