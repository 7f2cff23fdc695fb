import type { Message } from "../domain/message.ts";
import { type OrderSpan, ordersIn } from "../domain/orders/orders.ts";
import { pastedIn, quotesIn } from "../domain/pasted.ts";
import type { Span } from "../domain/sentences.ts";

/** What of a message of the user's is not theirs to be believed. */
interface Ward {
  readonly orders: readonly OrderSpan[];
  readonly pasted: readonly Span[];
}

/** Messages are read once, however many proposals there are on them. */
const wards = new WeakMap<Message, Ward>();

function wardOf(message: Message): Ward {
  const known = wards.get(message);
  if (known) return known;
  const ward = { orders: ordersIn(message.content, "typed"), pasted: pastedIn(message.content) };
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
  const others = [...pasted, ...quotesIn(message.content)];
  return (
    !orders.some(({ foreign }) => foreign) &&
    !others.some(({ start, end }) => start <= place.start && place.end <= end)
  );
}

function meet(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}
