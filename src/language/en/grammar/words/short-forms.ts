import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { toSingular } from "../../word-forms.ts";
import type { Token, WordClass } from "./token.ts";

/** Forms that lost their mark and stand apart: "i m", "that s", "don t". */
const APART: Readonly<Record<string, string>> = {
  m: "am",
  re: "are",
  r: "are",
  ve: "have",
  ll: "will",
  d: "would",
  s: "is",
};
const PRONOUN = /^(?:i|you|u|he|she|it|we|they|that|there|here|what|who|where|how)$/;
const CUT = new Map(
  "don do,can can,won will,didn did,doesn does,isn is,aren are,wasn was,weren were,haven have,hasn has,hadn had,couldn could,wouldn would,shouldn should,wo will,ca can"
    .split(",")
    .map((pair) => pair.split(" ") as [string, string]),
);

/** Forms that lost their mark: "thats", "hes", "theyre". */
const JOINED = new Map(
  Object.entries({
    thats: "that is",
    hes: "he is",
    shes: "she is",
    theyre: "they are",
    theres: "there is",
    heres: "here is",
    whats: "what is",
    wheres: "where is",
    hows: "how is",
    whos: "who is",
    youre: "you are",
    youve: "you have",
    weve: "we have",
    theyve: "they have",
    itll: "it will",
    youll: "you will",
    id: "i would",
    theyll: "they will",
  }),
);

/** "thats", "its really nice", "u": a word that stands for another, or for two. */
function heard(token: Token, next: Token | undefined): Token[] {
  const yours = token.word === token.lower ? YOURS.get(token.lower) : undefined;
  if (yours !== undefined) return [worded(token, ...yours)];
  const words = isIts(token, next) ? "it is" : JOINED.get(token.lower);
  return words === undefined || !isJoined(token, next) ? [token] : parted(token, words.split(" "));
}

/** Typed as they sound. */
const YOURS: ReadonlyMap<string, [string, WordClass]> = new Map([
  ["u", ["you", "pronoun"]],
  ["ur", ["your", "possessive"]],
]);

/** "ID BUY a house", and not "my id is 45". */
function isJoined({ lower, word, after }: Token, next: Token | undefined): boolean {
  if (lower !== "id") return true;
  return word === lower && after === " " && next?.class === "verb" && toBaseForm(next.lower) === next.lower;
}

/** Each short form as the words it stands for, over the same place. */
export function unshortened(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, i) => {
    if (token.contracted !== undefined) return [token];
    const next = tokens[i + 1];
    const apart = standing(token, tokens[i - 1]);
    if (apart) return [apart];
    const auxiliary = isCut(token, next) ? CUT.get(token.lower) : undefined;
    if (auxiliary !== undefined) return [worded(token, auxiliary, "verb")];
    return heard(token, next);
  });
}

/** A piece that stands behind its word. */
function standing(token: Token, before: Token | undefined): Token | undefined {
  if (before?.after !== " ") return undefined;
  if (token.lower === "t") return CUT.has(before.lower) ? negation(token) : undefined;
  const word = Object.hasOwn(APART, token.lower) ? APART[token.lower] : undefined;
  if (token.lower === "r" && isMany(before)) return worded(token, "are", "verb");
  const isOwn = PRONOUN.test(before.lower) && (token.lower !== "m" || before.lower === "i");
  return word !== undefined && isOwn ? worded(token, word, "verb") : undefined;
}

/** "my kids r", typed as it sounds: behind a noun of many. */
function isMany({ word, lower, class: kind }: Token): boolean {
  return kind === "noun" && word === lower && toSingular(lower) !== lower;
}

/** "don t", "wo not", "ca n't" */
function isCut(token: Token, next: Token | undefined): boolean {
  if (!next || token.after !== " ") return false;
  const isShort = token.lower === "wo" || token.lower === "ca";
  return isShort ? /^(?:not|n't|nt)$/.test(next.lower) : next.lower === "t";
}

/** "its a corvette", "its really nice": no owner stands before an article, an adverb or a mark. */
function isIts(token: Token, next: Token | undefined): boolean {
  if (token.lower !== "its" || !next || token.after.trim() !== "") return false;
  const isPlain = next.class === "determiner" || next.class === "possessive" || next.class === "negation";
  const isHow =
    /^(?:so|very|really|too|just|pretty|almost|been|ok|okay|always|still|gonna|called|in|on|at|from|like|about)$/;
  return isPlain || isHow.test(next.lower) || (next.class === "adjective" && next.after.trim() !== "");
}

function parted(token: Token, [first = "", second = ""]: readonly string[]): Token[] {
  return [
    { ...worded(token, first, first === "here" ? "adverb" : "pronoun"), after: "", contracted: "first" },
    { ...worded(token, second, "verb"), before: "", contracted: "rest" },
  ];
}

function worded(token: Token, word: string, kind: WordClass): Token {
  const tags = kind === "verb" ? new Set(["Verb", "Auxiliary"]) : new Set<string>();
  return { ...token, word, lower: word, class: kind, tags };
}

function negation(token: Token): Token {
  return { ...worded(token, "not", "negation"), tags: new Set(["Negative"]) };
}

/** "He's called" is, though "called" is a participle. */
const STATES = new Set(
  "called named nicknamed born based made located known supposed married engaged retired divorced allergic addicted subscribed scared interested booked scheduled due dead gone obsessed insured registered diagnosed employed widowed separated".split(
    " ",
  ),
);

/** "She's been" has; "mum's from Derby" is. */
export function hasParticiple(tokens: readonly Token[], i: number): boolean {
  const next = tokens.slice(i + 1).find(({ class: kind }) => kind !== "adverb" && kind !== "negation");
  if (next === undefined || STATES.has(next.lower)) return false;
  return (
    next.tags.has("PastTense") || next.tags.has("Participle") || ["been", "got", "had"].includes(next.lower)
  );
}
