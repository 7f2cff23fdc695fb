import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import { GAP_MARK, type TextCut } from "../../../domain/text/cut-text.ts";
import { findPhrase, iterateNGrams } from "../../../domain/text/phrase-index.ts";
import { spansOverlap, splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import { filterInSlices, forEachInSlices } from "../../../domain/time-slicing.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isDistinctive } from "../distinctive-words.ts";
import { splitSegments } from "../transformer/segments.ts";
import { type About, holdsName, holdsNumbers, isHeadedBy, isOfOther } from "./about.ts";
import { withDependentClauses } from "./dependent-clauses.ts";
import { stemsOf } from "./kin.ts";
import { isOtherWord } from "./other-words.ts";

/** The words of a message that a memory rests on. */
interface Quote extends TextSpan {
  readonly memory: Memory;
}

/** What decides about a sentence: the quotes of memories that go, and of those that stay, by message, and the values. */
interface Meant {
  readonly quotes: ReadonlyMap<string, readonly Quote[]>;
  readonly staying: ReadonlyMap<string, readonly Quote[]>;
  readonly values: readonly (readonly string[])[];
  /** Those that are looked for in every sentence, joined by spaces, and how many words they have. */
  readonly telling: { readonly runs: ReadonlySet<string>; readonly lengths: ReadonlySet<number> };
  readonly about: About | undefined;
}

/**
 * Adds the sentences that go: those a memory came from, those that hold its telling value, and those that are about
 * what is named. Where another memory rests on the same sentence, only the words meant go.
 */
export async function cutSentences(
  state: StoredContent,
  memories: ReadonlySet<Memory>,
  cuts: Map<string, TextCut[]>,
  about?: About,
): Promise<void> {
  // A person's name is looked for with its capital alone.
  const name = about?.person && splitWords(about.person).join(" ");
  const values = [...memories]
    .flatMap(({ claim }) => (claim ? [splitWords(claim.value)] : []))
    .filter((value) => value.join(" ") !== name);
  const telling = values.filter((value) => isDistinctive(value.join(" ")) || value.length >= 3);
  const meant: Meant = {
    quotes: await quotesBy(memories),
    staying: await quotesBy(
      await filterInSlices(state.memories.values(), (memory) => !memories.has(memory), SLICE),
    ),
    values,
    telling: {
      runs: new Set(telling.map((value) => value.join(" "))),
      lengths: new Set(telling.map(({ length }) => length)),
    },
    about,
  };
  await forEachInSlices(state.messages.values(), (message) => {
    const found = splitSentences(message.content).flatMap((sentence) =>
      cutSentence(message, sentence, meant),
    );
    if (found.length > 0) cuts.set(message.id, [...(cuts.get(message.id) ?? []), ...found]);
  });
}

function cutSentence(message: Message, sentence: TextSpan, meant: Meant): TextCut[] {
  const text = message.content.slice(sentence.start, sentence.end);
  const quoted = meant.quotes.get(message.id) ?? [];
  const kept = meant.staying.get(message.id) ?? [];
  const isSource = quoted.some((span) => spansOverlap(span, sentence));
  const isNamed = meant.about !== undefined && isAbout(meant.about, text, message);
  if (!isSource && !isNamed && !holdsAny(text, meant.telling)) return [];
  const isShared = kept.some((span) => spansOverlap(span, sentence));
  if (!isShared || (meant.about && isHeaded(text, meant.about))) return [{ ...sentence, put: "" }];
  // A value that another memory's sentence also holds stays there, unless it is what was named.
  if (!isSource && !isNamed) return [];
  return cutWords(text, sentence, quoted, kept, isSource ? meant.values : [], meant.about);
}

/** Whether words open sentences: "House move: the van comes at nine". */
export async function headSentences(
  { messages }: Pick<StoredContent, "messages">,
  about: About,
): Promise<boolean> {
  const found = await filterInSlices(
    messages.values(),
    ({ content }) =>
      content.includes(":") &&
      splitSentences(content).some(({ start, end }) => isHeaded(content.slice(start, end), about)),
  );
  return found.length > 0;
}

function isHeaded(sentence: string, about: About): boolean {
  const colon = sentence.indexOf(":");
  if (colon < 0 || !isHeadedBy(sentence.slice(0, colon), about)) return false;
  return splitSegments(sentence).some(({ heading }) => isHeadedBy(heading, about));
}

/** After so many memories that are only looked at, others have their turn: about every two milliseconds. */
const SLICE = 1000;

async function quotesBy(memories: Iterable<Memory>): Promise<Map<string, Quote[]>> {
  const quotes = new Map<string, Quote[]>();
  await forEachInSlices(
    memories,
    (memory) => {
      for (const { message, start, end } of memory.sources) {
        const held = quotes.get(message);
        if (held) held.push({ start, end, memory });
        else quotes.set(message, [{ start, end, memory }]);
      }
    },
    SLICE,
  );
  return quotes;
}

const FIRST_PERSON = /\b(?:i|i'm|me|my|mine|we|our|ours|us)\b/i;
const SECOND_PERSON = /\b(?:you|your|yours)\b/i;

function isAbout(about: About, sentence: string, message: Message): boolean {
  if (about.person !== undefined) return holdsName(sentence, about.person);
  if (!holdsNumbers(sentence, about)) return false;
  const stems = stemsOf(sentence);
  if (!about.terms.every((term) => stems.has(term))) return false;
  if (!about.isOwn) return !about.names.some((name) => isOtherWord(sentence, name));
  if (isOfOther(sentence, about)) return false;
  return (message.role === "assistant" ? SECOND_PERSON : FIRST_PERSON).test(sentence);
}

/** Whether a sentence holds one of many runs of words. */
function holdsAny(sentence: string, { runs, lengths }: Meant["telling"]): boolean {
  if (runs.size === 0) return false;
  for (const stretch of iterateNGrams(splitWords(sentence), lengths)) {
    if (runs.has(stretch) && isWhole(sentence, stretch.split(" "))) return true;
  }
  return false;
}

/** Whether a run stands there whole, where it begins or ends with a number: "200 USD" is no part of "2,200 USD". */
function isWhole(sentence: string, run: readonly string[]): boolean {
  const isNumbered = /^\p{N}/u.test(run[0] ?? "") || /\p{N}$/u.test(run.at(-1) ?? "");
  return !isNumbered || findPhrase(sentence, run).length > 0;
}

/**
 * The words meant inside a sentence that stays: the quotes that no staying memory shares, as whole as a sentence that nobody shares,
 * and elsewhere the values. A value that a memory of the same sentence says, too, stays with it, unless it was named: "my sister's
 * boat is called Wanda, and I painted it".
 */
function cutWords(
  text: string,
  sentence: TextSpan,
  quoted: readonly Quote[],
  kept: readonly Quote[],
  values: readonly (readonly string[])[],
  about: About | undefined,
): TextCut[] {
  const staying = kept.filter((quote) => spansOverlap(quote, sentence)).map(({ memory }) => memory.text);
  const isSaid = (run: readonly string[]): boolean =>
    staying.some((said) => findPhrase(said, run).length > 0);
  const inSentence = ({ start, end }: TextSpan, by: number): TextSpan => ({
    start: start + by,
    end: end + by,
  });
  const alone = quoted
    .filter((span) => spansOverlap(span, sentence) && !kept.some((other) => spansOverlap(span, other)))
    .map((span) => withDependentClauses(text, inSentence(span, -sentence.start)))
    .map((span) => ({ ...inSentence(span, sentence.start), put: GAP_MARK }));
  const own = values.filter((run) => run.length > 0 && !isSaid(run));
  const runs = [...own, ...(about && about.name.length > 0 ? [about.name] : [])];
  const distinct = new Map(runs.map((run) => [run.join(" "), run]));
  const found = [...distinct.values()]
    .flatMap((run) => findPhrase(text, run))
    .map(({ start, end }) => ({ start: start + sentence.start, end: end + sentence.start, put: GAP_MARK }));
  if (
    alone.some(
      (cut) => cut.start <= sentence.start && !/[\p{L}\p{N}]/u.test(text.slice(cut.end - sentence.start)),
    )
  )
    return [{ ...sentence, put: "" }];
  if (alone.length + found.length > 0) return [...alone, ...found];
  const isShared = values.some((run) => findPhrase(text, run).length > 0 && isSaid(run));
  return isShared && about === undefined ? [] : [{ ...sentence, put: "" }];
}
