import type { Message } from "../../../../domain/message.ts";
import { splitSentences } from "../../../../domain/text/split-text.ts";
import type { EraseProposal } from "../../../../ports/language/extractor.ts";
import { findShapedValues, isDistinctValue } from "../../value-shapes.ts";
import { tidy } from "../context.ts";
import type { RulesReading } from "../known-memory.ts";
import { antecedentOf } from "./antecedents.ts";
import { eraseForm, isDeferred, isElsewhere, isInformation, withoutPlace } from "./erase-forms.ts";
import { type EraseScope, eraseScope } from "./erase-scopes.ts";
import { knownThing } from "./known-things.ts";

const POLITE =
  "(?:(?:please|pls|ok(?:ay)?|hey|hi|so|and|also|oh|omg|ugh|argh|gosh|god|damn|oops|whoops|eek|yikes|actually|now|well|btw|sorry|hm+|look|listen|right|on second thoughts?|come to think of it|you know what|can you|could you|would you|will you|can we|i want you to|i(?:['’]d| would) like you to|i need you to|you should|you can|just|kindly|go ahead and|i(?:['’]d| would) (?:rather|prefer)(?: if)? you|do me a favou?r and|you may)[,.:!]*\\s+)*";
const VERB =
  "(?:forget|erase|delete|remove|wipe|scrub|scrap|purge|drop|clear|unlearn|strike|get rid of|throw away)";
const FORGET = new RegExp(`^${POLITE}${VERB}(?<rest>\\b[\\s\\S]*)$`, "i");
const KNOWN =
  /^(?:about )?(?:everything |anything |all |whatever |any(?:thing)? |the (?:thing|things|bit|part|stuff|fact)s? )?(?:that )?(?:(?:what(?:ever)?|everything|anything|all) )?(?:that )?(?:you(?:['’]ve)? (?:know|remember|have(?: stored| saved| on file| learned| learnt| noted| recorded)?|stored|saved|learned|learnt|noted|recorded|got|hold|keep)|there is|i(?:['’]ve| have)?(?: ever)? (?:told|said|mentioned|shared|wrote|written|gave|given)(?: to)?(?: you)?(?: ever)?|i ever (?:told|mentioned|said)(?: you)?)(?: anything| something)?(?: about| regarding| on| of)? /i;
export const EVERYTHING: RegExp =
  /^\s*(?:about )?(?:absolutely |literally |simply )?(?:everything|it all|all of (?:it|that|this|my (?:data|memories|information))|all (?:about me|my (?:data|memories|information|info)|(?:that )?you (?:know|have|remember)(?: (?:about|of|on) me)?)|all memories|my (?:entire |whole )?(?:memory|history|data)|me(?: completely| entirely)?|what(?:ever)? you (?:know|have|remember)(?: (?:about|of|on) me)?)(?: (?:that )?(?:you (?:know|have|remember|stored|saved|learned|learnt)|i(?:['’]ve| have)?(?: ever)? (?:told|said|shared))(?: (?:(?:about|to|on) )?(?:me|you))?(?: so far| ever)?| about me| so far)*\s*[.!]*$/i;
const OFF_RECORD =
  /^(?:(?:please|hey|ok|so|btw|oh|and)[, ]+)*(?:off the record|(?:this|that) (?:stays|is|must stay|should stay|remains) (?:strictly )?off the record|(?:strictly |just |only )*(?:not |never )for the (?:record|files?|minutes|notes)|(?:(?:this|that|it)(?: is|['’]s)n['’]?t|(?:this|that|it) is not|(?:this|that|it)['’]s not) for the (?:record|files?|minutes|notes)|(?:strictly |just |keep (?:this|that|it) )*between (?:us|ourselves|you and me|the two of us)(?=\s*(?:[,:;–—-]|$)|\s+(?:only|please|and (?:not|don)))|(?:this is )?for your (?:ears|eyes) only|don['’]?t (?:remember|store|save|record|memori[sz]e|keep|note|hold on to) (?:this|that(?! (?:i|i['’]m|im|i['’]ve|we|he|she|they|you|my|our|his|her|the|there|it)\b)|what i|(?:any|all|one word) of (?:this|that))|do not (?:remember|store|save|record|keep) (?:this|that(?! (?:i|i['’]m|im|i['’]ve|we|he|she|they|you|my|our|his|her|the|there|it)\b))|not for the record|this is not to be (?:stored|remembered|saved)|don['’]?t write this down|you don['’]?t need to remember this|no need to (?:remember|save|store|keep) this)\b/i;
/** "just so you know but please don't keep it, I've been …": the order stands before what is told. */
const OFF_RECORD_WITHIN =
  /\b(?:but|and|so|only),? (?:(?:please |pls )(?:don['’]?t|do not) keep|(?:please |pls )?(?:don['’]?t|do not) (?:remember|store|save|record|memori[sz]e|note|write)) (?:this|that|it)(?: down| anywhere)?\s*[,:;–—-]\s*\S/i;
const OFF_RECORD_END =
  /\b(?:that['’]?s |this is |but |all )?(?:off the record|(?:please )?(?:don['’]?t|do not) (?:remember|store|save|record|keep|memori[sz]e|note|write) (?:this|that|it)(?: anywhere| down)?)[.!]*$/i;
const NO_REQUEST =
  /^(?:\s*(?:it|about it|that|this)\s*(?:[.!,]|$)|\s*(?:where|how|when|why|who|which|whether|if|to|me not)\b|\s+(?:the|my|your) (?:past|rest|whole thing|noise|keys?|umbrella|wallet|passport|bag|lunch|charger)\b\s*(?:[.!]|$))/i;
const KEEPS =
  /\b(?:don['’]?t|do not|never|won['’]?t|can['’]?t|cannot|didn['’]?t|not) (?:you )?(?:dare )?(?:to )?(?:forget|delete|erase|remove)\b/i;

/**
 * Requests to forget in the forms that leave no doubt, at the beginning of a sentence; and words that are not meant to
 * be kept at all.
 */
export function statedRequests(
  message: Message,
  spans: readonly { start: number; end: number }[],
  reading?: RulesReading,
): EraseProposal[] {
  const found: EraseProposal[] = [];
  for (const { start, end } of spans) {
    const text = message.content.slice(start, end);
    const request = requestOrKnown(text, message.at, reading);
    if (!request) continue;
    const before = reading && isOfTurnBefore(request, message, { start, end }) ? lastTurn(reading) : [];
    if (before.length > 0) {
      found.push(
        ...before.map((about) => ({ propose: "erase" as const, message: message.id, start, end, about })),
      );
      continue;
    }
    const about = isOfItself(request)
      ? valueBefore(text, message.content.slice(0, start))
      : request.about && antecedentOf(request.about, message.content.slice(0, start));
    found.push({
      propose: "erase",
      message: message.id,
      start,
      end,
      ...request,
      ...(about === undefined ? {} : { about }),
    });
  }
  // "Remove it now. Delete the old number.": the second says what the first means.
  const isNamed = found.some((one) => !isOfItself(one));
  return found.filter((one) => !isNamed || !isOfItself(one) || isOffRecordAt(message, one));
}

/** A request by its form, or of a thing of which something is known: "delete the bike lock number". */
function requestOrKnown(text: string, at: string, reading: RulesReading | undefined): Request | undefined {
  if (isCorrection(text)) return undefined;
  const request = requestIn(text, at);
  if (request) return request;
  const about = reading && knownThing(text, reading.known);
  return about === undefined ? undefined : { about };
}

function isOffRecordAt({ content }: Message, { start, end }: { start: number; end: number }): boolean {
  return isOffRecord(content.slice(start, end).replace(/’/g, "'"));
}

/** "strike that, he's called Egon": what is said then takes the place of what was said. "Scratch that" alone takes it back. */
export function isCorrection(text: string): boolean {
  return /^(?:(?:oh|no|wait|sorry|ok|hm+|ah|actually)[,.! ]+)*(?:(?:strike|scrap|scratch) that[,;:–—-]+\s*\S|(?:strike|scratch) that\W*$)/i.test(
    text.trim(),
  );
}

/** "forget what I just said", in a turn of its own: the words of the turn before are meant. */
function isOfTurnBefore(
  request: Request,
  message: Message,
  { start, end }: { start: number; end: number },
): boolean {
  if (!isOfItself(request)) return false;
  const text = message.content.slice(start, end);
  const isAlone = message.content.slice(0, start).trim() === "" && message.content.length - end < 60;
  return isAlone && !isOffRecord(text.replace(/’/g, "'"));
}

/** Whether a request means nothing but the words that it stands beside. */
export function isOfItself({
  about,
  everything,
  session,
  topic,
  from,
  to,
  messages,
}: Omit<Partial<EraseProposal>, "propose">): boolean {
  return !everything && !session && [about, topic, from, to, messages].every((one) => one === undefined);
}

/** "Don't keep that": the words themselves are meant, not "that old number any longer". */
function isOffRecord(text: string): boolean {
  if (KEPT_THING.test(text)) return false;
  return OFF_RECORD.test(text) || OFF_RECORD_WITHIN.test(text) || OFF_RECORD_END.test(text);
}

const KEPT_THING =
  /\b(?:keep|store|save|record|note|remember) (?:this|that) (?:[\p{L}-]+ ){1,4}(?:any ?(?:longer|more)|anywhere|in (?:my|your|the)|on (?:file|record))\b/iu;

/** What the user's turn before told, each in words of its own. */
function lastTurn({ messages, earlier, known }: RulesReading): string[] {
  const turn = earlier.findLast((one) => one.role === "user" && one.name === messages[0]?.name);
  if (!turn) return [];
  const told = known.flatMap(({ sources, claim, text }) =>
    sources.some(({ message }) => message === turn.id)
      ? [claim && claim.value !== "" ? claim.value : text]
      : [],
  );
  const said = splitSentences(turn.content).map(({ start, end }) => turn.content.slice(start, end));
  return [...new Set([...told, ...said])].slice(0, 12);
}

/** "The pass phrase 'blue heron' is void. Delete it.": the value of the sentence before. */
function valueBefore(text: string, before: string): string | undefined {
  if (isOffRecord(text.replace(/’/g, "'")) || !/\b(?:it|that|this|them|those)\b/i.test(text))
    return undefined;
  const last = splitSentences(before).at(-1);
  const said = last && before.slice(last.start, last.end);
  const values = said === undefined ? [] : findShapedValues(said).filter(isDistinctValue);
  return values.length === 0 ? undefined : values.map((value) => value.text).join(", ");
}

type Request = Pick<EraseProposal, "about" | "everything"> & EraseScope;

/** "Don't keep any of this chat". */
const UNKEPT =
  /^(?:(?:please|pls|and|but|so|ok|hey|oh|just)[, ]+)*(?:don['’]?t|do not) (?:remember|store|save|record|keep|hold on to) (?<object>.+)$/i;

function requestIn(text: string, at: string): Request | undefined {
  const plain = text.replace(/’/g, "'").trim();
  const kept = UNKEPT.exec(plain)?.groups?.object;
  if (kept !== undefined && eraseScope(kept, at)?.session) return { session: true };
  if (isOffRecord(plain)) return {};
  if (KEEPS.test(plain) || ABOUT_A_PLAN.test(plain)) return undefined;
  const pretended = PRETEND.exec(plain)?.groups?.about ?? UNSTORED.exec(plain)?.groups?.about;
  if (pretended) return meaning(` about ${pretended}`, "forget");
  const [rest, verb] = ordered(plain) ?? [];
  const scope = rest === undefined ? undefined : (eraseScope(rest, at) ?? eraseScope(cutReason(rest), at));
  if (scope) return scope;
  if (rest === undefined || verb === undefined) return formed(plain, at);
  return meaning(rest, verb) ?? (verb === "forget" ? undefined : formed(plain, at));
}

/** "Forget about the pizza, I want sushi": about a plan, not about memory. */
const ABOUT_A_PLAN =
  /^(?:ok |oh |well |and )*forget about [^,]{2,40}, (?:i want|let['’]s|how about|what about|can we|we should|just)\b/i;
const WISHED =
  /\b(?:i(?:'d| would) (?:like|rather|prefer)|i want|please|can|could|would)(?: you)?(?: to)? (?:forget|delete|erase|remove)(?<rest>\b.*)$/i;
const BEHIND =
  /^(?<rest>(?:the|my|what|about|that)\b.*?)[,;:–—-]\s*(?:please )?(?:forget|delete|erase) (?:it|that|this|them)(?: again)?[.!]*$/i;

/** What stands behind the verb of an order or a wish, and the verb. */
function ordered(plain: string): readonly [rest: string, verb: string] | undefined {
  const verb = verbOf(plain);
  const direct = FORGET.exec(plain)?.groups?.rest;
  if (direct !== undefined) return verb !== "forget" && isDeferred(plain) ? undefined : [direct, verb];
  const wish = WISHED.exec(plain);
  const isOfYou = wish !== null && /\byou\b/i.test(plain.slice(0, wish.index + wish[0].length));
  if (isOfYou) return [wish.groups?.rest ?? "", verb];
  const behind = BEHIND.exec(plain)?.groups?.rest;
  return behind === undefined ? undefined : [` ${behind}`, "forget"];
}

/** "The door code must not be kept in memory", "Now that it is over, please delete the note about it". */
function formed(text: string, at: string): Request | undefined {
  const form = eraseForm(text);
  if (!form) return undefined;
  if (EVERYTHING.test(form.object)) return { everything: true };
  const scope = eraseScope(form.object, at);
  if (scope) return scope;
  const about = toErasedObject(cutReason(withoutPlace(form.object).replace(/[.!?]+$/, "")));
  return about === "" || /^(?:it|that|this|them|those|all)$/i.test(about) ? undefined : { about };
}

const PRETEND =
  /^(?:please |ok |so |and |just )*(?:pretend|act (?:like|as if)|let['’]?s pretend) (?:i|you) never (?:told you|said|mentioned|heard|knew|learned)(?: anything)?(?: about| of)? (?<about>(?:the |my |that )?\S.*?)(?: please)?[.!]*$/i;
const UNSTORED =
  /^(?:please |pls |and |but |so )*(?:don['’]?t|do not|stop) (?:store|stor|storing|save|saving|keep|keeping|remember|remembering|record|recording)(?: anything| any record| a record)?(?: about| of)? (?<about>my (?!name|preference)\S.*?)(?: anywhere| on file| on record)?(?: please)?[.!]*$/i;

function verbOf(text: string): string {
  return (
    /\b(forget|erase|delete|remove|wipe|scrub|scrap|purge|drop|clear|unlearn|strike|get rid of|throw away)\b/i
      .exec(text)?.[1]
      ?.toLowerCase() ?? "forget"
  );
}

/** What is meant by the words behind "forget". */
function meaning(rest: string, verb: string): Request | undefined {
  const bare = rest
    .replace(/\?\s*$/, "")
    .replace(
      /[,.;!]?\s*(?:please|thanks|thank you|ok|okay|would you|will you|can you|could you)\s*[.!?]*$/i,
      "",
    )
    .replace(/[.!]+\s*$/, "");
  if (EVERYTHING.test(bare)) return { everything: true };
  const clause = cutReason(withoutPlace(bare.trim()))
    .replace(/,?\s+(?:please|pls|plz|abeg)\b(?:,?\s.*)?$/i, "")
    .replace(/^on (?=(?:the|my|our)\b|\p{Lu})/u, "");
  if (
    /^(?:what|that|the thing|the last thing|my last message|the message|this message|everything)? ?(?:i )?(?:just )?(?:said|told you|wrote)(?: just now| before| earlier)?$/i.test(
      clause,
    ) ||
    /^(?:that|this|it|what i just said|my last message|the last (?:message|thing)(?: i said)?)$/i.test(clause)
  )
    return verb === "forget" && /^(?:it|that|this)$/i.test(clause) && !REGRET.test(rest) ? undefined : {};
  if (verb === "forget" && isNoRequest(bare)) return undefined;
  if (verb !== "forget" && !isAboutMemory(bare, verb)) return undefined;
  const about = toErasedObject(clause);
  if (/^(?:all )?(?:that|this|it|of it|those)$/i.test(about)) return {};
  return about === "" ? undefined : { about };
}

/** Then "forget that" is no mere "never mind". */
export const REGRET: RegExp =
  /\bplease\b|\b(?:i (?:shouldn['’]?t|should not|didn['’]?t mean to|wish i hadn['’]?t)|too (?:personal|private)|it['’]?s (?:private|personal|secret|a secret)|you never heard|never happened|none of your)\b/i;

function isNoRequest(bare: string): boolean {
  if (/^\s+(?:where|who|which|when|how)\b/i.test(bare))
    return !/^\s+(?:where|who|when|how(?: (?:much|many|old|tall|often|long))?(?: \p{L}+)?|which(?: \p{L}+){0,2}) (?:i|my|we|our)\b/iu.test(
      bare,
    );
  return NO_REQUEST.test(bare);
}

/** "delete" and the like are said of many things; only what is known or told is memory. */
function isAboutMemory(bare: string, verb: string): boolean {
  if (isElsewhere(bare)) return false;
  // "Clear my schedule" is said of the day, "drop my car off" of a car.
  if (/^(?:clear|drop|scrap|strike)$/.test(verb) && !isInformation(bare, verb)) return false;
  return (
    /\b(?:you|memory|memories|i(?:'ve| have)? (?:told|said|mentioned|shared)|my|about|from (?:your|the) (?:memory|records?|notes|files?)|record|mentions? of|traces? of|that i|the fact)\b/i.test(
      bare,
    ) &&
    !/^\s*(?:the|this|these|those) (?:line|file|word|paragraph|sentence|function|column|row|comment|folder|app|section|duplicates?)\b/i.test(
      bare,
    )
  );
}

function cutReason(text: string): string {
  return tidy(
    text.split(
      /[,;.!?]\s+(?=(?:i|it|that|this|they|we|he|she|because|since|as|don|not|thank|ok|would|please|the \p{L}+ (?:is|was|were|are|got|has|had|turned)|somebody|someone|nobody|wrong|got|turned)\b)|\s+(?:because|since it|as it's)\b|\s+[–—-]\s+/iu,
    )[0] ?? text,
  );
}

/** The thing itself: "that I ever mentioned Magnet" -> "Magnet"; "what car I drive" -> "what car I drive". */
export function toErasedObject(text: string): string {
  // "Scratch that, forget Magnet"
  let about = text
    .trim()
    .replace(/^(everything|anything|all) else\b/i, "$1")
    .replace(/^(?:that|it|this),?\s+(?:and )?(?:forget|delete|erase|remove)\s+/i, "");
  about = about.replace(
    /\s+(?:from|in|out of) (?:your|the|its) (?:memory|records?|notes|files?|database|storage|system)$|\s+from what you (?:know|remember|have)$/i,
    "",
  );
  for (let i = 0; i < 3; i += 1) {
    const next = about
      .replace(
        /^(?:(?:that|it|so) (?:(?:bit|part|thing|stuff) )?(?:about|with|on)|about|all about|everything about|anything about|the fact|the thing|the bit|the part|whatever|any mention of|all mentions? of|every mention of|any trace of|all traces? of|any memory of|all memor(?:y|ies) (?:of|about)|the memor(?:y|ies) (?:of|about))\s+/i,
        "",
      )
      .replace(KNOWN, "")
      .replace(/^that (?=(?:i|my|we|our|he|she|they|it|\p{Lu})\b)/iu, "")
      .replace(
        /^i(?:'ve| have)?(?: ever| once)? (?:mentioned|told you(?: about| that)?|said(?: anything(?: about)?| something(?: about)?| that| so| it)?(?: about)?|talked about|brought up|spoke about)\s+/i,
        "",
      )
      .replace(/^(?:my )?(?:mention(?:ing)?|talking) (?:of|about)\s+/i, "")
      .trim();
    if (next === about) break;
    about = next;
  }
  return tidy(about);
}
