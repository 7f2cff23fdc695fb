import { toDateSpan } from "../../../../domain/time.ts";
import type { ErasureDue } from "../../../../ports/language/extractor.ts";
import { formatDateInWords } from "../../format-date.ts";
import { datesIn } from "../time/dates.ts";
import { isDeferred } from "./erase-forms.ts";
import { hasFiniteVerb } from "./request-objects.ts";
import { scoreRequest } from "./request-sentences.ts";

/** A request for a later time, without the words that say when. */
export interface DelayedRequest {
  /** The request as it would be said at that time: "delete the lockbox number". */
  readonly request: string;
  readonly due: ErasureDue;
}

/** Nobody asks for anything in a longer sentence, in characters. */
const MOST_READ = 1000;

/** Words that open a condition or a time. */
const MARK =
  /\b(?:once|when(?:ever)?|as soon as|after|if|in case|until|till|til|by|on|in|at|from|(?=tomorrow|tonight|next|later))/i;
const EVENT_MARK = "once|when(?:ever)?|as soon as|after|if|in case|the (?:moment|minute|day)(?: that)?";
const COURTESY =
  "(?:(?:ok(?:ay)?|and|but|so|also|oh|hey|btw|please|pls|then|just|now|kindly|you (?:can|may|could|should)|can you|could you|feel free to|go ahead and|i (?:want|need) you to|i['’]?d like you to)[,:]?\\s+)*";
const FRONT = new RegExp(`^${COURTESY}(?<mark>${EVENT_MARK})\\s+`, "i");
const BACK = new RegExp(
  `[,;]?\\s+(?:only |but only )?(?<mark>${EVENT_MARK}|until|till|til)\\s+(?<event>\\S.*)$`,
  "i",
);
/** "Keep the visitor one until May, then erase it". */
const KEEP_THEN =
  /^(?:.*?\b)?(?:keep|hold on to|save|store|remember|leave|use|have|note)\s+(?<object>.+?)\s+(?<mark>until|till|til|for)\s+(?<event>.+?)[,;.]?\s+(?:(?:and|but)\s+)?(?:then|after(?:wards| that)?)[,]?\s+(?:please\s+)?(?<verb>forget|erase|delete|remove|wipe|drop|bin|scrub|purge|get rid of|lose)\b/i;
/** "Only keep the code until Friday". */
const KEEP_ONLY =
  /^(?:.*?\b)?(?:(?:only|just)\s+(?:keep|save|store|remember|hold on to|need)\s+(?<object>.+?)|(?:keep|save|store|remember|hold on to)\s+(?<kept>.+?)\s+(?:only|just))\s+(?<mark>until|till|til|for)\s+(?<event>\S.*)$/i;
const DURATION =
  /\b(?:in|after|for)\s+(?:about\s+)?(?<count>an?|one|two|three|four|five|six|ten|twelve|\d{1,3}|half an)\s+(?<unit>minutes?|mins?|hours?|hrs?)\b/i;
const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  ten: 10,
  twelve: 12,
  "half an": 0.5,
};
/** Another condition behind a comma has a request of its own. */
const NEXT_CONDITION = new RegExp(`[,;]\\s+(?:(?:and|but|or)\\s+)?(?=(?:${EVENT_MARK})\\s)`, "i");
const DESCRIBED = /\b(?:about|regarding|saying|that (?:says?|said)|to (?:call|ask))\b/i;
const DENIED = /\b(?:not|never|no longer|unless|without)\b|n['’]t\b/i;
/** What the memory itself does first, by the same order: "delete it after updating my contact plan". */
const OWN_DOING =
  /^(?:updat|sav|stor|record|not|logg|chang|replac|correct|process|read|answer|reply|confirm|summari[sz]|export|send|shar|us|tak|writ|set|mak|add)ing\b/i;
const TAIL = /[\s,;]*(?:ok(?:ay)?|please|pls|thanks|thank you|thx|right|lol|though)*[\s.!?]*$/i;
/** A time beside the object belongs to it: "the message of Friday". */
const TIME_WORDS =
  /[,;]?\s*\b(?:on|by|after|before|from|until|till|til|in|at|around)?\s*(?:the\s+)?(?:end of\s+)?$/i;

/**
 * The requests of a sentence that are to be carried out later, each with when. Empty if the sentence names no later
 * time or event. `at` is when it was said.
 */
export function delayedRequests(sentence: string, at: string): DelayedRequest[] {
  if (sentence.length > MOST_READ || !MARK.test(sentence)) return [];
  const pieces = sentence.split(NEXT_CONDITION);
  const found = pieces.map((piece) => delayedRequest(piece, at));
  if (found.every((one) => one !== undefined)) return found;
  const whole = delayedRequest(sentence, at);
  return whole ? [whole] : [];
}

function delayedRequest(text: string, at: string): DelayedRequest | undefined {
  const kept = keptUntil(text, at);
  if (kept) return kept;
  // Without a time clause it does not matter which verb asks.
  if (!FRONT.test(text) && !BACK.test(text)) return timeBeside(text, at);
  const verb = scoreRequest(text).toSorted((one, other) => other.probability - one.probability)[0];
  if (!verb) return undefined;
  return eventBefore(text, verb.start, at) ?? eventBehind(text, verb.end, at) ?? timeBeside(text, at);
}

/** "Keep it until Friday, then erase it". */
function keptUntil(text: string, at: string): DelayedRequest | undefined {
  const groups = KEEP_THEN.exec(text)?.groups ?? KEEP_ONLY.exec(text)?.groups;
  const object = groups?.object ?? groups?.kept;
  if (!groups || object === undefined) return undefined;
  return toDelayed(`${groups.verb ?? "forget"} ${object}`, groups.mark ?? "", groups.event ?? "", at);
}

/** "Once we have checked out, delete the code". */
function eventBefore(text: string, verbStart: number, at: string): DelayedRequest | undefined {
  const front = FRONT.exec(text);
  if (!front || front[0].length >= verbStart) return undefined;
  const event = text
    .slice(front[0].length, verbStart)
    .replace(new RegExp(`[\\s,;:–—-]+${COURTESY}$`, "i"), "")
    .replace(/[\s,;:–—-]+$/, "");
  // "If they see this I lose my licence": the verb tells what somebody does.
  if (SUBJECT_END.test(text.slice(front[0].length, verbStart).trimEnd())) return undefined;
  return toDelayed(text.slice(verbStart), front.groups?.mark ?? "", event, at);
}

const SUBJECT_END = /\b(?:i|we|he|she|they)$/i;

/** "Delete the code once we have checked out". */
function eventBehind(text: string, verbEnd: number, at: string): DelayedRequest | undefined {
  const behind = BACK.exec(text.slice(verbEnd));
  if (!behind?.groups) return undefined;
  const { mark = "", event = "" } = behind.groups;
  // "Delete the figure, everybody is confused when it turns up": the time of the reason.
  const between = text.slice(verbEnd, verbEnd + behind.index).split(/[,;]\s+/);
  if (between.length > 1 && hasFiniteVerb(between.at(-1) ?? "")) return undefined;
  // "The note about calling after nine": the time belongs to what is meant.
  if (DESCRIBED.test(text.slice(verbEnd, verbEnd + behind.index)) && !/^(?:once|as soon as)$/i.test(mark))
    return undefined;
  return toDelayed(text.slice(0, verbEnd + behind.index), mark, event, at);
}

/** "Forget the password in two hours", "tomorrow you can delete it". */
function timeBeside(text: string, at: string): DelayedRequest | undefined {
  const duration = DURATION.exec(text);
  const date = duration ? undefined : datesIn(text, at, true).at(-1);
  const isFirst = date !== undefined && text.slice(0, date.start).trim() === "";
  if (!duration && (!date || !(isFirst || isDeferred(text)))) return undefined;
  const start = duration ? duration.index : (date?.start ?? 0);
  const end = duration ? duration.index + duration[0].length : (date?.end ?? 0);
  const before = text.slice(0, start).replace(duration ? /[,;]?\s*$/ : TIME_WORDS, "");
  const behind = text.slice(end);
  // What stands between the object and more words belongs to the object.
  if (before.trim() !== "" && behind.replace(TAIL, "") !== "") return undefined;
  if (isInReason(before, text.slice(before.length))) return undefined;
  // "What I told you on 3 May": when it was said.
  if (/\b(?:told|said|mentioned|wrote|shared|gave)\b/i.test(before)) return undefined;
  const mark = text.slice(before.length, start).trim();
  const words = text.slice(start, end);
  return toDelayed(`${before} ${behind}`, mark, words, at);
}

/** "Forget the code, the desk will be open next year": the time of the reason. */
function isInReason(before: string, rest: string): boolean {
  // "Delete the number, the one I use for work, in two hours"
  if (/^\s*[,;]/.test(rest)) return false;
  const verb = scoreRequest(before).toSorted((one, other) => other.probability - one.probability)[0];
  const pieces = verb ? before.slice(verb.end).split(/[,;]\s+/) : [];
  return pieces.length > 1 && hasFiniteVerb(pieces.at(-1) ?? "");
}

function toDelayed(request: string, mark: string, event: string, at: string): DelayedRequest | undefined {
  const plain = request
    .replace(/^[\s,;:–—-]+|\s+$/g, "")
    .replace(new RegExp(`^${COURTESY}`, "i"), "")
    .replace(TAIL, "");
  const said = event.trim().replace(TAIL, "");
  // "If I have not said otherwise": what is not told is never heard of.
  if (plain === "" || said === "" || DENIED.test(said) || OWN_DOING.test(said)) return undefined;
  const time = dueTime(said, mark, at);
  if (time !== undefined) return time > at ? { request: plain, due: { at: time } } : undefined;
  // "Keep it for the trip" names no end.
  if (/^(?:for|by|on|in|at|from)$/i.test(mark)) return undefined;
  return { request: plain, due: { event: said } };
}

/** When a day that is named is over, or begins where the words name the day itself. */
function dueTime(words: string, mark: string, at: string): string | undefined {
  const duration = DURATION.exec(`in ${words}`) ?? DURATION.exec(words);
  if (duration?.groups) {
    const { count = "", unit = "" } = duration.groups;
    const minutes = (NUMBERS[count.toLowerCase()] ?? Number(count)) * (/^h/i.test(unit) ? 60 : 1);
    return new Date(Date.parse(at) + minutes * 60_000).toISOString();
  }
  const date = datesIn(words, at, true).at(-1);
  if (!date) return undefined;
  if (date.iso.length > 10) return new Date(date.iso).toISOString();
  const { from, to } = toDateSpan(date.iso);
  return /^(?:by|before|on|)$/i.test(mark.trim()) && from > at ? from : to;
}

/** What a pending request is stored as: "Erase “the lockbox number” after 14 June 2026." */
export function toErasureCommitment(about: string, { at, event }: ErasureDue): string {
  const when =
    at === undefined
      ? `when “${event}” has happened`
      : `from ${formatDateInWords(at.slice(0, 10), { weekday: false })} on`;
  return `The user asked to erase “${about}” ${when}.`;
}
