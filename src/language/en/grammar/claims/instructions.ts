import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { hasCredential } from "../../../../domain/text/credentials.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, thirdPerson, tidy } from "../context.ts";
import { isInjection } from "../no-facts/guards.ts";
import { compose } from "./sentence.ts";

const CALL_ME =
  /^(?:(?:so|and|but|also|oh|hey|hi|btw|ok|okay)[, ]+)*(?:please |pls |you can |you may |just |feel free to |from now on,? |do )*(?:call|refer to) me (?:as )?(?<name>["“]?\p{L}[\p{L}'’. -]*?["”]?)(?=[,.!?;]|$| (?:and|instead|please|from now|not|because|since|nobody|everyone|everybody|rather|ok|okay|now|for short|though|when|that)\b)/iu;
/** "Please call me Kat, not Katherine": an order, and no correction of what was told. */
export function asksForName(text: string): boolean {
  return CALL_ME.test(text);
}

const LASTING =
  /\b(?:from now on|always|never|in (?:the )?future|going forward|every time|whenever|when (?:you|i)|each time|by default|from here on(?: out)?|from today(?: on)?|henceforth|at all times|in all (?:your )?(?:answers|replies))\b/i;
const TO_ASSISTANT =
  /\b(?:answer|reply|respond|write|explain|address|talk|speak|call|use|give|keep|format|send|include|add|avoid|stop|don['’]?t|do not|never|always|start|end|begin|tell|remind|summari[sz]e|translate|show|list|quote|cite|ask|assume|be|stick|put|sign|skip|leave|limit|make)\b/i;
const ABOUT_TALK =
  /\b(?:answers?|repl(?:y|ies|ying)|responses?|respond(?:ing)?|bullet(?: points?|s)?|emojis?|short|brief(?:ly)?|concise(?:ly)?|in (?:english|german|french|spanish|italian|dutch|polish|portuguese|plain english|one sentence|metric|celsius|fahrenheit|kilometres|miles)|tone|formal(?:ly)?|informal(?:ly)?|language|sentences?|paragraphs?|tables?|code|jokes?|metric|imperial|miles|kilomet\w+|celsius|fahrenheit|units?|step by step|me|swear|sources?|links?|markdown|headings?|words|prices?|exclamation marks?|jargon|slang|abbreviations?|small talk|caps|recipes?|examples?|dates?|times?|temperatures?|currenc(?:y|ies)|prices|numbers?|spoilers?|titles?|surname|first name|nickname|spelling|puns?|questions?|advice|reminders?|greetings?|apolog\w+)\b/i;

/** An order to whoever answers: "please call me Nell", "always answer in bullet points". */
export function instructionOf(context: Context, sentence: string, place: Span): AddProposal[] {
  if (
    context.message.role !== "user" ||
    isInjection(sentence) ||
    hasCredential(sentence) ||
    /https?:|www\./i.test(sentence)
  )
    return [];
  const text = tidy(sentence).replace(/\s+/g, " ");
  const owner = context.discourse.speaker.display;
  const called = readName(context, text, place);
  if (called) return [called];
  // Tidied, "please", "from now on" and the question mark would be gone.
  const spoken = sentence.replace(/\s+/g, " ").trim();
  const unwanted = UNWANTED.exec(spoken)?.groups?.thing;
  if (unwanted !== undefined && ABOUT_TALK.test(unwanted)) {
    return [
      adding(context, place, {
        text: compose(owner, "does not want", thirdPerson(unwanted, context, context.discourse.speaker)),
        claim: claimOf(context.discourse.speaker.path, "not want", unwanted),
        kind: "instruction",
        holds: "many",
        importance: 0.9,
      }),
    ];
  }
  if (spoken.endsWith("?") && !(REQUEST.test(spoken) && LASTING.test(spoken))) return [];
  const [first = "", ...others] = splitOrders(spoken);
  if (!isLastingOrder(first)) return [];
  const whole = others.length === 0 ? readOrder(context, text, place) : undefined;
  if (others.length === 0) return whole ? [whole] : [];
  return [first, ...others].flatMap((one) => {
    const at = sentence.indexOf(one);
    const own = at < 0 ? place : { start: place.start + at, end: place.start + at + one.length };
    const order = tidy(one);
    return readName(context, order, own) ?? readOrder(context, order, own) ?? [];
  });
}

/** "call me Nell" */
function readName(context: Context, text: string, place: Span): AddProposal | undefined {
  const said = CALL_ME.exec(text)?.groups?.name;
  if (!said || /^(?:back|later|tomorrow|when|if|at|on|a|an|the|maybe|crazy|old)\b/i.test(said))
    return undefined;
  const { speaker } = context.discourse;
  const name = tidy(said.replace(/["“”]/g, ""));
  return adding(context, place, {
    text: compose(speaker.display, "wishes to be called", name),
    claim: claimOf(speaker.path, "wish to be called", name),
    kind: "instruction",
    holds: "one",
    importance: 0.9,
  });
}

function readOrder(context: Context, text: string, place: Span): AddProposal | undefined {
  const order = bareOrder(text);
  if (order === "") return undefined;
  const { speaker } = context.discourse;
  const [wants, rest] = wanting(order);
  return adding(context, place, {
    text: compose(speaker.display, wants, ofAssistant(thirdPerson(rest, context, speaker))),
    claim: claimOf(speaker.path, "want the assistant to", order),
    kind: "instruction",
    holds: "many",
    importance: 0.9,
  });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** "Never suggest X, and call me Bo": two orders. */
function splitOrders(text: string): string[] {
  const [opener = ""] = OPENERS.exec(text) ?? [];
  const [first = "", ...others] = text.slice(opener.length).split(NEXT_ORDER);
  return [`${opener}${first}`, ...others];
}

const NEXT_ORDER =
  /(?:, (?:and |but )?|; ?| and )(?=(?:please |also |always |never |do(?:n['’]t| not) )*(?:call me|answer|reply|respond|write|use|keep|correct|explain|suggest|recommend|mention|propose|include|address me|remind me|ask me|tell me|start|end)\b)/i;

/** "no small talk before nine please": what is not wanted, without a verb. */
const UNWANTED =
  /^(?:(?:and|also|oh|ok(?:ay)?|so|but)[, ]+)*(?:please,? )?no (?<thing>\p{L}[^.!?;]{2,60}?),? (?:please|pls|thanks|thank you)[.!]*$/iu;

/** "could you write dates the German way from now on?": a question in form alone. */
const REQUEST = /^(?:(?:and|also|oh|hey|ok(?:ay)?|so|but|please)[, ]+)*(?:can|could|would|will) you\b/i;

/** "your replies" are the assistant's. */
function ofAssistant(order: string): string {
  return order.replace(/\byour\b/gi, "its").replace(/\byourself\b/gi, "itself");
}

/** How an order is told: "don't use slang" -> "wants the assistant not to", "use slang". */
function wanting(order: string): [wants: string, rest: string] {
  const stopped = /^(?:stop|quit) (?<verb>\p{L}+ing)\b(?<rest>.*)$/iu.exec(order)?.groups;
  if (stopped?.verb)
    return ["wants the assistant not to", `${toBaseForm(stopped.verb.toLowerCase())}${stopped.rest}`];
  const denied = /^(?<no>don['’]?t|do not|never|always) (?:ever )?(?<rest>\p{L}.*)$/iu.exec(order)?.groups;
  if (!denied?.no || !denied.rest) return ["wants the assistant to", order];
  const adverb = /^(?:never|always)$/i.test(denied.no) ? denied.no.toLowerCase() : "not";
  return [`wants the assistant ${adverb} to`, denied.rest];
}

/** What only a partner in talk does, whatever it is about. */
const SPEECH =
  "suggest|recommend|propose|mention|advis[es]e?|offer|bring(?:ing)? up|answer|reply|respond|address|convert|phrase|quote|cite";

const LASTING_SPEECH = new RegExp(
  `^(?:always|never|do(?:n['’]t| not)(?: ever)?|avoid|stop|quit) (?:${SPEECH})(?:ing|ting|ding)?\\b`,
  "i",
);
const BARE_SPEECH = new RegExp(`^(?:${SPEECH})\\b`, "i");
const POLITE = /^(?:(?:please|pls|and|so|also|ok(?:ay)?|hey|oh|btw|just)[, ]+)+/i;

/** "Never suggest nuts", "when I ask for music, propose jazz": lasting by an adverb or a clause of time, or because it forbids. */
function isOrderOfSpeech(text: string, plain: string): boolean {
  return LASTING_SPEECH.test(text.replace(POLITE, "")) || (LASTING.test(text) && BARE_SPEECH.test(plain));
}

/** Whether the words are an order that is meant to last, and about the talk itself. */
export function isLastingOrder(text: string): boolean {
  const plain = text.replace(OPENERS, "");
  const first = /^[a-z'’]+/i.exec(plain)?.[0] ?? "";
  const isOrder = TO_ASSISTANT.test(first) && new RegExp(`^(?:${TO_ASSISTANT.source})`, "i").test(plain);
  if (isOrderOfSpeech(text, plain)) return true;
  const wants =
    /\bI(?:['’]d| would)? (?:want|like|prefer|need|love) (?:it if )?you(?:r answers| to)?\b/i.test(text);
  if (wants) return ABOUT_TALK.test(text);
  return (
    isOrder &&
    ABOUT_TALK.test(text) &&
    (LASTING.test(text) ||
      /^(?:please )?(?:don['’]?t|do not|never|always|stop|keep|stick|avoid|skip|no)\b/i.test(
        text.replace(/^(?:please|and|so|also)[, ]+/i, ""),
      ))
  );
}

const OPENERS =
  /^(?:(?:from (?:now|here|today) on|in (?:the )?future|going forward|by default|henceforth|please|pls|and|so|also|ok|okay|hey|oh|btw|just|one more thing|when(?:ever)? you(?: [\w']+){1,6}?(?= (?:please |always |never )?(?:use|write|keep|put|say|list|show|add|include|avoid|don['’]?t|stick|make) )|whenever you [^,]+|when you [^,]+|when(?:ever)? i [^,]+|when(?:ever)? [^,]{3,40}|every time [^,]+|always|can you|could you|would you|will you|you should|you must|you can|try to|remember to|make sure (?:to|you|that you)|be sure to)[,:]?\s+)+/i;

function bareOrder(text: string): string {
  const bare = text
    .replace(
      /^.*?\bI(?:['’]d| would)? (?:want|like|prefer|need|love) (?:it if )?you(?:r answers)?(?: to)? /i,
      "",
    )
    .replace(
      /^(?:(?:please|pls|and|so|also|ok|okay|hey|oh|btw|just|can you|could you|would you|will you|you should|you must|you can|remember to|make sure (?:to|you|that you)|be sure to)[,:]?\s+)+/i,
      "",
    )
    .replace(
      /^(?:from (?:now|here|today) on|in (?:the )?future|going forward|by default|henceforth)[, ]+/i,
      "",
    )
    .replace(/,? from (?:now|here|today) on(?: out)?\b/i, "")
    .replace(/^(?:please|just)\s+/i, "")
    .replace(/,? please$/i, "");
  const [order = ""] = bare.split(ASIDE);
  const timed = TIME_FIRST.exec(order)?.groups;
  const ordered = timed ? `${timed.order} ${timed.time?.toLowerCase()}${timed.rest}` : order;
  return tidy(ordered).slice(0, 160);
}

const ASIDE =
  /,? (?:because|since|as i|cause|otherwise|thanks)\b|, (?:i|it|that|my|they|the|we|he|she)(?:['’]\w+)? /i;

/** "When I ask for music, suggest jazz" */
const TIME_FIRST =
  /^(?<time>when(?:ever)?|every time|each time)(?<rest> [^,]{1,80}), (?:please )?(?<order>\p{L}.*)$/iu;
