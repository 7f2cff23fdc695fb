import type { Message } from "../../domain/message.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";
import {
  findInjections,
  findInjectionsInSteps,
  type InjectionSpan,
} from "../../language/en/prompt-injection/find-injections.ts";
import { findPastedText, findQuotes } from "../../language/en/prompt-injection/pasted-text.ts";
import { runAtOnce, runInSlices } from "../time-slicing.ts";

/** What of a message of the user's is not theirs to be believed. */
interface UntrustedSpans {
  readonly injections: readonly InjectionSpan[];
  readonly pasted: readonly TextSpan[];
}

/** Messages are read once, however many proposals there are on them. */
const untrustedByMessage = new WeakMap<Message, UntrustedSpans>();

/** So many characters of a message are looked through. Nobody types more: what stands behind them was brought in. */
const MAX_INSPECTED_LENGTH = 40_000;

function getUntrustedSpans(message: Message): UntrustedSpans {
  return untrustedByMessage.get(message) ?? runAtOnce(inspectSteps(message));
}

/** Looks through a message ahead, in slices: what is asked of it later is then at hand. */
export async function inspectMessage(message: Message): Promise<void> {
  if (!untrustedByMessage.has(message)) await runInSlices(inspectSteps(message));
}

function* inspectSteps(message: Message): Generator<void, UntrustedSpans, void> {
  const { length } = message.content;
  const text = message.content.slice(0, MAX_INSPECTED_LENGTH);
  const orders = yield* findInjectionsInSteps(text, "typed");
  yield;
  const rest = length > text.length ? [{ start: text.length, end: length }] : [];
  const ward = { injections: orders, pasted: [...findPastedText(text), ...rest] };
  untrustedByMessage.set(message, ward);
  return ward;
}

/** The order to the assistant that these words of the user's stand in, or that a statement made of them is. */
export function findInjection(message: Message, place: TextSpan, text = ""): InjectionSpan | undefined {
  const { injections: orders } = getUntrustedSpans(message);
  return orders.find((span) => spansOverlap(span, place)) ?? findInjections(text, "typed")[0];
}

/** Whether these words stand in a text that the user brought in: a mail, a page, a quote. */
export function isPasted(message: Message, place: TextSpan): boolean {
  return getUntrustedSpans(message).pasted.some(({ start, end }) => start <= place.start && place.end <= end);
}

/**
 * Whether these words are the user's, to end or erase something with: they stand in nothing brought in or quoted, and
 * beside no order of somebody else's.
 */
export function isUserAuthored(message: Message, place: TextSpan): boolean {
  const { injections: orders, pasted } = getUntrustedSpans(message);
  const others = [...pasted, ...findQuotes(message.content.slice(0, MAX_INSPECTED_LENGTH))];
  return (
    !orders.some(({ foreign }) => foreign) &&
    !others.some(({ start, end }) => start <= place.start && place.end <= end)
  );
}

function spansOverlap(one: TextSpan, other: TextSpan): boolean {
  return one.start < other.end && other.start < one.end;
}
