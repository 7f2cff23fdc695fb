import { NAMING } from "../clauses/noun-phrases.ts";
import { isTimeNoun } from "../time/times.ts";
import { TITLES } from "./lexicon.ts";
import { isCapital, type Stretch, type Token } from "./token.ts";

/** A noun phrase taken apart. */
export interface Noun {
  readonly possessive?: string;
  /** "my flatmate's parrot": who is named on the way, without determiners. */
  readonly owners: readonly Stretch[];
  readonly determiner?: string;
  /** Adjectives and nouns in front, and the noun itself: token indices. */
  readonly words: readonly number[];
  /** A name at its end or after "called": "my sister NADIA". */
  readonly name?: Stretch;
}

/** Takes a noun phrase apart into owners, head and name. */
export function nounOf(tokens: readonly Token[], from: number, to: number): Noun {
  const naming = tokens.findIndex(({ lower }, i) => i >= from && i < to && NAMING.has(lower));
  const isNamed = naming > from;
  const { begin, ...front } = frontOf(tokens, from, isNamed ? naming : to);
  const words = range(begin, isNamed ? naming : to);
  const owned = front.possessive !== undefined || front.determiner !== undefined;
  const atEnd = isNamed || !owned ? undefined : nameAtEnd(tokens, words);
  const name = isNamed ? ([naming + 1, to] as const) : atEnd;
  return {
    ...front,
    words: atEnd ? words.filter((i) => i < atEnd[0]) : words,
    ...(name ? { name } : {}),
  };
}

/** What stands before the noun: "my", "the", "flatmate's". */
function frontOf(
  tokens: readonly Token[],
  from: number,
  end: number,
): Pick<Noun, "possessive" | "determiner" | "owners"> & { begin: number } {
  const owners: Stretch[] = [];
  let possessive: string | undefined;
  let determiner: string | undefined;
  let begin = from;
  for (let i = from; i < end; i += 1) {
    const token = tokens[i];
    const isOwner = token?.owner === true && i < end - 1;
    if (token?.class === "possessive") possessive = token.lower;
    else if (token?.class === "determiner" && i === begin) determiner = token.lower;
    else if (isOwner) owners.push([begin, i + 1]);
    else continue;
    begin = i + 1;
  }
  return {
    owners,
    begin,
    ...(possessive === undefined ? {} : { possessive }),
    ...(determiner === undefined ? {} : { determiner }),
  };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** "my sister Petra", "our dog Rex": names behind a common noun that can bear one. */
function nameAtEnd(tokens: readonly Token[], words: readonly number[]): Stretch | undefined {
  let start = words.length;
  while (start > 0 && isNamePart(tokens[words[start - 1] ?? -1])) start -= 1;
  const head = tokens[words[start - 1] ?? -1];
  const first = words[start];
  const last = words.at(-1);
  if (start === 0 || !head || first === undefined || last === undefined) return undefined;
  // "a second-hand Fiat Panda" is called nothing.
  if (
    isCapital(head) ||
    !["noun", "name"].includes(head.class) ||
    (head.tags.has("Hyphenated") && !/-in-law$/.test(head.lower))
  )
    return undefined;
  return isTimeNoun(tokens[first]?.lower ?? "") ? undefined : [first, last + 1];
}

function isNamePart(token: Token | undefined): boolean {
  return isCapital(token) && ["name", "noun", "adjective"].includes(token?.class ?? "");
}

/** Whether a phrase is a person's or a place's name, title included: all its words in capitals. */
export function isName(tokens: readonly Token[], from: number, to: number): boolean {
  const slice = tokens.slice(from, to);
  const isPart = (token: Token): boolean =>
    isCapital(token) || /^(?:de|van|von|der|al|the|of)$/.test(token.word) || TITLES.has(token.lower);
  return slice.length > 0 && slice.length <= 5 && slice.every(isPart) && slice.some(isCapital);
}
