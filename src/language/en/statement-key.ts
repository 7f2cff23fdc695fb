import type { Claim, Memory } from "../../domain/memory.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";

/** Contractions of "not" whose verb changes with it. */
const CONTRACTED: ReadonlyMap<string, string> = new Map([
  ["can't", "can not"],
  ["cannot", "can not"],
  ["won't", "will not"],
  ["shan't", "shall not"],
]);
/**
 * Words that add nothing to a statement. "Still", "now" and "really" are not among them: they express time
 * and degree.
 */
const EMPTY_WORDS: ReadonlySet<string> = new Set(["the", "also", "actually", "basically"]);
const NEGATIONS: ReadonlySet<string> = new Set(
  (
    "not no never none nobody nothing neither nor nowhere without hardly barely rarely seldom stopped quit " +
    "isn't wasn't anymore longer against dislikes dislike hates hate"
  ).split(" "),
);

/**
 * A key that equal memories share: the same statement about the same time. Undefined if a memory may not be
 * compared: an event or a commitment without a date may have happened twice.
 *
 * Two memories with the same key differ in no value, number, name or negation. They may differ in the case of
 * the first word, punctuation around words, contractions and empty words. Whole sentences may differ more
 * only if their claims are identical.
 */
export function toStatementKey(memory: Memory): string | undefined {
  const fields = toComparedFields(memory);
  if (!fields) return undefined;
  const { claim } = memory;
  return toCanonicalJson({
    ...fields,
    says: claim ? toClaimParts(claim) : normalizeWording(memory.text),
    telling: claim ? findDistinctiveTokens(memory.text) : [],
  });
}

/**
 * The fields in which memories must be equal to say the same, whatever their words. Undefined if a memory may not be compared.
 */
export function toComparedFields(memory: Memory): { readonly [field: string]: unknown } | undefined {
  const { kind, when, validTo, expiresAt, agent, sensitive, metadata, origin } = memory;
  if (memory.quarantined || ((kind === "event" || kind === "commitment") && when === undefined)) {
    return undefined;
  }
  // A document's or a tool's statement carries less weight than the user's, however similar.
  return { kind, when, validTo, expiresAt, agent, metadata, origin, sensitive: sensitive === true };
}

function toClaimParts({ subject, relation, value, qualifier }: Claim): string[] {
  return [
    subject,
    relation,
    normalizeWording(value),
    qualifier === undefined ? "" : normalizeWording(qualifier),
  ];
}

/** Normalizes a text so that only its wording is lost. */
function normalizeWording(text: string): string {
  return tokenizeStatement(text)
    .filter((token) => !EMPTY_WORDS.has(token))
    .join(" ");
}

/** The tokens of a text that a statement depends on: numbers, names, negations. Sorted, with repeats. */
function findDistinctiveTokens(text: string): string[] {
  return tokenizeStatement(text)
    .filter(
      (token) => NEGATIONS.has(token) || /[\p{Lu}\p{Lt}\p{N}]/u.test(token) || !/^[\p{L}'-]+$/u.test(token),
    )
    .sort();
}

/** The words of a statement: without punctuation around them, with contractions written out. */
export function tokenizeStatement(text: string): string[] {
  const tokens = text
    .normalize("NFC")
    .replaceAll("’", "'")
    .split(/\s+/u)
    .map((token) => token.replace(/^["“”«»([]+/u, "").replace(/[)\]"“”«».,;:!]+$/u, ""))
    .filter((token) => token !== "");
  const [first = "", ...rest] = tokens;
  return [decapitalize(first), ...rest].flatMap(expandContraction);
}

/** A sentence begins with a capital, whatever its first word. A word with several capitals keeps them. */
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
