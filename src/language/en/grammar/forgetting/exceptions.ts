import { extractTerms, stem } from "../../../../domain/search/search-terms.ts";
import type { TextSpan } from "../../../../domain/text/split-text.ts";
import { findShapedValues, findSlot } from "../../value-shapes.ts";
import { hasVerb } from "./erase-forms.ts";
import { readRequestObject } from "./request-objects.ts";
import { type ScoredCandidate, scoreRequest } from "./request-sentences.ts";

/** What a sentence excepts from its request. */
export interface RequestException extends TextSpan {
  /** What stays, in the user's words: "the physio's number". */
  readonly kept: string;
}

/** Longer sentences are cut here: nobody excepts something after so many characters. */
const MAX_LENGTH = 1000;
/** Places at which an exception may begin. More are not read. */
const MAX_BREAKS = 12;
/** Sentences without these words except nothing. */
const MAY_EXCEPT =
  /\b(?:but|not|never|don['’]?t|except\w*|exclud\w*|exception|apart|aside|other than|besides|save|bar|barring|minus|keep\w*|kept|leave|stays?|remains?|retain|hold|hang|needs?|wants?|store|remember|record)\b/i;
const BREAK =
  /(?:[,;:.]|\s[–—-])\s+(?:(?:but|and|only|just|though|yet)\b[, ]*)*|\s+(?:but|and|only|just)\b[, ]+(?:(?:only|just)\b[, ]+)?|\s+(?=(?:except\w*|excluding|apart from|aside from|other than|with the exception|save for|besides|barring|minus)\b)|(?<!\b(?:am|is|are|was|were|be|been|do|does|did|have|has|had|can|could|will|would|shall|should|may|might|must|or|if|whether|why|that|i|you|we|they|he|she|it)|['’](?:m|re|s|ve|d|ll))\s+(?=not (?:the|my|our|his|her|their|its)\b)/gi;
const PREPOSITION =
  /^(?:except(?:ing|ed)?(?: for)?|excluding|apart from|aside from|other than|with the exception of|save for|besides|barring|minus|bar(?= (?:my|the|our|his|her|their|[\p{L}-]+['’]s)\b)|not(?! (?:that|to)\b))\s+(?<kept>\S.*)$/iu;
/** "Everything but the number" */
const ALL_BUT = /\bbut[, ]+$/i;
const DETERMINED =
  /^(?:the|my|our|his|her|their|its|this|that|these|those|any|all|both|what(?:ever)?|where|who|when|which|how|\p{Lu}[\p{L}-]*)(?![\p{L}\p{N}])/u;
/** Where an exception ends: another request follows. */
const NEXT_REQUEST =
  /(?:[,;.]|\s+(?:and|but|so))\s+(?:(?:and|also|please|then)\s+)*(?:forget|delete|erase|remove|wipe|scrub)\b/i;

/** The exception in a sentence that asks to forget; undefined for none. */
export function findException(sentence: string): RequestException | undefined {
  const text = sentence.slice(0, MAX_LENGTH);
  if (!MAY_EXCEPT.test(text)) return undefined;
  const request = scoreRequest(text).find(asksToErase);
  if (!request) return undefined;
  return exceptionBehind(text, request) ?? exceptionBefore(text, request);
}

function exceptionBehind(text: string, { end: from }: ScoredCandidate): RequestException | undefined {
  const behind = text.slice(from);
  for (const { 0: mark, index } of [...behind.matchAll(BREAK)].slice(0, MAX_BREAKS)) {
    if (index < 2) continue;
    const start = from + index + mark.length;
    const length = NEXT_REQUEST.exec(text.slice(start))?.index;
    const end = length === undefined ? text.length : start + length;
    const kept = keptBehind(text.slice(start, end), mark);
    if (kept !== undefined) return { start: from + index, end, kept };
  }
  return undefined;
}

/** "Keep the number but forget the rest of it", not "keep the number until May, then erase it". */
function exceptionBefore(text: string, request: ScoredCandidate): RequestException | undefined {
  const { start } = request;
  if (readRequestObject(text.slice(start), { ...request, start: 0, end: request.end - start }).isPronoun)
    return undefined;
  const joint = [...text.slice(0, start).matchAll(BREAK)].at(-1);
  if (!joint) return undefined;
  const kept = keptPhrase(text.slice(0, joint.index));
  return kept === undefined ? undefined : { start: 0, end: joint.index + joint[0].length, kept };
}

function keptBehind(text: string, mark: string): string | undefined {
  const excepted = PREPOSITION.exec(text)?.groups?.kept;
  if (excepted !== undefined) return cleanKept(excepted);
  if (ALL_BUT.test(mark) && DETERMINED.test(text) && !hasVerb(text)) return cleanKept(text);
  return keptPhrase(text, (phrase) => isThing(phrase) || !NO_THING.test(phrase));
}

/** "Keep calm", "keep it private", "keep going" */
const NO_THING =
  /^(?:to|i|it|that|this|them|those|me|us|you|calm|quiet|in mind|an eye|track|\p{L}+ing)(?![\p{L}\p{N}])/iu;

/** What a clause asks to keep: "keep the number", "don't delete the number", "the number can stay". */
export function keptPhrase(
  clause: string,
  mayBeKept: (phrase: string) => boolean = isThing,
): string | undefined {
  const text = clause.slice(0, MAX_LENGTH).trim();
  const kept =
    STAYS.exec(text)?.groups?.kept?.replace(COPULA, "") ??
    LEFT.exec(text)?.groups?.kept ??
    keptByRequest(text);
  const phrase = kept === undefined ? "" : cleanKept(kept);
  return phrase !== "" && mayBeKept(phrase) ? phrase : undefined;
}

const STAYS =
  /^(?<kept>[^,;:]{2,60}?) (?:(?:can|may|should|must|shall|will|has to|have to|still) ){0,2}(?:stays?|remains?)\b/i;
const LEFT =
  /^(?:(?:please|just|do|only) ){0,2}(?:leave|(?:i|we) (?:(?:still|only|just) ){1,2}(?:need|want)) (?<kept>.{2,200})$/i;
const PLACE_BEHIND =
  /[,\s]+(?:in|alone|as (?:it )?is|there|untouched|on file|please|though|where it is|for now|in (?:there|your (?:memory|notes)))\s*[.!]*$/i;

const MAY_KEEP =
  /\b(?:keep|kept|hold|hang|retain|save|store|remember|record|note|don['’]?t|dont|not|never|no need)\b/i;

/** The object of a verb of keeping, or of a verb of erasing that is negated. */
function keptByRequest(text: string): string | undefined {
  if (!MAY_KEEP.test(text)) return undefined;
  const candidate = scoreRequest(text).find(asksToKeep);
  if (!candidate) return undefined;
  const before = text.slice(0, candidate.start).trim();
  // The verb of another clause: "phone, only keep the email".
  if (/[,;:]/.test(before)) return undefined;
  const object = readRequestObject(text, candidate);
  if (isOrder(candidate) && !object.isPronoun)
    return isStatement(text, candidate, object.text) ? undefined : object.text;
  // "The boss's one keep it", "the lead times are ok to keep"
  const subject = before.replace(COPULA, "");
  return object.isPronoun && subject !== "" && !hasVerb(subject) ? subject : undefined;
}

/** Whether a sentence tells what stays, in words that may name no thing: "the other two stay with us". */
export function isKeeping(sentence: string): boolean {
  return KEEPING.test(sentence) && !/\b(?:don['’]?t|not|never)\b/i.test(sentence);
}

const KEEPING = /\b(?:keep|stays?|can stay|leave|remains?|only (?:want|need)|still need)\b/i;

function asksToErase({ group, isNegated, features }: ScoredCandidate): boolean {
  return (
    group !== "none" && (isErasing(group) ? !isNegated : isNegated) && !features.includes("tells keep told")
  );
}

function asksToKeep({ group, isNegated, features }: ScoredCandidate): boolean {
  if (isErasing(group)) return isNegated && features.some((name) => name.startsWith("wants not"));
  return group === "keep" && !isNegated && features.includes("tells base");
}

/** "Remember my sister lives in Bonn": news, and no exception. */
function isStatement(text: string, { start, end }: ScoredCandidate, object: string): boolean {
  const isNews = /^(?:remember|note|record|write|log|store|save|know)/i.test(text.slice(start, end));
  return isNews && !WH_CLAUSE.test(object) && hasVerb(object);
}

const WH_CLAUSE = /^(?:what|where|who|when|which|how)/i;

function isOrder({ features }: ScoredCandidate): boolean {
  return features.some((name) => name.startsWith("wants "));
}

const COPULA = /\s+(?:is|are|was|were)\b[^,;:]*$/i;

function isErasing(group: ScoredCandidate["group"]): boolean {
  return group === "forget" || group === "erase" || group === "discard";
}

function cleanKept(text: string): string {
  let phrase = text.trim().replace(/[.!?,;:]+$/, "");
  for (let before = ""; before !== phrase; ) {
    before = phrase;
    phrase = phrase.replace(PLACE_BEHIND, "").trim();
  }
  return phrase.split(/[.!?;]\s+|,\s+(?=(?:i|it|that|this|they|we|he|she|because|since)\b)/i)[0] ?? phrase;
}

/** Whether words name something that can be stored: not "keep calm", "keep going". */
function isThing(phrase: string): boolean {
  if (DETERMINED.test(phrase) || findShapedValues(phrase).length > 0) return true;
  return extractTerms(phrase).some((term) => findSlot(stem(term)) !== undefined);
}

/** A text with spaces in place of exceptions, so that all offsets stay. */
export function blankSpans(text: string, spans: readonly TextSpan[]): string {
  return spans.reduce(
    (left, { start, end }) => left.slice(0, start) + " ".repeat(end - start) + left.slice(end),
    text,
  );
}
