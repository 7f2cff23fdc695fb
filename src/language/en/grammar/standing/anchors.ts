import { readNounPhrase } from "../clauses/noun-phrases.ts";
import { isTimeNoun } from "../time/times.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";

/** Pronouns that mean something said before. */
const PRONOUN = new Set(
  "it this that these those them they he she him hers theirs there here something anything everything nothing someone anyone everyone everybody somebody nobody somewhere anywhere everywhere nowhere else eachother em".split(
    " ",
  ),
);

/** Words that make a phrase the like of one said before: "the other team", "another", "the same thing". */
const RELATIVE_TO = new Set("another other others same such latter former whole rest".split(" "));

/** What everybody knows by its name alone: "the beach", "the piano", "the dentist". */
const COMMON = new Set(
  "beach gym park store shop mall supermarket market library pool lake mountain sea ocean coast seaside shore river wood forest jungle desert city town country countryside outdoors wilderness wild nature farm museum zoo aquarium movie cinema theater theatre opera ballet hospital doctor dentist vet hairdresser barber police office world internet web new army navy military marines police government environment planet earth sky sun moon star weather snow rain guitar piano violin drum cello flute clarinet trumpet saxophone harp banjo ukulele bass keyboard oboe tuba accordion harmonica house home kitchen garden bathroom bedroom backyard yard garage attic basement street neighborhood neighbourhood community homeless elderly poor bus train subway metro tube car plane airport station playground court field track road bar pub club church mosque temple synagogue school university college bank post phone tv television radio piano dishes laundry housework groceries holidays weekend summer winter spring fall autumn morning evening afternoon night day past future arts public youth unemployed blind deaf disabled dog cat kid child family".split(
    " ",
  ),
);

const HANGS_ON =
  /^(?:of|in|at|for|from|by|with|to|on|about|near|between|behind|under|over|against|that|who|which|where|called|named|we|i|my)$/;

/** Whether the words from here on mean the same to somebody who did not hear what came before. */
export function isAnchored(tokens: readonly Token[], [from, to]: Stretch, isSelf: boolean): boolean {
  for (let at = from; at < to; at += 1) {
    const token = tokens[at];
    if (!token) return true;
    if (pointsBack(tokens, at, to)) return false;
    if (/^an?$/.test(token.lower) && isMany(tokens, at, to)) return false;
    if (token.lower === "the" && !isKnownThing(tokens, at, to)) return false;
    if (isSelf && /^(?:his|her|its|their)$/.test(token.lower) && !hasOwnerBefore(tokens, at)) return false;
  }
  return true;
}

/** "a blue streaks": one and many at once, where a word was left out or read wrong. */
function isMany(tokens: readonly Token[], at: number, to: number): boolean {
  const words = tokens.slice(at + 1, readNounPhrase(tokens, at, to) ?? at + 1);
  const isCount = words.some(
    ({ lower, class: kind }) =>
      kind === "number" || /^(?:few|lot|couple|bunch|number|ton|dozen|series|pair|of)$/.test(lower),
  );
  return !isCount && words.at(-1)?.tags.has("Plural") === true && words.at(-1)?.class === "noun";
}

function pointsBack(tokens: readonly Token[], at: number, to: number): boolean {
  const token = tokens[at];
  const next = at + 1 < to ? tokens[at + 1] : undefined;
  if (!token) return false;
  const { lower } = token;
  if (lower === "that") return !isRelative(tokens, at) && !(next && isTimeNoun(next.lower));
  if (/^(?:this|these|those)$/.test(lower)) return !next || !isTimeNoun(next.lower) || next.lower === "time";
  if (lower === "each") return next?.lower === "other";
  if (lower === "one" || lower === "ones") return isProForm(tokens, at, to);
  if (RELATIVE_TO.has(lower)) return lower !== "other" || next?.lower !== "day";
  return PRONOUN.has(lower) && !isOfPerson(tokens, at);
}

/** "the book THAT changed me": behind a noun it is a relative, and means the noun. */
function isRelative(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  return before !== undefined && ["noun", "name"].includes(before.class) && before.after.trim() === "";
}

/** "my son … him": a person named before in the same clause. */
function isOfPerson(tokens: readonly Token[], at: number): boolean {
  return /^(?:him|her|them)$/.test(tokens[at]?.lower ?? "") && hasOwnerBefore(tokens, at);
}

function hasOwnerBefore(tokens: readonly Token[], at: number): boolean {
  return tokens
    .slice(Math.max(0, at - 9), at)
    .some((token) => isPersonNoun(token.lower) || token.tags.has("FirstName") || token.tags.has("Person"));
}

/** "a blue one", "the ones": stands for a noun that was said; "one of my friends" and "one dog" do not. */
function isProForm(tokens: readonly Token[], at: number, to: number): boolean {
  const next = at + 1 < to ? tokens[at + 1] : undefined;
  if (!next || (tokens[at]?.after.trim() ?? "") !== "") return true;
  return !["noun", "adjective", "name"].includes(next.class) && next.lower !== "of";
}

/** "the" with what tells which: a name, what hangs on it, what comes first or most; or what everybody knows. */
function isKnownThing(tokens: readonly Token[], at: number, to: number): boolean {
  const end = readNounPhrase(tokens, at, to) ?? at + 1;
  const words = tokens.slice(at + 1, Math.max(end, at + 2));
  const last = words.at(-1);
  if (!last) return false;
  if (words.some((token) => isCapital(token) || /\d/.test(token.word))) return true;
  if (
    words.some(({ lower }) =>
      /(?:[a-z]{2}est|^first|^last|^next|^only|^most|^best|^worst|^second|^third)$/.test(lower),
    )
  )
    return true;
  // "the beach", and not "the crowded beach", which is one of many.
  const isPlain = !words.some(({ class: kind }) => kind === "adjective");
  if (isTimeNoun(last.lower) || (isPlain && COMMON.has(last.lower.replace(/s$/, "")))) return true;
  const behind = end < to ? tokens[end] : undefined;
  return (
    behind !== undefined &&
    last.after.trim() === "" &&
    HANGS_ON.test(behind.lower) &&
    !(behind.lower === "to" && tokens[end + 1]?.class === "verb")
  );
}
