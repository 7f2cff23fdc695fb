import { hasCredential } from "../../../../domain/text/credentials.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { adding, type Context, claimOf, thirdPerson, tidy } from "../context.ts";
import { isInjection } from "../no-facts/guards.ts";
import { compose } from "./sentence.ts";

const CALL_ME =
  /^(?:(?:so|and|but|also|oh|hey|hi|btw|ok|okay)[, ]+)*(?:please |pls |you can |you may |just |feel free to |from now on,? |do )*(?:call|refer to) me (?:as )?(?<name>["“]?\p{L}[\p{L}'’. -]*?["”]?)(?=[,.!?;]|$| (?:and|instead|please|from now|not|because|since|nobody|everyone|everybody|rather|ok|okay|now|for short|though|when|that)\b)/iu;
const LASTING =
  /\b(?:from now on|always|never|in (?:the )?future|going forward|every time|whenever|when you|each time|by default|from here on(?: out)?|from today(?: on)?|henceforth|at all times|in all (?:your )?(?:answers|replies))\b/i;
const TO_ASSISTANT =
  /\b(?:answer|reply|respond|write|explain|address|talk|speak|call|use|give|keep|format|send|include|add|avoid|stop|don['’]?t|do not|never|always|start|end|begin|tell|remind|summari[sz]e|translate|show|list|quote|cite|ask|assume|be|stick|put|sign|skip|leave|limit|make)\b/i;
const ABOUT_TALK =
  /\b(?:answers?|repl(?:y|ies|ying)|responses?|respond(?:ing)?|bullet(?: points?|s)?|emojis?|short|brief(?:ly)?|concise(?:ly)?|in (?:english|german|french|spanish|italian|dutch|polish|portuguese|plain english|one sentence|metric|celsius|fahrenheit|kilometres|miles)|tone|formal(?:ly)?|informal(?:ly)?|language|sentences?|paragraphs?|tables?|code|jokes?|metric|imperial|miles|kilomet\w+|celsius|fahrenheit|units?|step by step|me|swear|sources?|links?|markdown|headings?|words|prices?|exclamation marks?|jargon|slang|abbreviations?|small talk|caps|recipes?|examples?|dates?|times?|temperatures?|currenc(?:y|ies)|prices|numbers?|spoilers?|titles?|surname|first name|nickname|spelling|puns?|questions?|advice|reminders?|greetings?|apolog\w+)\b/i;

/** An order to whoever answers: "please call me Nell", "always answer in bullet points". */
export function instructionOf(
  context: Context,
  sentence: string,
  place: { start: number; end: number },
): AddProposal[] {
  if (
    context.message.role !== "user" ||
    isInjection(sentence) ||
    hasCredential(sentence) ||
    /https?:|www\./i.test(sentence)
  )
    return [];
  const text = tidy(sentence).replace(/\s+/g, " ");
  const call = CALL_ME.exec(text);
  const speaker = context.discourse.speaker;
  const owner = speaker.display;
  if (
    call?.groups?.name &&
    !/^(?:back|later|tomorrow|when|if|at|on|a|an|the|maybe|crazy|old)\b/i.test(call.groups.name)
  ) {
    const name = tidy(call.groups.name.replace(/["“”]/g, ""));
    return [
      adding(context, place, {
        text: compose(owner, "wishes to be called", name),
        claim: claimOf(speaker.path, "wish to be called", name),
        kind: "instruction",
        holds: "one",
        importance: 0.9,
      }),
    ];
  }
  // Tidied, "please", "from now on" and the question mark would be gone.
  const spoken = sentence.replace(/\s+/g, " ").trim();
  const unwanted = UNWANTED.exec(spoken)?.groups?.thing;
  if (unwanted !== undefined && ABOUT_TALK.test(unwanted)) {
    return [
      adding(context, place, {
        text: compose(owner, "does not want", thirdPerson(unwanted, context, speaker)),
        claim: claimOf(speaker.path, "not want", unwanted),
        kind: "instruction",
        holds: "many",
        importance: 0.9,
      }),
    ];
  }
  if (spoken.endsWith("?") && !(REQUEST.test(spoken) && LASTING.test(spoken))) return [];
  if (!isLastingOrder(spoken)) return [];
  const order = bareOrder(text);
  if (order === "") return [];
  const [wants, rest] = wanting(order);
  return [
    adding(context, place, {
      text: compose(owner, wants, ofAssistant(thirdPerson(rest, context, speaker))),
      claim: claimOf(speaker.path, "want the assistant to", order),
      kind: "instruction",
      holds: "many",
      importance: 0.9,
    }),
  ];
}

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
  const denied = /^(?<no>don['’]?t|do not|never|always) (?:ever )?(?<rest>\p{L}.*)$/iu.exec(order)?.groups;
  if (!denied?.no || !denied.rest) return ["wants the assistant to", order];
  const adverb = /^(?:never|always)$/i.test(denied.no) ? denied.no.toLowerCase() : "not";
  return [`wants the assistant ${adverb} to`, denied.rest];
}

/** Whether the words are an order that is meant to last, and about the talk itself. */
export function isLastingOrder(text: string): boolean {
  const plain = text.replace(OPENERS, "");
  const first = /^[a-z'’]+/i.exec(plain)?.[0] ?? "";
  const isOrder = TO_ASSISTANT.test(first) && new RegExp(`^(?:${TO_ASSISTANT.source})`, "i").test(plain);
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
  const order =
    bare.split(/,? (?:because|since|as i|cause|otherwise|thanks)\b|, (?:i|it|that|my|they|the) /i)[0] ?? "";
  return tidy(order).slice(0, 160);
}
