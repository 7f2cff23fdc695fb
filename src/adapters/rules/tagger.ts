import { createRequire } from "node:module";
import { baseForm } from "../../domain/english.ts";
import { BE, DETERMINERS, FIRST_POSSESSIVE, PREPOSITIONS, THIRD_POSSESSIVE } from "./lexicon.ts";

export type WordClass =
  | "verb"
  | "noun"
  | "name"
  | "pronoun"
  | "possessive"
  | "determiner"
  | "adjective"
  | "adverb"
  | "preposition"
  | "conjunction"
  | "number"
  | "question"
  | "negation"
  | "other";

/** A word with its place in the text. A contraction gives two tokens over the same place ("I've": I, have). */
export interface Token {
  /** The word itself, without punctuation. Of a contraction, the part's own word. */
  readonly word: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
  readonly tags: ReadonlySet<string>;
  class: WordClass;
  /** Punctuation right before and after. */
  readonly before: string;
  readonly after: string;
  /** Whether the words that a contraction stands for begin or go on here. */
  readonly contracted?: "first" | "rest";
  /** Inside quotation marks: somebody else's words, or a title. */
  quoted?: boolean;
  /** "Ana's": the owner of what follows. */
  readonly owner?: boolean;
}

interface Term {
  readonly pre: string;
  readonly text: string;
  readonly post: string;
  readonly implicit?: string;
  readonly normal?: string;
  readonly tags?: Set<string>;
}

type Tag = (text: string) => { readonly docs: readonly (readonly Term[])[] };

let loaded: Tag | undefined;

/** The part-of-speech tagger, loaded when it is first needed: loading takes a fifth of a second. */
function tag(text: string): ReturnType<Tag> {
  if (!loaded) {
    const load: (name: string) => unknown = createRequire(import.meta.url);
    loaded = load("compromise/two") as Tag;
  }
  return loaded(text);
}

/** Sentences as tokens, with exact places in the text. */
export function tagSentences(text: string, offset = 0): Token[][] {
  // Same length, so that places hold: the tagger knows straight marks alone.
  const plain = text
    .replace(/[’‘`´]/g, "'")
    .replace(/[“”«»]/g, '"')
    .replace(/[\u00A0\t]/g, " ");
  const sentences: Token[][] = [];
  let at = 0;
  for (const terms of tag(plain).docs) {
    const tokens: Token[] = [];
    for (const term of terms) {
      if (term.implicit !== undefined && term.text === "") {
        joinContraction(tokens, term);
        continue;
      }
      const start = place(plain, term.text, at + (plain.startsWith(term.pre, at) ? term.pre.length : 0));
      if (start < 0) continue;
      const end = start + term.text.length;
      at = end + (plain.startsWith(term.post, end) ? term.post.length : 0);
      tokens.push(token(term, term.implicit ?? term.text, start + offset, end + offset));
    }
    if (tokens.length > 0) sentences.push(repair(tokens));
  }
  return sentences;
}

function place(text: string, word: string, from: number): number {
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
    ...token({ ...term, pre: "", post: after }, term.implicit ?? "", start, end),
    after,
    contracted: "rest",
  });
}

const ABLE = new Map<string, string>([
  ["im", "i"],
  ["ive", "i"],
]);

function token(term: Term, word: string, start: number, end: number): Token {
  const tags = term.tags ?? new Set<string>();
  const plain = word.toLowerCase();
  const owner = tags.has("Possessive") && /'s?$/.test(plain) && !FIRST_POSSESSIVE.has(plain);
  const bare = plain.replace(/'s?$/, "").replace(/^'(?!m|re|ve|ll|d)/, "");
  const lower = ABLE.get(bare) ?? (bare === "" ? plain : bare);
  return {
    word: owner ? word.replace(/'s?$/i, "") : word,
    lower,
    start,
    end,
    tags,
    class: classOf(lower, word, tags),
    before: term.pre,
    after: term.post,
    ...(owner ? { owner: true } : {}),
  };
}

const PRONOUNS = new Set(
  "i you he she it we they me him us them myself yourself someone somebody anyone everybody everyone nobody something nothing everything anything mine yours hers ours theirs this that these those there".split(
    " ",
  ),
);
const CONJUNCTIONS = new Set(
  "and but or so yet nor & because cause cuz coz although though unless while whereas if when whenever since that as than till until".split(
    " ",
  ),
);
const AUXILIARY = new Set(
  "am is are was were be been being have has had having do does did can could will would shall should may might must cannot 'm 're 've 'll 'd ain't gonna wanna gotta".split(
    " ",
  ),
);
const ADVERBS = new Set(
  "now still also just always never ever often usually mostly sometimes rarely really very too already recently currently lately finally actually honestly apparently probably maybe perhaps basically badly only even again soon yesterday today tomorrow tonight here there back away home together instead anymore nowadays once twice either tbh btw atm quite pretty almost nearly about ages abroad upstairs downstairs".split(
    " ",
  ),
);

function classOf(lower: string, word: string, tags: ReadonlySet<string>): WordClass {
  if (lower === "not" || lower === "n't" || lower === "never") return "negation";
  if (AUXILIARY.has(lower))
    return lower === "may" && /^May/.test(word) && tags.has("Month")
      ? "noun"
      : lower === "will" && tags.has("ProperNoun")
        ? "name"
        : "verb";
  if (FIRST_POSSESSIVE.has(lower) && lower !== "mine" && lower !== "ours") return "possessive";
  if (THIRD_POSSESSIVE.has(lower) && lower !== "hers" && lower !== "theirs")
    return lower === "her" && !tags.has("Possessive") ? "pronoun" : "possessive";
  if (lower === "your") return "possessive";
  if (PRONOUNS.has(lower))
    return ["this", "that", "these", "those"].includes(lower) ? "determiner" : "pronoun";
  if (DETERMINERS.has(lower)) return "determiner";
  if (tags.has("QuestionWord") && !["that"].includes(lower)) return "question";
  if (CONJUNCTIONS.has(lower)) return "conjunction";
  if (lower === "like" && tags.has("Verb")) return "verb";
  if (ADVERBS.has(lower)) return "adverb";
  if (tags.has("Verb") && (lower === "like" || !PREPOSITIONS.has(lower))) return "verb";
  if (PREPOSITIONS.has(lower) && !(lower === "like" && tags.has("Verb"))) return "preposition";
  if (/^[\d.,:/£$€%#+-]*\d/.test(word) || tags.has("Value") || tags.has("NumericValue")) return "number";
  if (tags.has("Adverb")) return "adverb";
  if (tags.has("ProperNoun") || tags.has("Person") || tags.has("Place") || tags.has("Organization"))
    return "name";
  if (tags.has("Adjective")) return "adjective";
  if (tags.has("Conjunction")) return "conjunction";
  if (tags.has("Determiner")) return "determiner";
  if (tags.has("Noun") || tags.has("Date")) return "noun";
  if (tags.has("Expression")) return "other";
  return "noun";
}

/** Readings that the tagger misses and the neighbours give away. */
function repair(read: Token[]): Token[] {
  let tokens = read;
  tokens = apart(joined(owners(tokens)));
  for (const [i, current] of tokens.entries()) {
    if (current.lower === "no" && tokens[i + 1]?.lower === "longer") {
      current.class = "negation";
      continue;
    }
    current.class = repaired(current, tokens[i - 1], tokens[i + 1], tokens, i);
    if (current.contracted === "rest" && current.lower === "has" && !hasParticiple(tokens, i)) {
      tokens[i] = { ...current, word: "is", lower: "is" };
    }
  }
  return tokens;
}

/** "at St Olave's and": no "is" stands at the end of a phrase. */
function owners(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, i) => {
    const next = tokens[i + 1];
    const previous = tokens[i - 1];
    const isEnd = !next || /[,.;:!?)]/.test(token.after) || ["and", "or", "but"].includes(next.lower);
    if (token.contracted === "rest" && ["is", "has"].includes(token.lower) && isEnd && previous?.class === "name") return [];
    return [token];
  });
}

/** "left-handed", "brother-in-law": one word. */
function joined(tokens: readonly Token[]): Token[] {
  const whole: Token[] = [];
  for (const token of tokens) {
    const last = whole.at(-1);
    // "the neighbours' huskies"
    if (last && !last.owner && /^['’]\s/.test(last.after) && /s$/.test(last.lower) && token.class !== "verb") whole[whole.length - 1] = { ...last, owner: true, after: " " };
    if (
      !last ||
      last.after !== "-" ||
      token.start !== last.end + 1 ||
      (last.class === "number" && token.class === "number")
    ) {
      whole.push(token);
      continue;
    }
    const isQuality = /(?:ed|free|old|based|friendly|proof|ing)$/.test(token.lower) && token.class !== "name";
    const kind: WordClass =
      token.lower === "law"
        ? "noun"
        : isQuality
          ? "adjective"
          : last.class === "name"
            ? "name"
            : token.class === "verb"
              ? "noun"
              : token.class;
    whole[whole.length - 1] = {
      ...token,
      word: `${last.word}-${token.word}`,
      lower: `${last.lower}-${token.lower}`,
      start: last.start,
      before: last.before,
      class: kind,
    };
  }
  return whole;
}

/** "Grandpa's coming": what looks like an owner is a contraction where a verb or a description follows. */
function apart(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, i) => {
    const next = tokens[i + 1];
    const follows =
      next &&
      token.after.trim() === "" &&
      /^(?:coming|going|moving|getting|having|staying|leaving|arriving|working|living|visiting|turning|starting|being|doing|called|named|due|from|in|on|at|with|allergic|very|really|always|just|still|not|so|too|a|an|the|my|our|his|her)$/.test(
        next.lower,
      );
    if (!token.owner || !follows || tokens.slice(i + 2, i + 5).some(({ lower }) => BE.has(lower)))
      return [token];
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

/** "He's called" is, though "called" is a participle. */
const STATES = new Set(
  "called named nicknamed born based made located known supposed married engaged retired divorced allergic addicted subscribed scared interested booked scheduled due dead gone obsessed insured registered diagnosed employed widowed separated".split(
    " ",
  ),
);

/** "She's been" has; "mum's from Cardiff" is. */
function hasParticiple(tokens: readonly Token[], i: number): boolean {
  const next = tokens.slice(i + 1).find(({ class: kind }) => kind !== "adverb" && kind !== "negation");
  return (
    next !== undefined &&
    !STATES.has(next.lower) &&
    (next.tags.has("PastTense") || next.tags.has("Participle") || ["been", "got", "had"].includes(next.lower))
  );
}

const TAKES_NOUN = new Set<WordClass>(["determiner", "possessive", "adjective", "number"]);
const STARTS_PHRASE = new Set<WordClass>(["determiner", "possessive", "name", "number", "pronoun"]);

function repaired(
  current: Token,
  previous: Token | undefined,
  next: Token | undefined,
  tokens: readonly Token[],
  i: number,
): WordClass {
  const { lower, tags } = current;
  const glued = previous?.after.trim() === "";
  if (
    lower === "her" &&
    current.class === "possessive" &&
    (!next || current.after.trim() !== "" || next.class === "preposition" || next.class === "determiner")
  ) {
    return "pronoun";
  }
  if (
    lower === "her" &&
    current.class === "pronoun" &&
    next &&
    (next.class === "noun" || next.class === "adjective")
  )
    return "possessive";
  if (lower === "that" && next && current.class === "determiner") {
    return next.class === "noun" || next.class === "adjective" || next.class === "name"
      ? "determiner"
      : BE.has(next.lower)
        ? "pronoun"
        : next.class === "pronoun" ||
            next.class === "possessive" ||
            next.class === "determiner" ||
            next.class === "verb"
          ? "conjunction"
          : "pronoun";
  }
  if (
    current.class === "determiner" &&
    ["this", "these", "those"].includes(lower) &&
    (!next || current.after.trim() !== "" || next.class === "verb")
  )
    return "pronoun";
  if (
    lower === "may" &&
    /^May/.test(current.word) &&
    (previous?.class === "number" ||
      next?.class === "number" ||
      previous?.class === "preposition" ||
      ["last", "next", "this", "since", "until", "till"].includes(previous?.lower ?? ""))
  )
    return "noun";
  if (
    current.class === "adverb" &&
    ["home", "work", "once", "night", "noon"].includes(lower) &&
    previous?.class === "preposition" &&
    glued
  )
    return "noun";
  if (current.class === "verb" && !AUXILIARY.has(lower))
    return repairedVerb(current, previous, next, glued, tokens, i);
  if (current.class === "noun" || current.class === "adjective" || current.class === "name") {
    return repairedNoun(current, previous, next, tokens, i);
  }
  if (tags.has("Verb") && previous?.lower === "to") return "verb";
  return current.class;
}

const TRAVELS = /^(?:cycle|bike|walk|drive|go|get|commute|run|ride|travel|bus|train|tram|way|metro|tube|ferry|come|back|ebike|scooter|skate|road|on|take|lift|close|near|next)$/;

/** Whether "I", "we" or "they" is the last subject before a place. */
function isMine(tokens: readonly Token[], at: number): boolean {
  for (let i = at - 1; i >= 0; i -= 1) {
    const token = tokens[i];
    if (
      token?.class === "pronoun" &&
      ["i", "we", "they", "you", "she", "he", "it", "who"].includes(token.lower)
    )
      return ["i", "we", "they", "you"].includes(token.lower);
    if (token && /[;:.]/.test(token.after)) return false;
  }
  return false;
}

function repairedVerb(
  current: Token,
  previous: Token | undefined,
  next: Token | undefined,
  glued: boolean,
  tokens: readonly Token[],
  i: number,
): WordClass {
  const { tags, lower } = current;
  const finiteForm = tags.has("Infinitive") || tags.has("PresentTense");
  if (!previous || !glued) {
    // "Work is busy", "Coffee keeps me going": a noun that opens the sentence.
    if (
      finiteForm &&
      !tags.has("Gerund") &&
      next &&
      next.class === "verb" &&
      (BE.has(next.lower) || next.tags.has("PastTense"))
    )
      return "noun";
    return "verb";
  }
  if (
    previous.class === "possessive" ||
    (TAKES_NOUN.has(previous.class) && !["that", "all", "both", "each"].includes(previous.lower))
  ) {
    if (previous.class === "number" && /s$/.test(lower)) return "noun";
    if (previous.class === "adjective" && tags.has("PastTense")) return "verb";
    if (tags.has("Gerund") || tags.has("PastTense"))
      return next && next.class === "noun"
        ? "adjective"
        : previous.class === "possessive" || previous.class === "determiner"
          ? "noun"
          : "verb";
    if (previous.class === "adjective" && tags.has("PresentTense") && /s$/.test(lower)) return "verb";
    return "noun";
  }
  if (previous.class === "preposition" && previous.lower !== "to" && !tags.has("Gerund") && finiteForm)
    return "noun";
  // "cycle to work", "the bus to school"
  if (previous.lower === "to" && ["work", "bed", "church", "court", "camp"].includes(lower) && TRAVELS.test(baseForm(tokens[i - 2]?.lower ?? ""))) return "noun";
  // "I'm scared of spiders and lifts": with "I" no verb ends in s.
  if (["and", "or", "&"].includes(previous.lower) && finiteForm && /[^s]s$/.test(lower) && isMine(tokens, i))
    return "noun";
  if (previous.owner) return tags.has("PastTense") ? "verb" : "noun";
  return "verb";
}

const HELPERS = new Set([
  "do",
  "does",
  "did",
  "can",
  "could",
  "will",
  "would",
  "should",
  "might",
  "must",
  "'ll",
  "'d",
  "cannot",
]);
const QUALITIES = new Set(
  "interesting boring exciting annoying amazing loving charming willing missing living freezing boiling surprising tiring confusing disappointing relaxing outstanding stunning thrilling terrifying overwhelming challenging demanding rewarding embarrassing depressing disgusting".split(
    " ",
  ),
);
const GOES_ON = new Set([
  "work",
  "live",
  "study",
  "play",
  "teach",
  "sing",
  "run",
  "drive",
  "walk",
  "dance",
  "cook",
]);

function repairedNoun(
  current: Token,
  previous: Token | undefined,
  next: Token | undefined,
  tokens: readonly Token[],
  i: number,
): WordClass {
  const { lower } = current;
  const glued = previous?.after.trim() === "";
  const helper = previous?.class === "negation" || previous?.class === "adverb" ? tokens[i - 2] : previous;
  if (
    glued &&
    helper &&
    HELPERS.has(helper.lower) &&
    helper.class === "verb" &&
    current.class !== "name" &&
    /^[a-z]/.test(current.word)
  )
    return "verb";
  if (
    glued &&
    helper?.class === "verb" &&
    BE.has(helper.lower) &&
    /[a-z]{2}ing$/.test(lower) &&
    current.class === "adjective" &&
    !QUALITIES.has(lower)
  )
    return "verb";
  if (
    current.class === "noun" &&
    previous?.after.includes(",") &&
    next?.class === "preposition" &&
    /s$/.test(lower) &&
    GOES_ON.has(lower.slice(0, -1))
  )
    return "verb";
  if (
    current.class === "noun" &&
    glued &&
    /s$/.test(lower) &&
    GOES_ON.has(lower.slice(0, -1)) &&
    (previous?.class === "name" ||
      previous?.class === "noun" ||
      previous?.lower === "who" ||
      previous?.lower === "and") &&
    (next?.class === "preposition" || next?.class === "determiner")
  )
    return "verb";
  const actor = helper && tokens[tokens.indexOf(helper) - 1];
  const isActing = glued && helper?.class === "verb" && BE.has(helper.lower) && actor?.class === "pronoun" && /[a-z]{3}ing$/.test(lower);
  if (isActing && current.class === "noun" && /^[a-z]/.test(current.word) && !QUALITIES.has(lower)) return "verb";
  const subject =
    previous &&
    previous.class === "pronoun" &&
    ["i", "we", "they", "you"].includes(previous.lower) &&
    previous.contracted === undefined;
  if (
    subject &&
    previous.after.trim() === "" &&
    next &&
    current.class !== "name" &&
    /^[a-z]/.test(current.word)
  ) {
    if (STARTS_PHRASE.has(next.class) || next.class === "preposition" || next.class === "noun") return "verb";
  }
  if (
    previous?.lower === "to" &&
    i >= 2 &&
    next &&
    STARTS_PHRASE.has(next.class) &&
    next.class !== "name" &&
    /^[a-z]+$/.test(current.word) &&
    tokens[i - 2]?.class === "verb" &&
    !/s$/.test(lower) &&
    current.class === "noun" &&
    !current.tags.has("Plural")
  ) {
    return "verb";
  }
  return current.class;
}
