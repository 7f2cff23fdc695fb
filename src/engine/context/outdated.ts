import type { Message } from "../../domain/message.ts";
import { splitSentences, type TextSpan } from "../../domain/text/split-text.ts";
import type { TalkStatement } from "../../ports/language/context-readers.ts";
import type { Ports } from "../ports.ts";
import type { Excerpt } from "./excerpts.ts";

/** Statements compared with each other: the best ones, as their number counts twice. */
const MAX_STATEMENTS = 100;
/** Longer messages are compared by their first sentences: a letter or a page changes little. */
const MAX_SENTENCES = 6;

/**
 * The excerpts without sentences that a later sentence of the same speaker has ended. What was read as a memory has ended
 * with it; this is for the rest.
 */
export async function withoutOutdated(
  { outdated }: Pick<Ports, "outdated">,
  excerpts: readonly Excerpt[],
): Promise<Excerpt[]> {
  const places = excerpts
    .flatMap((excerpt, place) =>
      isOwnWords(excerpt)
        ? excerpt.shown.slice(0, MAX_SENTENCES).map((sentence) => ({ excerpt, place, sentence }))
        : [],
    )
    .slice(0, MAX_STATEMENTS)
    .sort((one, other) => (one.excerpt.item.at < other.excerpt.item.at ? -1 : 1));
  const statements = places.map(
    ({ excerpt: { item }, sentence }): TalkStatement => ({
      text: item.text.slice(sentence.start, sentence.end),
      at: Date.parse(item.at),
    }),
  );
  const over = await outdated.findOutdated(statements);
  if (over.size === 0) return [...excerpts];
  const gone = new Set([...over.keys()].map((i) => places[i]?.sentence));
  return excerpts.map((excerpt) => ({
    ...excerpt,
    shown: excerpt.shown.filter((sentence) => !gone.has(sentence)),
  }));
}

/** Words of the user to an assistant. Talk among people tells of many beginnings and ends, and few end what was said. */
function isOwnWords({ item }: Excerpt): boolean {
  const source = item.type === "passage" ? item.sources.at(-1) : undefined;
  return source?.role === "user" && source.name === undefined;
}

/** Messages of the user, newest first, and the spans in them that a later message has ended. */
interface ComparedMessages {
  readonly messages: readonly Message[];
  readonly spans: ReadonlyMap<string, readonly TextSpan[]>;
}

/**
 * The spans of messages, newest first, that a later one has ended. Every two of them are compared; not so where nothing
 * was said since `before` that can end anything.
 */
export async function findOutdatedSpans(
  { outdated }: Pick<Ports, "outdated">,
  messages: readonly Message[],
  before: ComparedMessages,
): Promise<ReadonlyMap<string, readonly TextSpan[]>> {
  const newer = findNewer(messages, before.messages);
  if (newer && !toPlaces(newer).some((place) => outdated.mayEnd(textOf(place)))) return before.spans;
  const places = toPlaces(messages);
  const over = await outdated.findOutdated(
    places.map((place) => ({ text: textOf(place), at: Date.parse(place.message.at) })),
  );
  const spans = new Map<string, TextSpan[]>();
  for (const i of over.keys()) {
    const place = places[i];
    if (place) spans.set(place.message.id, [...(spans.get(place.message.id) ?? []), place.span]);
  }
  return spans;
}

/** The messages that were added since; undefined if that is not all that changed. */
function findNewer(messages: readonly Message[], before: readonly Message[]): readonly Message[] | undefined {
  const count = messages.findIndex(({ id }) => id === before[0]?.id);
  if (count < 0) return undefined;
  const newer = messages.slice(0, count);
  const latest = before.reduce((last, { at }) => (at > last ? at : last), "");
  const isSame = messages
    .slice(count)
    .every(({ id, content }, i) => id === before[i]?.id && content === before[i]?.content);
  return isSame && newer.every(({ at }) => at >= latest) ? newer : undefined;
}

interface StatementPlace {
  readonly message: Message;
  readonly span: TextSpan;
}

/** The sentences of messages that are compared, in the order in which they were said. */
function toPlaces(messages: readonly Message[]): StatementPlace[] {
  return messages
    .filter(({ name }) => name === undefined)
    .toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)) || one.turn - other.turn)
    .flatMap((message) =>
      splitSentences(message.content)
        .slice(0, MAX_SENTENCES)
        .map((span) => ({ message, span })),
    );
}

function textOf({ message, span }: StatementPlace): string {
  return message.content.slice(span.start, span.end);
}
