import { linksIn } from "../domain/links.ts";
import type { Message } from "../domain/message.ts";
import { innerStarts, jointBefore } from "../domain/orders/inner.ts";
import { orderSteps } from "../domain/orders/orders.ts";
import { isPlain } from "../domain/orders/plain.ts";
import { type ReadText, type Rewriting, readText } from "../domain/read-text.ts";
import type { Span } from "../domain/sentences.ts";
import { unseenIn } from "../domain/unseen.ts";
import type { Extractor } from "../ports/extractor.ts";
import { inSlices } from "./in-slices.ts";

/** So much of a message is read otherwise than it was said. What stands behind is believed of nobody. */
const LOOKED_THROUGH = 40_000;

/**
 * An extractor that reads what a person sees: no hidden characters, of links their words, and an order to the assistant as a
 * sentence of its own. Its proposals stand where the words were said.
 */
export function readable(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const read = new Map<string, ReadText>();
      const messages: Message[] = [];
      for (const message of reading.messages) {
        const text = await textRead(message);
        if (text) read.set(message.id, text);
        messages.push(text ? { ...message, content: text.text } : message);
      }
      const earlier = await Promise.all(reading.earlier.map(earlierRead));
      const isSame = read.size === 0 && earlier.every((one, i) => one === reading.earlier[i]);
      const proposals = await extractor.propose(
        isSame ? reading : { ...reading, messages, earlier },
        options,
      );
      return proposals.map((one) => ({ ...one, ...(read.get(one.message)?.toOrigin(one) ?? {}) }));
    },
  };
}

/** Turns are read again with each one that follows. */
const READ = new WeakMap<Message, Message>();

async function earlierRead(message: Message): Promise<Message> {
  const known = READ.get(message);
  if (known) return known;
  const text = await textRead(message);
  const read = text ? { ...message, content: text.text } : message;
  READ.set(message, read);
  return read;
}

/** A message as it is read; undefined where that is as it was said. */
async function textRead({ role, content }: Message): Promise<ReadText | undefined> {
  const text = content.slice(0, LOOKED_THROUGH);
  const visible = readText(content, unseenIn(text));
  const links = linksIn(visible.text.slice(0, LOOKED_THROUGH)).map((one) => ({
    ...one,
    ...visible.toOrigin(one),
  }));
  const joints = role === "user" ? await jointsIn(text) : [];
  const all: Rewriting[] = [...unseenIn(text), ...links, ...joints];
  return all.length === 0 ? undefined : readText(content, all);
}

/** Where an order follows in the sentence of something else. */
async function jointsIn(text: string): Promise<Rewriting[]> {
  if (innerStarts(text).length === 0 && isPlain(text)) return [];
  const orders = await inSlices(orderSteps(text, "typed"));
  return orders.flatMap(({ start }: Span) => {
    const from = jointBefore(text, start);
    if (from === 0 || /\n\s*$/.test(text.slice(Math.max(0, from - 3), start))) return [];
    const isEnded = /[.!?]\s*$/.test(text.slice(Math.max(0, from - 3), from));
    return [{ start: from, end: start, as: isEnded ? "\n" : ".\n" }];
  });
}
