import { splitWords, stem } from "../../../domain/search/search-terms.ts";
import { splitSentences } from "../../../domain/text/split-text.ts";
import { FUNCTION_WORDS } from "../detect-language.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import type { ParsedSentence } from "../parser/parser.ts";

const IDLE: ReadonlySet<string> = new Set([
  ...(FUNCTION_WORDS.en ?? "").split(/\s+/),
  ..."get gets got getting go goes going be is are was were been have has had do does did done i we you they he she it".split(
    " ",
  ),
]);
/** A plan, a condition or a wish does not tell that something has happened. */
const NOT_YET =
  /\b(?:if|unless|until|once|when|whether|will|won['’]t|going to|gonna|would|could|might|may|should|hope|hopefully|wish|want|plan|planning|soon|tomorrow|next|can['’]t wait|before)\b|['’]ll\b|\?\s*$/i;
const DENIED = /\b(?:not|never|no|nobody|nothing|without|hardly)\b|n['’]t\b/i;
/** Share of the event's words that a sentence must have. */
const COVERED = 0.75;

/**
 * Whether a text tells that an event has happened, in words of the event: "elm road said yes, accepted this morning" for
 * "elm road gets accepted". One sentence, or two in a row, must have its words, in a past or present form.
 */
export function tellsEvent(text: string, event: string): boolean {
  const wanted = telling(event);
  if (wanted.length === 0) return false;
  const sentences = splitSentences(text)
    .slice(0, 40)
    .map(({ start, end }) => text.slice(start, end))
    .filter((sentence) => !NOT_YET.test(sentence) && DENIED.test(sentence) === DENIED.test(event));
  return sentences.some((sentence, i) => {
    const words = `${sentence} ${sentences[i + 1] ?? ""}`;
    const said = new Set(telling(words));
    const covered = wanted.filter((word) => said.has(word)).length;
    return covered / wanted.length >= COVERED && parseEnglish(words).some(isTold);
  });
}

const ERASED =
  /\b(?:deleted|erased|removed|forgotten|purged|wiped|scrubbed|expunged|redacted|cleared|discarded|destroyed)\b/i;
/** What asks for it, or speaks of it as to be done. */
const NOT_DONE = /\b(?:after|request(?:ed|s)?|ask(?:ed|s)?|to be|pending|scheduled|due|later)\b/i;
const QUOTED = /(?<![\p{L}\p{N}])(?:'[^'\n]+'|‘[^’\n]+’|"[^"\n]+"|“[^”\n]+”)(?![\p{L}\p{N}])/gu;
/** Share of the words of what was to go that a sentence must have. */
const NAMED = 0.6;

/** Whether a text tells that something has been erased: "The lockbox number is deleted." for "the lockbox number". */
export function tellsErased(text: string, about: string): boolean {
  const wanted = telling(about);
  if (wanted.length === 0 || !ERASED.test(text)) return false;
  return splitSentences(text)
    .slice(0, 40)
    .map(({ start, end }) => text.slice(start, end))
    .some((sentence) => {
      const plain = sentence.replace(QUOTED, " ");
      if ([NOT_YET, DENIED, NOT_DONE].some((one) => one.test(plain)) || !ERASED.test(plain)) return false;
      const said = new Set(telling(sentence));
      return wanted.filter((word) => said.has(word)).length / wanted.length >= NAMED;
    });
}

/** The stems of the words that tell events apart. */
function telling(text: string): string[] {
  const words = splitWords(text.toLowerCase().replace(/['’]\p{L}{1,2}\b/gu, ""));
  return [...new Set(words.filter((word) => !IDLE.has(word)).map(stem))];
}

/** Whether a sentence has a past, perfect or present verb. */
function isTold({ tokens }: ParsedSentence): boolean {
  return tokens.some(({ tag }) => /^(?:VBD|VBN|VBZ|VBP)$/.test(tag));
}
