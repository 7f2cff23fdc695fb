import type { TalkStatement } from "../../ports/language/outdated-reader.ts";
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
