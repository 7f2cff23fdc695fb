import type { Message } from "../../domain/message.ts";
import { spansOverlap, type TextSpan } from "../../domain/text/split-text.ts";
import { runAtOnce, runInSlices } from "../../domain/time-slicing.ts";
import type { InjectionSpan } from "../../ports/language/prompt-guard.ts";
import type { Ports } from "../ports.ts";

type ProvenancePorts = Pick<Ports, "promptGuard">;

/** Spans of a user's message that are not the user's own words. */
interface UntrustedSpans {
  readonly injections: readonly InjectionSpan[];
  readonly pasted: readonly TextSpan[];
}

/** Each message is read once, however many proposals it has. */
const untrustedByMessage = new WeakMap<Message, UntrustedSpans>();

/** Characters of a message that are inspected. People do not type more: later text counts as pasted. */
const MAX_INSPECTED_LENGTH = 40_000;

function getUntrustedSpans(ports: ProvenancePorts, message: Message): UntrustedSpans {
  return untrustedByMessage.get(message) ?? runAtOnce(inspectSteps(ports, message));
}

/** Inspects a message ahead of time, in slices, and caches the result. */
export async function inspectMessage(ports: ProvenancePorts, message: Message): Promise<void> {
  if (!untrustedByMessage.has(message)) await runInSlices(inspectSteps(ports, message));
}

function* inspectSteps(
  { promptGuard }: ProvenancePorts,
  message: Message,
): Generator<void, UntrustedSpans, void> {
  const { length } = message.content;
  const text = message.content.slice(0, MAX_INSPECTED_LENGTH);
  const orders = yield* promptGuard.findInjectionsInSteps(text, "typed");
  yield;
  const rest = length > text.length ? [{ start: text.length, end: length }] : [];
  const untrusted = { injections: orders, pasted: [...promptGuard.findPastedText(text), ...rest] };
  untrustedByMessage.set(message, untrusted);
  return untrusted;
}

/** The prompt injection that contains these words of the user, or that a statement made of them is. */
export function findInjection(
  ports: ProvenancePorts,
  message: Message,
  place: TextSpan,
  text = "",
): InjectionSpan | undefined {
  const { injections: orders } = getUntrustedSpans(ports, message);
  return (
    orders.find((span) => spansOverlap(span, place)) ?? ports.promptGuard.findInjections(text, "typed")[0]
  );
}

/** Whether these words are in a text that the user pasted: a mail, a page, a quote. */
export function isPasted(ports: ProvenancePorts, message: Message, place: TextSpan): boolean {
  return getUntrustedSpans(ports, message).pasted.some(
    ({ start, end }) => start <= place.start && place.end <= end,
  );
}

/**
 * Whether these words are the user's own, so that they may end or erase something. They are neither pasted
 * nor quoted, and not next to a prompt injection.
 */
export function isUserAuthored(ports: ProvenancePorts, message: Message, place: TextSpan): boolean {
  const { injections: orders, pasted } = getUntrustedSpans(ports, message);
  const others = [...pasted, ...ports.promptGuard.findQuotes(message.content.slice(0, MAX_INSPECTED_LENGTH))];
  return (
    !orders.some(({ foreign }) => foreign) &&
    !others.some(({ start, end }) => start <= place.start && place.end <= end)
  );
}
