import { splitWords, stem } from "../../../domain/search/search-terms.ts";

/** Ways in which a text says what a thing is also called; what follows is the other name. */
const SAYS =
  /\b(?:also known as|known (?:\p{L}+ly )?as|a\.?k\.?a\.?|also called|code-?named?|nicknamed|goes by|abbreviated (?:as|to)|(?:refers?|referred|refer) to (?:it|him|her|them|this|that|the \p{L}+) as|(?:call|calls|called|label|labels|labelled|name|names|dub|dubbed|write|writes|spell|spells|spelled|spelt) (?:it|him|her|them|this) (?:as )?|(?:use|uses|used) the (?:spelling|name|form|term|alias)|(?:is|are|was) (?:also )?(?:spelled|spelt|written))\s+["“'‘]?/giu;
/** The name: capitals, another script than Latin, or a sign inside; not a plain word. */
const NAME =
  /^(?:(?:\p{Lu}[\p{L}\p{N}'’-]*|[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)+|\p{Lo}+|[A-Z0-9]{2,})(?:\s+(?=\p{Lu}|\p{Lo}))?){1,5}/u;
/** A sentence about what was spoken of before it. */
const OF_BEFORE =
  /\b(?:it|him|her|them|this|the (?:city|town|place|person|company|project|product|client|customer|system|team|spelling|name|form|term|alias))\b/i;

/** The other names that a text gives for what these stems name, or for what it speaks of where none of them stands there. */
export function aliasesIn(text: string, stems: readonly string[] = []): string[] {
  return Array.from(text.matchAll(SAYS), ({ 0: match, index }) => {
    if (!isOfNamed(text.slice(0, index), match, stems)) return "";
    const [name = ""] = NAME.exec(text.slice(index + match.length)) ?? [];
    return name.trim();
  }).filter((name) => splitWords(name).length > 0 || /\p{Lo}/u.test(name));
}

/**
 * Whether another name is of the thing that was named before it. "Alma, also known as Bela" names one thing; "Alma met
 * Boris, also known as Bo" and "Alma calls him Rex" name two.
 */
function isOfNamed(before: string, match: string, stems: readonly string[]): boolean {
  const [sentence = ""] = /[^.!?\n]*$/.exec(before) ?? [];
  const words = Array.from(sentence.matchAll(/[\p{L}\p{N}]+/gu));
  const last = words.findLast(([word]) => stems.includes(stem(word.toLowerCase())));
  if (!last) return true;
  const between = sentence.slice(last.index + last[0].length);
  if (OF_PRONOUN.test(match)) return !NAMES_ANOTHER.test(between);
  return OF_SUBJECT.test(match) ? !/\p{Lu}/u.test(between) : JOINS.test(between);
}

/** "calls him", "uses the name": what is named is not who names it. */
const OF_PRONOUN = /\b(?:it|him|her|them|this|that)\b|^use/i;
/** What stands between a name and the form where its bearer, or another one, gives the name. */
const NAMES_ANOTHER =
  /^(?:\s+(?:\p{Ll}+ly|also|always|often|just|still|then|now|has|had))*\s*$|\b(?:s?he|they|who)(?:\s+(?:\p{Ll}+ly|also|always|often|just|still|then|now|has|had))*\s*$/iu;
/** "goes by": the subject of the clause bears the name. */
const OF_SUBJECT = /^(?:goes|is|are|was)\b/i;
/** What may stand between a name and "also known as" where both are of one thing. */
const JOINS =
  /^['’]?s?[\s,;:("“'’—–-]*(?:(?:is|are|was|were|been|has|have|now|later|then|often|sometimes|also|better|formerly|previously|which|who|that)\s+)*$/iu;

/** Whether a text only adds another name to what the text before it spoke of. */
export function isAliasOfBefore(text: string): boolean {
  const [first] = text.matchAll(SAYS);
  return first !== undefined && OF_BEFORE.test(`${text.slice(0, first.index)} ${first[0]}`);
}

const CHANGED =
  /^(?<who>\p{Lu}[\p{L}'’-]*|the user)\s+(?:(?:later|then|soon|now|has|had|since|afterwards|briefly)\s+)*(?:switched|changed|moved|migrated|went|gone|returned|upgraded)(?:\s+(?:back|over))?\s+to\b/iu;

/** Whether a text tells what somebody changed to without saying of what: of what the text before it spoke of. */
export function isChangeOfBefore(text: string, before: string): boolean {
  const who = CHANGED.exec(text)?.groups?.who?.toLowerCase();
  return who !== undefined && before.toLowerCase().startsWith(`${who} `);
}
