import type { Message } from "../domain/message.ts";
import { findInvisible } from "../domain/text/normalize-text.ts";
import {
  findLinks,
  type RewrittenText,
  rewriteText,
  type TextReplacement,
} from "../domain/text/rewrite-text.ts";
import type { TextSpan } from "../domain/text/split-text.ts";
import { runInSlices } from "../domain/time-slicing.ts";
import {
  findClauseStarts,
  findInjectionsInSteps,
  findJointBefore,
  isPlainText,
} from "../language/en/prompt-injection/find-injections.ts";
import type { Extractor } from "../ports/language/extractor.ts";

/** Length of a message that is normalized before it is read. Later text is not trusted. */
const MAX_READ_LENGTH = 40_000;

/**
 * An extractor that reads what a person sees: no hidden characters, the words of links, and a prompt
 * injection as a separate sentence. Its proposals refer to the original positions.
 */
export function withVisibleText(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const read = new Map<string, RewrittenText>();
      const messages: Message[] = [];
      for (const message of reading.messages) {
        const text = await readMessage(message);
        if (text) read.set(message.id, text);
        messages.push(text ? { ...message, content: text.text } : message);
      }
      const earlier = await Promise.all(reading.earlier.map(readEarlier));
      const isSame = read.size === 0 && earlier.every((one, i) => one === reading.earlier[i]);
      const proposals = await extractor.propose(
        isSame ? reading : { ...reading, messages, earlier },
        options,
      );
      return proposals.map((one) => ({ ...one, ...(read.get(one.message)?.toOrigin(one) ?? {}) }));
    },
  };
}

/** Each turn is read again with every turn that follows. */
const READ_MESSAGES = new WeakMap<Message, Message>();

async function readEarlier(message: Message): Promise<Message> {
  const known = READ_MESSAGES.get(message);
  if (known) return known;
  const text = await readMessage(message);
  const read = text ? { ...message, content: text.text } : message;
  READ_MESSAGES.set(message, read);
  return read;
}

/** A message as it is read; undefined if it needs no change. */
async function readMessage({ role, content }: Message): Promise<RewrittenText | undefined> {
  const text = content.slice(0, MAX_READ_LENGTH);
  const visible = rewriteText(content, findInvisible(text));
  const links = findLinks(visible.text.slice(0, MAX_READ_LENGTH)).map((one) => ({
    ...one,
    ...visible.toOrigin(one),
  }));
  const joints = role === "user" ? await findJoints(text) : [];
  const replacements: TextReplacement[] = [...findInvisible(text), ...links, ...joints];
  return replacements.length === 0 ? undefined : rewriteText(content, replacements);
}

/** Positions where a prompt injection follows other text in the same sentence. */
async function findJoints(text: string): Promise<TextReplacement[]> {
  if (findClauseStarts(text).length === 0 && isPlainText(text)) return [];
  const orders = await runInSlices(findInjectionsInSteps(text, "typed"));
  return orders.flatMap(({ start }: TextSpan) => {
    const from = findJointBefore(text, start);
    if (from === 0 || /\n\s*$/.test(text.slice(Math.max(0, from - 3), start))) return [];
    const isEnded = /[.!?]\s*$/.test(text.slice(Math.max(0, from - 3), from));
    return [{ start: from, end: start, as: isEnded ? "\n" : ".\n" }];
  });
}

/** An extractor that reads only requests to forget: they are executed at once, whatever reads the rest. */
export function withErasuresOnly(extractor: Extractor): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter(({ propose }) => propose === "erase");
    },
  };
}
