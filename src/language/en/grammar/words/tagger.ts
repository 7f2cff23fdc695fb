import { createRequire } from "node:module";
import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { toPastParticiple } from "../../word-forms.ts";
import { withTimeWords } from "../time/times.ts";
import { even } from "./even.ts";
import { BE, FIRST_POSSESSIVE } from "./lexicon.ts";
import { repair } from "./repairs.ts";
import { createTagCorrections, type TaggerPlugin } from "./tag-corrections.ts";
import type { Token } from "./token.ts";
import { classOf } from "./word-class.ts";

interface Term {
  readonly pre: string;
  readonly text: string;
  readonly post: string;
  readonly implicit?: string;
  readonly tags?: Set<string>;
}

interface Tag {
  (text: string): { readonly docs: readonly (readonly Term[])[] };
  plugin(plugin: TaggerPlugin): unknown;
  model(): { readonly one: { readonly lexicon: { readonly [word: string]: unknown } } };
}

let loaded: Tag | undefined;

/** The part-of-speech tagger, loaded when it is first needed: loading takes a fifth of a second. */
function tagger(): Tag {
  if (!loaded) {
    const load: (name: string) => unknown = createRequire(import.meta.url);
    loaded = load("compromise/two") as Tag;
    loaded.plugin(createTagCorrections());
  }
  return loaded;
}

/** Whether a word in small letters is in the tagger's dictionary; a slip of the keys is not. */
export function isKnownWord(word: string): boolean {
  return Object.hasOwn(tagger().model().one.lexicon, word);
}

/** Sentences as tokens, with exact places in the text. */
export function tagSentences(text: string, offset = 0): Token[][] {
  const plain = even(text);
  const sentences: Token[][] = [];
  let at = 0;
  for (const terms of tagger()(plain).docs) {
    const tokens: Token[] = [];
    for (const given of terms) {
      const term = withWholeSigns(given);
      if (term.implicit !== undefined && term.text === "") joinContraction(tokens, term);
      else at = pushTerm(tokens, term, { plain, at, offset });
    }
    const isProper = (token: Token): boolean => isProperIn(plain, tokens, token.start - offset, offset);
    if (tokens.length === 0) continue;
    const repaired = repair(withTimeWords(tokens.map(asMeant)), isProper);
    sentences.push(withPassives(repaired, (at) => parseAround(plain, tokens, at - offset, offset)));
  }
  return sentences;
}

/** Whether the tree of the sentence takes the word at a place for a name. Only names in small letters need the tree. */
function isProperIn(plain: string, tokens: readonly Token[], at: number, offset: number): boolean {
  return parseAround(plain, tokens, at, offset)?.word.pos === "PROPN";
}

/** The word at a place of a text in the tree of its sentence. */
function parseAround(
  plain: string,
  tokens: readonly Token[],
  at: number,
  offset: number,
): WordInTree | undefined {
  const from = (tokens[0]?.start ?? 0) - offset;
  for (const { tokens: words } of parseEnglish(plain.slice(from, (tokens.at(-1)?.end ?? 0) - offset))) {
    const index = words.findIndex(({ start }) => from + start === at);
    const word = words[index];
    if (word) return { word, under: words.filter(({ head }) => head === index) };
  }
  return undefined;
}

/** A word of a tree, and what hangs on it. */
interface WordInTree {
  readonly word: ParsedToken;
  readonly under: readonly ParsedToken[];
}

/**
 * "I'm Swiss, RAISED in Lugano": marks with the tag "Passive" what is done to the one who is told of, though no "was" stands before it. The
 * tree tells it from "I'm Swiss and moved to Lugano". `treeAt` gives the word at a place of the text.
 */
function withPassives(tokens: readonly Token[], treeAt: (start: number) => WordInTree | undefined): Token[] {
  const be = tokens.findIndex(({ lower }) => BE.has(lower));
  return tokens.map((token, i) => {
    if (be < 0 || i <= be || !isJoinedPast(tokens, i)) return token;
    const tree = treeAt(token.start);
    const isPassive =
      tree?.word.tag === "VBN" && !tree.under.some(({ label }) => /^(?:obj|aux|nsubj)/.test(label));
    return isPassive ? { ...token, tags: new Set([...token.tags, "Passive"]) } : token;
  });
}

/** A past form right behind "and" or a comma. */
function isJoinedPast(tokens: readonly Token[], i: number): boolean {
  const token = tokens[i];
  const before = tokens[i - 1];
  const isPast =
    /[a-z]ed$/.test(token?.lower ?? "") || token?.tags.has("PastTense") || token?.tags.has("Participle");
  if (token?.class !== "verb" || !before || !isPast) return false;
  return /^(?:and|but|or|then)$/.test(before.lower) || /^,\s*$/.test(before.after);
}

/** "I'd move" is "I would move", where the tagger takes it for "I had"; "a book about" brings in what it is about. */
function asMeant(token: Token, at: number, tokens: readonly Token[]): Token {
  const next = tokens[tokens[at + 1]?.class === "adverb" ? at + 2 : at + 1];
  if (isDoneBefore(tokens, at)) return { ...token, class: "verb" };
  if (!next) return token;
  if (token.contracted === "rest" && token.lower === "had" && isBaseOnly(next.lower))
    return { ...token, word: "would", lower: "would" };
  const isAbout = token.lower === "about" && token.class === "adverb" && tokens[at + 1]?.class !== "number";
  const follows = tokens[at - 1]?.class === "noun" && !/^(?:a|an|half|to)$/.test(next.lower);
  return isAbout && follows ? { ...token, class: "preposition" } : token;
}

/** "haven't SMOKED since May", "have DONE": a participle behind "have", unless it describes what one has: "smoked salmon". */
function isDoneBefore(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (token?.class !== "adjective" || !/ed$|^done$/.test(token.lower)) return false;
  const describes = ["noun", "name", "adjective"].includes(tokens[at + 1]?.class ?? "");
  return followsHave(tokens, at) && (token.lower === "done" || !describes);
}

/** "have done", "haven't really done" */
function followsHave(tokens: readonly Token[], at: number): boolean {
  let before = at - 1;
  while (["adverb", "negation"].includes(tokens[before]?.class ?? "")) before -= 1;
  return /^(?:have|has|had)$/.test(tokens[before]?.lower ?? "");
}

/** A base form that is no participle as well: "move", and not "come". */
function isBaseOnly(word: string): boolean {
  return (
    isKnownWord(word) &&
    toBaseForm(word) === word &&
    toPastParticiple(word) !== word &&
    !/(?:ed|en)$/.test(word)
  );
}

/** A drawn sign of several (a family) is one: the tagger takes its first and last for punctuation. */
function withWholeSigns(term: Term): Term {
  if (!term.text.includes("\u200d")) return term;
  const lead =
    term.text.startsWith("\u200d") || term.text.startsWith("\ufe0f")
      ? (/\S+$/u.exec(term.pre)?.[0] ?? "")
      : "";
  const tail = term.text.endsWith("\u200d")
    ? (/^\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]*/u.exec(term.post)?.[0] ?? "")
    : "";
  return {
    ...term,
    pre: term.pre.slice(0, term.pre.length - lead.length),
    text: `${lead}${term.text}${tail}`,
    post: term.post.slice(tail.length),
  };
}

/** Gives where to go on. */
function pushTerm(
  tokens: Token[],
  term: Term,
  { plain, at, offset }: { plain: string; at: number; offset: number },
): number {
  const start = placeOf(plain, term.text, at + (plain.startsWith(term.pre, at) ? term.pre.length : 0));
  if (start < 0) return at;
  const sign = signBehind(term);
  const end = start + term.text.length + sign.length;
  const implicit = term.implicit === undefined ? undefined : capitalAs(term.text, term.implicit);
  const post = term.post.slice(sign.length);
  const word = implicit ?? `${term.text}${sign}`;
  tokens.push(tokenOf({ ...term, post }, word, start + offset, end + offset));
  return end + (plain.startsWith(post, end) ? post.length : 0);
}

/** "C++", "C#": the sign is part of the name. */
function signBehind({ text, post }: Term): string {
  return /^\p{Lu}$/u.test(text) ? (/^(?:\+\+|#)(?![\p{L}\p{N}])/u.exec(post)?.[0] ?? "") : "";
}

/** "Ed's" stands for "Ed is": the name keeps its capital. */
function capitalAs(text: string, word: string): string {
  return /^\p{Lu}/u.test(text) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

function placeOf(text: string, word: string, from: number): number {
  if (text.startsWith(word, from)) return from;
  const found = text.indexOf(word, from);
  return found >= 0 && found - from < 200 ? found : -1;
}

function joinContraction(tokens: Token[], term: Term): void {
  const last = tokens.at(-1);
  if (!last) return;
  const { start, end, after } = last;
  tokens[tokens.length - 1] = { ...last, after: "", contracted: last.contracted ?? "first" };
  tokens.push({
    ...tokenOf({ ...term, pre: "", post: after }, term.implicit ?? "", start, end),
    after,
    contracted: "rest",
  });
}

/** Typed without the mark: "im" is "I am". */
const BARE = new Map([
  ["im", "i"],
  ["ive", "i"],
]);

function tokenOf(term: Term, word: string, start: number, end: number): Token {
  const tags = term.tags ?? new Set<string>();
  const plain = word.toLowerCase();
  const owner = tags.has("Possessive") && /'s?$/.test(plain) && !FIRST_POSSESSIVE.has(plain);
  const bare = plain.replace(/'s?$/, "").replace(/^'(?!m|re|ve|ll|d)/, "");
  const lower = BARE.get(bare) ?? (bare === "" ? plain : bare);
  return {
    word: owner ? word.replace(/'s?$/i, "") : word,
    lower,
    start,
    end,
    tags,
    class: classOf({ lower, word, tags }),
    before: term.pre,
    after: term.post,
    ...(owner ? { owner: true } : {}),
  };
}
