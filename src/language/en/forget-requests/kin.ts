import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";

/** What a noun, a verb and a person of one family differ in: employ-er, diagnos-is, resid-ence, clean-ing. */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    " e s es d ed er ers or ors ing ings ment ments ation ations ition ion ions ance ence ances ences ant ent al ial ist " +
    "ists is es y ly ies i ee ees ness ity able ible ive ic ical ian t an n c cy"
  ).split(" "),
);
const LEAST = 4;

/** Latin roots that change before an ending: prescribe, prescription. */
const ROOTS: readonly (readonly [RegExp, string])[] = [
  [/script(?:ion)?$/, "scrib"],
  [/cision$|cis$/, "cid"],
  [/ception$|cept$/, "ceiv"],
  [/duction$|duct$/, "duc"],
  [/mission$/, "mit"],
  [/version$/, "vert"],
  [/solution$/, "solv"],
];

function rooted(stemmed: string): string {
  const [pattern, root] = ROOTS.find(([ending]) => ending.test(stemmed)) ?? [];
  return pattern && root !== undefined ? stemmed.replace(pattern, root) : stemmed;
}

/** Whether two stems are of one word family: `diagnos` and `diagnosi`, `clean` and `cleaner`. */
export function isKin(first: string, second: string): boolean {
  if (first === second) return true;
  if (first.length < LEAST || second.length < LEAST || first[0] !== second[0]) return false;
  const one = rooted(first);
  const other = rooted(second);
  if (one === other) return true;
  if (one.length < LEAST || other.length < LEAST) return false;
  let same = 0;
  while (same < one.length && same < other.length && one[same] === other[same]) same += 1;
  if (same < LEAST || same < Math.min(one.length, other.length) - 2) return false;
  return ENDINGS.has(one.slice(same)) && ENDINGS.has(other.slice(same));
}

/** Whether one of the stems is of the family of a term. */
export function stemsMet(stems: Iterable<string>, term: string): boolean {
  for (const one of stems) if (isKin(one, term)) return true;
  return false;
}

/** The stems of a text, stop words and all. */
export function stemsOf(text: string): Set<string> {
  return new Set([...splitWords(text).map(stem), ...extractTerms(text)]);
}

const RELATIVES: readonly (readonly string[])[] = [
  "mum mom mother mam mama",
  "dad father papa pappa daddy pa",
  "granny gran grandma grandmother nan nana",
  "grandpa granddad grandad grandfather",
  "kid kids child children son daughter",
  "wife husband spouse partner",
].map((row) => splitWords(row).map(stem));

/** Whom a word for a relative may also be called by: "my mother" is "Mum". */
export function sameRelatives(name: string): readonly string[] {
  return RELATIVES.find((row) => row.includes(name)) ?? [name];
}
