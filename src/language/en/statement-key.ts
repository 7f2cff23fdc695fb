import type { Claim, Memory } from "../../domain/memory.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";

/** Contractions of "not" whose verb changes with it. */
const CONTRACTED: ReadonlyMap<string, string> = new Map([
  ["can't", "can not"],
  ["cannot", "can not"],
  ["won't", "will not"],
  ["shan't", "shall not"],
]);
/** Words that add nothing to a statement. "Still", "now" and "really" do: they tell of time and degree. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(["the", "also", "actually", "basically"]);
const NEGATIONS: ReadonlySet<string> = new Set(
  (
    "not no never none nobody nothing neither nor nowhere without hardly barely rarely seldom stopped quit " +
    "isn't wasn't anymore longer against dislikes dislike hates hate"
  ).split(" "),
);

/**
 * What makes two memories say the same thing of the same time, or nothing where a memory may not be compared: an event
 * or a commitment without a date may have happened twice. Two memories with the same key differ in no value, number,
 * name or negation: in wording at most by case of the first word, punctuation around words, contractions, and words that
 * add nothing; in whole sentences only where their claims are the same to the letter.
 */
export function toStatementKey(memory: Memory): string | undefined {
  const { kind, claim, when, validTo, expiresAt, agent, sensitive, metadata, origin } = memory;
  if (memory.quarantined || ((kind === "event" || kind === "commitment") && when === undefined)) {
    return undefined;
  }
  return toCanonicalJson({
    kind,
    when,
    validTo,
    expiresAt,
    agent,
    metadata,
    // What a document or a tool said has not the weight of the user's word, however alike they sound.
    origin,
    sensitive: sensitive === true,
    says: claim ? toClaimParts(claim) : normalizeWording(memory.text),
    telling: claim ? findDistinctiveTokens(memory.text) : [],
  });
}

function toClaimParts({ subject, relation, value, qualifier }: Claim): string[] {
  return [
    subject,
    relation,
    normalizeWording(value),
    qualifier === undefined ? "" : normalizeWording(qualifier),
  ];
}

/** A text in a form in which only wording is lost. */
export function normalizeWording(text: string): string {
  return tokenize(text)
    .filter((token) => !EMPTY_WORDS.has(token))
    .join(" ");
}

/** The tokens of a text that a statement turns on: numbers, names, negations. Sorted, with repeats. */
export function findDistinctiveTokens(text: string): string[] {
  return tokenize(text)
    .filter(
      (token) => NEGATIONS.has(token) || /[\p{Lu}\p{Lt}\p{N}]/u.test(token) || !/^[\p{L}'-]+$/u.test(token),
    )
    .sort();
}

function tokenize(text: string): string[] {
  const tokens = text
    .normalize("NFC")
    .replaceAll("’", "'")
    .split(/\s+/u)
    .map((token) => token.replace(/^["“”«»([]+/u, "").replace(/[)\]"“”«».,;:!]+$/u, ""))
    .filter((token) => token !== "");
  const [first = "", ...rest] = tokens;
  return [decapitalize(first), ...rest].flatMap(expandContraction);
}

/** A sentence begins with a capital whatever its first word is; a word with more than one keeps them. */
function decapitalize(word: string): string {
  return /^\p{Lu}[\p{Ll}']*$/u.test(word) ? word.toLowerCase() : word;
}

function expandContraction(token: string): string[] {
  const known = CONTRACTED.get(token);
  if (known) return known.split(" ");
  const negated = /^(\p{Ll}+)n't$/u.exec(token);
  if (negated?.[1]) return [negated[1], "not"];
  return [token === "an" ? "a" : token];
}
