import { toSingular } from "../../word-forms.ts";
import { ANIMALS, BE, FEMALE, LASTING, MALE } from "./lexicon.ts";
import { isPersonNoun } from "./persons.ts";
import type { Token, WordClass } from "./token.ts";

/** "at St Olave's and": no "is" stands at the end of a phrase. */
export function withoutStrayIs(tokens: readonly Token[]): Token[] {
  return tokens.filter((token, i) => {
    const next = tokens[i + 1];
    const isEnd = !next || /[,.;:!?)]/.test(token.after) || ["and", "or", "but"].includes(next.lower);
    const isShort = token.contracted === "rest" && ["is", "has"].includes(token.lower);
    if (isShort && ["eve", "day"].includes(next?.lower ?? "")) return false;
    return !(isShort && isEnd && tokens[i - 1]?.class === "name");
  });
}

/** "to my mum's on Fridays", "at Sainsbury's in town": where somebody lives or sells is no "is". */
export function withoutPlaceIs(tokens: readonly Token[]): Token[] {
  const isPlaceIs = (i: number): boolean => {
    const [owner, next] = [tokens[i - 1], tokens[i + 1]];
    const isShort = tokens[i]?.contracted === "rest" && tokens[i]?.lower === "is";
    const goesOn = next !== undefined && !/[,.;:!?)]/.test(tokens[i]?.after ?? "");
    if (!isShort || !owner || (goesOn && !["preposition", "conjunction"].includes(next.class))) return false;
    const at = ["possessive", "determiner"].includes(tokens[i - 2]?.class ?? "") ? i - 3 : i - 2;
    const isTold = tokens.slice(0, Math.max(0, at)).some(({ class: kind }) => kind === "verb");
    return isTold && PLACES.has(tokens[at]?.lower ?? "") && ["noun", "name"].includes(owner.class);
  };
  return tokens.flatMap((token, i) => {
    if (isPlaceIs(i)) return [];
    const short = tokens[i + 1];
    return short && isPlaceIs(i + 1) ? [{ ...token, end: short.end, after: short.after }] : [token];
  });
}

const PLACES = new Set(["to", "at", "from"]);

const NEGATED = new Map(
  "dont do,cant can,wont will,didnt did,doesnt does,isnt is,arent are,wasnt was,werent were,havent have,hasnt has,hadnt had,couldnt could,wouldnt would,shouldnt should,aint am"
    .split(",")
    .map((pair) => pair.split(" ") as [string, string]),
);

/** "dont", "cant", typed without the mark: two words over one place. */
export function unmarked(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => {
    const verb = NEGATED.get(token.lower);
    if (verb === undefined) return [token];
    const tags = new Set(["Verb", "Auxiliary"]);
    return [
      {
        ...token,
        word: verb,
        lower: verb,
        class: "verb" as const,
        tags,
        after: "",
        contracted: "first" as const,
      },
      {
        ...token,
        word: "not",
        lower: "not",
        class: "negation" as const,
        tags: new Set(["Negative"]),
        before: "",
        contracted: "rest" as const,
      },
    ];
  });
}

const ACTS_ALONE = /^(?:is|was|has|'s|will|can|got|went|came|had|does|did)$|[a-z]{2}(?:ed|[^s]s)$/;

/** What people do, in so many words that no list of things is meant: "my son plays drums" has no name. */
const LIVES =
  /^(?:is|was|has|does|lives|works|loves|likes|hates|wants|needs|plays|teaches|studies|runs|owns|speaks|goes|comes)$/;

/** Whether the tree of the sentence takes a word for a name. */
export type IsProper = (token: Token) => boolean;

/** "my sister ines lives", "my boss dana and i", "my kids zoe and max": names in small letters behind whom they name. */
export function namedInSmall(tokens: readonly Token[], isProper: IsProper): Token[] {
  const names = new Set(tokens.flatMap((_, i) => [...namesBehind(tokens, i, isProper)]));
  return tokens.map((token, i) =>
    names.has(i)
      ? { ...token, word: token.word.charAt(0).toUpperCase() + token.word.slice(1), class: "name" as const }
      : token,
  );
}

/** The places of the names in small letters behind a noun for a person or an animal of somebody's. */
function namesBehind(tokens: readonly Token[], at: number, isProper: IsProper): readonly number[] {
  const bearer = tokens[at];
  if (!bearer || bearer.owner || bearer.after !== " " || !isBearer(bearer)) return [];
  const owner = tokens[at - 1]?.class;
  if (owner !== "possessive" && (owner !== "adjective" || tokens[at - 2]?.class !== "possessive"))
    return isKin(bearer) && owner === "adjective" && isNamedKin(tokens, at + 1) ? [at + 1] : [];
  if (toSingular(bearer.lower) !== bearer.lower) return listBehind(tokens, at + 1, isProper);
  if (isKin(bearer) && isNamedKin(tokens, at + 1)) return [at + 1];
  return isNameBehind(tokens, at + 1, isProper) ? [at + 1] : [];
}

const isKin = ({ lower }: Token): boolean => FEMALE.has(lower) || MALE.has(lower);

function isBearer({ lower }: Token): boolean {
  return isPersonNoun(lower) || [FEMALE, MALE, ANIMALS].some((words) => words.has(toSingular(lower)));
}

/** Between one of the family and a verb of one, any noun is a name. */
function isNamedKin(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  const next = tokens[at + 1];
  const isWord =
    isSmallWord(token) &&
    token.after.trim() === "" &&
    !(/s$/.test(token.lower) && /s$/.test(next?.lower ?? "") && !LIVES.test(next?.lower ?? ""));
  return (
    isWord &&
    next !== undefined &&
    (ACTS_ALONE.test(next.lower) || next.lower === "and") &&
    next.class !== "noun"
  );
}

/** "my boss dana told me", "with my friend olga": a word that is a name by itself, and no part of a longer noun. */
function isNameBehind(tokens: readonly Token[], at: number, isProper: IsProper): boolean {
  const token = tokens[at];
  const next = tokens[at + 1];
  if (!isSmallWord(token) || (token.class !== "name" && !isProper(token))) return false;
  const goesOn = token.after.trim() === "" && ["noun", "name", "number"].includes(next?.class ?? "");
  return !goesOn && isGivenOrProper(token, isProper);
}

function isGivenOrProper(token: Token, isProper: IsProper): boolean {
  if (["Place", "WeekDay", "Month", "Demonym", "Organization"].some((tag) => token.tags.has(tag)))
    return false;
  // "my dog walker": what somebody does.
  return token.tags.has("FirstName") || (!isPersonNoun(token.lower) && isProper(token));
}

/** "zoe and max", "tom, anna and li": two or more words behind those who bear them, one of which is a name by itself. */
function listBehind(tokens: readonly Token[], from: number, isProper: IsProper): readonly number[] {
  const places: number[] = [];
  let isJoined = false;
  for (let at = from; isSmallWord(tokens[at]); at += 1) {
    places.push(at);
    if (isJoined) break;
    isJoined = /^(?:and|&)$/.test(tokens[at + 1]?.lower ?? "");
    if (isJoined) at += 1;
    else if (!/^, $/.test(tokens[at]?.after ?? "")) return [];
  }
  const isNamed = places.some((at) => isGivenOrProper(tokens[at] as Token, isProper));
  return isJoined && places.length > 1 && isNamed ? places : [];
}

function isSmallWord(token: Token | undefined): token is Token {
  return (
    token !== undefined &&
    /^[a-z]{2,}$/.test(token.word) &&
    ["noun", "name"].includes(token.class) &&
    !token.owner &&
    !token.quoted &&
    !NO_NAME.has(token.lower)
  );
}

const NO_NAME = new Set(
  "friend boss law side team mate group figure problem thing school band life food bed stuff".split(" "),
);

/** "left-handed", "brother-in-law": one word. "the neighbours' huskies": an owner. */
export function joined(tokens: readonly Token[]): Token[] {
  const whole: Token[] = [];
  for (const token of tokens) {
    const last = whole.at(-1);
    if (last && isPluralOwner(last) && token.class !== "verb") {
      whole[whole.length - 1] = { ...last, owner: true, after: " " };
    }
    if (last && isHyphened(last, token)) whole[whole.length - 1] = joint(last, token);
    else if (last?.lower === "go" && token.lower === "to" && whole.at(-2)?.class === "possessive")
      whole[whole.length - 1] = { ...joint(last, token), class: "adjective" };
    else whole.push(token);
  }
  return whole;
}

function isPluralOwner(token: Token): boolean {
  return !token.owner && /^['’]\s/.test(token.after) && /s$/.test(token.lower);
}

function isHyphened(last: Token, token: Token): boolean {
  // "thirty-one" is one number; "3-4" and "thirty-forty" are two.
  const isOne =
    /ty$/.test(last.lower) && /^(?:one|two|three|four|five|six|seven|eight|nine)$/.test(token.lower);
  const isRange = last.class === "number" && token.class === "number" && !isOne;
  return last.after === "-" && token.start === last.end + 1 && !isRange;
}

function joint(last: Token, token: Token): Token {
  return {
    ...token,
    word: `${last.word}-${token.word}`,
    lower: `${last.lower}-${token.lower}`,
    start: last.start,
    before: last.before,
    class: jointClass(last, token),
  };
}

function jointClass(last: Token, token: Token): WordClass {
  if (token.lower === "law") return "noun";
  const isQuality = /(?:ed|free|old|based|friendly|proof|ing)$/.test(token.lower);
  if (isQuality && token.class !== "name") return "adjective";
  if (last.class === "name") return "name";
  return ["verb", "preposition", "adverb"].includes(token.class) ? "noun" : token.class;
}

/** A form of "be" close behind, in the same clause. */
function hasBe(tokens: readonly Token[], from: number): boolean {
  for (let at = from; at < from + 3; at += 1) {
    const token = tokens[at];
    if (!token || ["and", "but", "so", "because"].includes(token.lower)) return false;
    if (BE.has(token.lower)) return true;
    if (/[,;.]/.test(token.after)) return false;
  }
  return false;
}

/** "my flatmate's vegan and …": a lasting state, and nothing behind it that it could describe. */
function isState(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  const next = tokens[at + 1];
  const isEnd =
    !next ||
    (token?.after.trim() ?? "") !== "" ||
    ["and", "but", "so", "now", "too", "because", "since"].includes(next.lower);
  return token !== undefined && isEnd && LASTING.has(token.lower);
}

const FOLLOWS_IS =
  /^(?:coming|going|moving|getting|having|staying|leaving|arriving|working|living|visiting|turning|starting|being|doing|called|named|due|from|in|on|at|with|allergic|very|really|always|just|still|not|so|too|a|an|the|my|our|his|her)$/;

/** "Grandpa's coming": what looks like an owner is a contraction where a verb or a description follows. */
export function apart(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, i) => {
    const next = tokens[i + 1];
    const follows =
      next !== undefined &&
      token.after.trim() === "" &&
      (FOLLOWS_IS.test(next.lower) || isState(tokens, i + 1));
    const hasVerb = hasBe(tokens, i + 2);
    if (!token.owner || !follows || hasVerb) return [token];
    const { owner: _owner, ...plain } = token;
    return [
      { ...plain, after: "", contracted: "first" as const },
      {
        ...plain,
        word: "is",
        lower: "is",
        class: "verb" as const,
        tags: new Set(["Verb", "Copula"]),
        before: "",
        contracted: "rest" as const,
      },
    ];
  });
}
