import type { Message } from "../../../../domain/message.ts";
import { splitSentences } from "../../../../domain/text/split-text.ts";
import type { EraseProposal } from "../../../../ports/language/extractor.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import { findShapedValues, isDistinctValue } from "../../value-shapes.ts";
import type { RulesReading } from "../known-memory.ts";
import { eraseScope } from "./erase-scopes.ts";
import type { RequestObject } from "./request-objects.ts";
import { REGRET, toErasedObject } from "./stated-requests.ts";

/** Words for what the user has said, or has just said. */
export const OWN_TURN: RegExp =
  /^(?:(?:what|the (?:last |previous )?(?:thing|bit|part|stuff)s?|everything|all|that|it|anything)(?: that)? )?(?:i|we)(?:['’]ve| have)? (?:just |only )?(?:said|told you|wrote|typed|sent|mentioned|shared)(?: (?:it|that|so|anything|something))?(?: just now| now| before| earlier)?$|^(?:my|the) (?:very )?(?:last|previous|latest) (?:\p{L}+ )?(?:messages?|sentence|line|comment|remark|thing|turn)(?: i (?:said|wrote|sent|told you))?$|^what i (?:just )?(?:said|wrote|told you)(?: just now| before| earlier)?$|^(?:the thing i just (?:told you|said))$|^(?:that|that one|this one) (?:was|is) (?:just |only )?(?:between us|off the record|private|confidential|not for .*)$/iu;

/** A request whose object is a pronoun or a turn of the user. */
export interface PronounRequest {
  readonly message: Message;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly asked: EraseProposal;
  readonly object: RequestObject;
  readonly isKeeping: boolean;
  /** Where the verb of the request stands in the sentence. */
  readonly verb: number;
}

/** What "it", "that" and "my last message" mean: words of the same message, or the user's turn before. */
export function meantByPronoun(
  { message, start, end, text, asked, object, isKeeping, verb }: PronounRequest,
  reading: RulesReading | undefined,
): EraseProposal | undefined {
  const before = message.content.slice(0, start).trim();
  const behind = message.content.slice(end).trim();
  const isOwnTurn = OWN_TURN.test(object.text);
  const isOfTurnBefore = isOwnTurn || /\bthat was\b/i.test(text);
  if (isKeeping && !isOfTurnBefore && tellsAnything(text, object.told ?? "", verb, [before, behind]))
    return asked;
  if (!isKeeping && !isOwnTurn && before !== "") {
    const last = splitSentences(before).at(-1);
    const words = last ? before.slice(last.start, last.end) : before;
    const values = findShapedValues(words).filter(isDistinctValue);
    if (values.length > 0) return { ...asked, about: values.map((value) => value.text).join(", ") };
    return { ...asked, about: descriptionIn(words) };
  }
  // A mere "forget it" takes nothing back.
  if (!isKeeping && !isOwnTurn && NEVER_MIND.test(text) && !REGRET.test(text)) return undefined;
  const turn = reading?.earlier.findLast(
    (one) => one.role === "user" && one.name === message.name && one.content !== "",
  );
  return turn ? { ...asked, messages: [turn.id] } : undefined;
}

const NEVER_MIND = /^\W*(?:\w+ )?forget (?:it|that|this|about it)\b/i;

/** Whether anything is told beside words such as "don't keep this": in their sentence, or around it. */
function tellsAnything(text: string, told: string, verb: number, around: readonly string[]): boolean {
  const sentenceBefore = text
    .slice(0, verb)
    .replace(OFF_RECORD_WORDS, "")
    .replace(/\b(?:don['’]?t|do not|please|pls|actually|but|just|no need to|never)\b|[^\p{L}\s]/giu, " ");
  const said = told === text ? text.replace(OFF_RECORD_WORDS, "") : told;
  return [said, ...around, sentenceBefore].some((words) => (words.match(/\p{L}{2,}/gu) ?? []).length >= 2);
}

const OFF_RECORD_WORDS =
  /\b(?:this|that|it)(?:['’]s| is| was| stays?)?\s+(?=just|strictly|off|between|not|for)|\b(?:just|strictly|only)\b|\boff[- ](?:the[- ])?record\b|\bbetween (?:us|you and me|ourselves|the two of us)\b|\bfor your (?:ears|eyes) only\b|\b(?:not|never) for the \p{L}+|\bplease\b|\bkeep\b/giu;

/** "I should not have told you the bit about Aleks": what it is about. */
export function descriptionIn(sentence: string): string {
  const told =
    /\b(?:told|tell|said|say|mentioned|shared|gave|given?)(?: you| to you)?\s+(?<about>.+)$/i.exec(
      sentence,
    ) ?? /\b(?:hold|have|keep|know|store)\s+(?<about>.+)$/i.exec(sentence);
  const about = toErasedObject(
    (told?.groups?.about ?? subjectPhraseOf(sentence) ?? sentence).replace(/[.!?]+$/, ""),
  );
  const owner = /\p{Lu}[\p{L}.]+(?: \p{Lu}[\p{L}.]*)*(?=['’]s\b)|(?<=\s)\p{Lu}\p{Ll}+/u.exec(sentence)?.[0];
  return owner === undefined ? about : about.replace(/^(?:her|his|their|its)\b/i, `${owner}'s`);
}

/** "The Kessler discount is not meant for this channel": the discount. */
export function subjectPhraseOf(sentence: string): string | undefined {
  for (const { tokens } of parseEnglish(sentence)) {
    const subject = tokens.find(({ label, pos }) => /^nsubj/.test(label) && pos !== "PRON");
    if (!subject) continue;
    const isUnder = (i: number): boolean => {
      for (let at = i; at >= 0; at = tokens[at]?.head ?? -1) if (tokens[at] === subject) return true;
      return false;
    };
    const inside = tokens.filter((_one, i) => isUnder(i));
    return sentence.slice(inside[0]?.start, inside.at(-1)?.end);
  }
  return undefined;
}

/** "Brisk withdrew, remove their score", "the bridge changed, the old one can go": whose, and which one. */
export function withAntecedent(about: string, sentence: string, before: string): string {
  if (!/^(?:their|his|her|its)\b|\bones?\b/i.test(about)) return about;
  const at = sentence.toLowerCase().indexOf(about.toLowerCase());
  const said = `${before} ${at > 0 ? sentence.slice(0, at) : ""}`.trim();
  const subject =
    said === ""
      ? undefined
      : subjectPhraseOf(
          splitSentences(said)
            .map(({ start, end }) => said.slice(start, end))
            .at(-1) ?? said,
        );
  if (subject === undefined) return about;
  const name = /\p{Lu}[\p{L}\p{N}]+(?: \p{Lu}[\p{L}\p{N}.]*)*/u.exec(subject)?.[0] ?? subject;
  return /\bones?\b/i.test(about)
    ? about.replace(/\bones?\b/i, subject.replace(/^(?:the|my|our) /i, ""))
    : about.replace(/^\w+/, `${name}'s`);
}

const PERIOD =
  /^(?<before>.*?)\s*\b(?<time>(?:(?:on|from|during|in|since|before|after) )?(?:yesterday|today|last (?:night|week|month|year|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|this (?:morning|week|month)|(?:the )?(?:last|past) (?:two|three|few|couple of|\d+)? ?(?:hours?|days?|weeks?)|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b(?<behind>.*)$/i;

/** "what we talked about last week about the wedding": the description, and the period in which it was said. */
export function withinPeriod(text: string, at: string): { about: string; from?: string; to?: string } {
  if (!/\b(?:said|told|talked|discussed|mentioned|shared|wrote|spoke|gave)\b/i.test(text))
    return { about: text };
  const { before = "", time, behind = "" } = PERIOD.exec(text)?.groups ?? {};
  if (time === undefined) return { about: text };
  const span = eraseScope(`everything I said ${time}`, at);
  if (span?.from === undefined) return { about: text };
  const { from, to } = span;
  return {
    about: `${before} ${behind}`.replace(
      /^.*\b(?:about|said|told you|discussed|mentioned)\s+(?=about|on|regarding)/i,
      "",
    ),
    from,
    ...(to === undefined ? {} : { to }),
  };
}
