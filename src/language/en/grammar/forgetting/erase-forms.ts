import { splitWords, stem } from "../../../../domain/search/search-terms.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import { findShapedValues, findSlot, isDistinctValue } from "../../value-shapes.ts";

/** A request to erase, in one of the forms beside the plain order at the beginning of a sentence. */
export interface EraseForm {
  /** What is meant, with whatever says from where. */
  readonly object: string;
  /** The verb, in its base form. */
  readonly verb: string;
}

const ERASE = "forget|erase|delete|purge|wipe|scrub|expunge|redact|unlearn";
const TAKE_AWAY =
  "remove|drop|clear|scrap|strike|discard|destroy|release|get rid of|throw away|throw out|take out|let go of";
const GONE =
  "(?:deleted|erased|removed|forgotten|purged|wiped|scrubbed|expunged|redacted|cleared|gone|discarded|destroyed|taken out)";
const KEPT =
  "(?:kept|stored|retained|remembered|retrievable|recoverable|accessible|available|held|saved|recorded|listed|on file|in memory)";
const COURTESY =
  "(?:(?:please|pls|kindly|now|so|and|then|also|just|therefore|can you|could you|would you|will you|i(?:['’]d| would) like you to|i (?:want|need) you to|go ahead and)[, ]+)*";
const ORDER = new RegExp(`^${COURTESY}(?<verb>${ERASE}|${TAKE_AWAY})\\s+(?<object>\\S[\\s\\S]*)$`, "i");
const PASSIVE = new RegExp(
  `^(?<object>.+?)\\s+(?:should|must|shall|needs? to|has to|have to|is to|are to|ought to)\\s+(?:now |also |therefore |please )?(?:be (?:treated as |considered |regarded as |marked as )?${GONE}|(?:not|no longer|never) be (?:treated as )?${KEPT}|(?:not|no longer) (?:stay|remain|exist|live|sit) (?:in|on)\\b)(?<tail>.*)$`,
  "i",
);
const WISH = new RegExp(
  `^${COURTESY}(?:(?:i|we)(?:['’]d| would)? (?:want|like|need|prefer|wish)(?: to (?:have|get|see))?|have|get|make sure(?: that)?|ensure(?: that)?|see to it that|treat|consider|regard)\\s+(?<object>.+?)\\s+(?:as |to be |is |are |gets? )?${GONE}\\b(?<tail>.*)$`,
  "i",
);
const KEEP_NOT =
  /^(?:please |and |so )*(?:don['’]?t|do not|stop|never) (?:keep(?:ing)?|stor(?:e|ing)|retain(?:ing)?|hold(?:ing)? on to|remember(?:ing)?|sav(?:e|ing)) (?<object>.+?) (?:any ?more|any longer|from now on|in (?:your |the |shared |assistant |active )*memory|(?:in|for) (?:any |all )?(?:future|later) \p{L}+|anywhere|on file|on record)\b/iu;
/** Doing it by saying so: "I am deleting the old pin". */
const DOING =
  /^(?:(?:and|so|now|then|also) )*(?:i|we)(?:['’]m| am|['’]re| are) (?:also |now |hereby |therefore )*(?<verb>delet|eras|purg|wip|forgett?|remov|clear)ing (?<object>\S[\s\S]*)$/i;
const BASE: Readonly<Record<string, string>> = {
  delet: "delete",
  eras: "erase",
  purg: "purge",
  wip: "wipe",
  remov: "remove",
};
/** A reason before the order: "Now that it is over, please delete …". */
const REASON = /^(?:now that|since|as|because|given that|seeing that)\b[^.;]*?,\s+/i;
/** A heading or a name before the order. */
const LABEL =
  /^(?:(?:[\p{L}-]+ ){0,3}(?:request|note|update|reminder|correction|clean-?up|housekeeping|instruction|privacy|memory|security)\s*[:–—-]\s+|\p{Lu}\p{L}+,\s+(?=please\b|delete\b|erase\b|forget\b|remove\b|purge\b|wipe\b))/iu;
const REPORTED =
  /\b(?:said|says|say|asked|asks|told|tells|wrote|writes|suggested|wants|wanted|requested|reported|quote|if|when|whenever|once|after|before|until|unless|in case|how|why|whether|who|did|does)\b[^;.]*$/i;
const JOINT = new RegExp(
  `[;:–—]\\s+|(?:,\\s+(?:(?:and|so|then|but) )?|\\s+(?:and|so|then|but) )(?:also )?(?=(?:please|${ERASE})\\b)`,
  "gi",
);
/** A modal before the order: it tells what somebody will do. */
const TOLD =
  /\b(?:will|would|may|might|can|could|shall|should|must|going to|(?:need|have|has|had|want|wants|able) to|to)\b[^,;:]*$/i;
/** An answer before the order: "No. Delete it." */
const ANSWER =
  /^(?:(?:no|yes|yeah|yep|nope|ok|okay|right|good|great|fine|approved|agreed|correct|confirmed|exactly|also|thanks|thank you)[.,!:;]*\s+)+/i;

/** The request in a sentence, if it is one. */
export function eraseForm(sentence: string): EraseForm | undefined {
  const plain = sentence.trim().replace(ANSWER, "").replace(LABEL, "").replace(REASON, "");
  if (/^["“']/.test(plain) || isQuestion(plain)) return undefined;
  const whole = formOf(plain);
  if (whole) return whole;
  for (const { 0: joint, index } of plain.matchAll(JOINT)) {
    const before = plain.slice(0, index);
    if (REPORTED.test(before) || (TOLD.test(before) && !/[;:–—]/.test(joint))) continue;
    const form = formOf(plain.slice(index + joint.length));
    // A heading is no object of "clear" or "release": "Recap: clear liquids".
    if (form && (new RegExp(`^(?:${ERASE})$`, "i").test(form.verb) || PLACE.test(` ${form.object}`)))
      return form;
  }
  return undefined;
}

/** "Can you delete it?" is an order, "Did you delete it?" is none. */
function isQuestion(text: string): boolean {
  return /\?\s*$/.test(text) && !/^(?:please |hey |hi |ok )*(?:can|could|would|will) you\b/i.test(text);
}

function formOf(text: string): EraseForm | undefined {
  const order = ORDER.exec(text)?.groups;
  if (order?.object) return accepted({ object: order.object, verb: (order.verb ?? "").toLowerCase() });
  return doneBySaying(text) ?? wished(text);
}

function doneBySaying(text: string): EraseForm | undefined {
  const { object, verb = "" } = DOING.exec(text)?.groups ?? {};
  const begun = verb.toLowerCase().replace(/tt$/, "t");
  // "I'm deleting my old emails" is done elsewhere.
  const isOurs =
    object !== undefined &&
    (findShapedValues(object).some(isDistinctValue) || holdersIn(object).some(isPlain));
  return isOurs ? accepted({ object, verb: BASE[begun] ?? begun }) : undefined;
}

function wished(text: string): EraseForm | undefined {
  for (const pattern of [WISH, PASSIVE, KEEP_NOT]) {
    const { object, tail = "" } = pattern.exec(text)?.groups ?? {};
    if (!object || /^(?:it|they|that|this|these|those|he|she|you|i|we|which)$/i.test(object)) continue;
    if (/\b(?:not|never|don['’]?t|didn['’]?t|if|when|whether)\b/i.test(object)) continue;
    const verb = pattern === KEEP_NOT ? "forget" : "delete";
    const form = accepted({ object: `${object}${PLACE.exec(tail)?.[0] ?? ""}`, verb }, tail);
    if (form) return form;
  }
  return undefined;
}

function accepted(form: EraseForm, tail = ""): EraseForm | undefined {
  const { object, verb } = form;
  return isDeferred(`${object} ${tail}`) || !isInformation(object, verb) ? undefined : form;
}

const STORE =
  "(?:memory|memories|records?|notes?|charts?|files?|history|logs?|profile|database|storage|knowledge|retrieval|context|transcripts?|answers|(?:active|current) use)";
const PLACE = new RegExp(
  `,?\\s+(?:(?:from|in|out of|off|within) (?:(?!and\\b|from\\b)[\\p{L}'’-]+ ){0,5}?${STORE}(?: (?:and|or) (?:[\\p{L}-]+ ){0,3}${STORE})?|out of (?:here|there|your (?:head|mind|brain)))\\b`,
  "iu",
);

/** Without what says from where, and without orders behind it: "the pin from shared memory and do not restore it". */
export function withoutPlace(object: string): string {
  const place = PLACE.exec(` ${object}`);
  if (!place) return object.replace(MORE, "");
  const start = Math.max(0, place.index - 1);
  const behind = object.slice(place.index + place[0].length - 1);
  // "Delete from memory the old pin", "Delete my Monday plan from memory: remove the hour".
  if (start === 0) return behind.trim().replace(MORE, "");
  const list = /^:\s+/.exec(behind) ?? nextThing(behind);
  return `${object.slice(0, start)}${list ? `, ${behind.slice(list[0].length)}` : ""}`.replace(MORE, "");
}

/** "… from your notes, and Iker's number too": another thing behind the place. */
const NEXT_THING =
  /^,?\s+(?:and|plus|as well as)\s+(?=(?:the|my|our|his|her|their|all|any)\s|\p{Lu}[\p{L}-]*['’]s\s)/u;

function nextThing(behind: string): RegExpExecArray | null {
  const found = NEXT_THING.exec(behind);
  return found && !hasVerb(behind) ? found : null;
}

/** Whether a text tells something: "the new one is 4471". */
export function hasVerb(text: string): boolean {
  return parseEnglish(text).some(({ tokens }) => tokens.some(({ pos }) => /^(?:VERB|AUX)$/.test(pos)));
}

const MORE =
  /(?:[;,–—]\s+|,?\s+(?:and|so|but) )(?:please )?(?:only )?(?:do not|don['’]?t|never|make sure|ensure|keep|only keep|retain|use|treat|confirm|leave)\b[\s\S]*$|\s+(?:now that|because|since|as (?:well|we|i|it|they))\b[\s\S]*$|\s+(?:now|too|also|as well|entirely|completely|again|altogether|please)\s*$/i;

const LATER =
  /\b(?:once|when|whenever|if|until|unless|as soon as|in case)\s+(?:i|we|you|they|he|she|it|the|my|our|this|that|everything)\b|\b(?:after|before|by|on|next|from) (?:(?:this|next|the) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:after|before) (?:i|we|you|they|he|she|it)\b|\b(?:tomorrow|tonight|later|next (?:week|month|year)|in (?:a|an|two|three|four|five|six|\d+) (?:days?|weeks?|months?|hours?)|at the end of (?:the |this |next )?\p{L}+|after the \p{L}+|(?:on|by|after|before|from) (?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)?(?: \p{L}+)?)\s*[.!]*$/iu;

/** Whether it is to happen at another time, or under a condition. */
export function isDeferred(object: string): boolean {
  const head = object.split(/\b(?:about|that (?:said|says)|saying)\b/i)[0] ?? object;
  return LATER.test(head);
}

/** Nouns that are as often things of the world: alone they ask for nothing. */
const WORLDLY: ReadonlySet<string> = new Set(
  splitWords(
    "account accounts key keys line lines desk room rooms unit flat apartment suite gate floor seat cabin bay dorm ward " +
      "bed place spot site website link links mail email emails word words phone phones cell mobile time times day date " +
      "hour hours slot window badge ticket appointment schedule token tokens figure mark rule comment comments reminder " +
      "number numbers plate total balance price rent deposit id contact contacts record records entry entries data value values",
  ).map(stem),
);
const KNOWING =
  /\b(?:you (?:know|remember|have|stored|saved|noted|recorded|learned|learnt)|(?:i|we)(?:['’]ve| have)? (?:told|said|mentioned|shared|gave|given|sent)|mentions? of|traces? of|memory of|memories of|memories about)\b/i;

/** "from the group chat", "off my calendar": it stands somewhere in the world. */
export function isElsewhere(object: string): boolean {
  return !PLACE.test(` ${object}`) && !KNOWING.test(object) && /\s(?:from|off|out of)\s/i.test(object);
}

/** Whether it is something remembered, not something of the world. */
export function isInformation(object: string, verb: string): boolean {
  if (PLACE.test(` ${object}`) || KNOWING.test(object)) return true;
  if (isElsewhere(object)) return false;
  const shaped = findShapedValues(object);
  const holders = holdersIn(object);
  if (shaped.some(isDistinctValue)) return true;
  const plain = holders.some(isPlain) || OWN_DATA.test(object);
  if (!new RegExp(`^(?:${ERASE})$`, "i").test(verb)) {
    return holders.some((noun) => findSlot(noun)?.isText) || (plain && PAST.test(object));
  }
  return plain || (holders.length > 0 && (shaped.length > 0 || PAST.test(object)));
}

/** The nouns of information that name the thing itself. */
function holdersIn(object: string): string[] {
  const head = object.split(/\b(?:for|of|about|that|which|who)\b/i)[0] ?? "";
  return splitWords(head)
    .map(stem)
    .filter((noun) => findSlot(noun));
}

function isPlain(noun: string): boolean {
  return !WORLDLY.has(noun);
}

const OWN_DATA = /\b(?:my|our) (?:[\p{L}-]+ ){0,3}(?:data|info|information|details|history)\s*$/iu;
const PAST = /\b(?:old|older|earlier|previous|prior|former|outdated|expired|exact|retired)\b/i;

/** Orders to forget in German, French, Spanish, Italian, Portuguese and Dutch. */
const FOREIGN_VERB =
  "(?:vergiss|vergessen sie|lösch(?:e|en sie)?|entferne?n?|streich(?:e|en)?|oublie[zs]?|efface[zs]?|supprime[zs]?|enlève|retire[zs]?|olvida(?:te|lo|r)?|olvide|borra(?:lo|r)?|borre|elimina(?:r|lo)?|elimine|quita|suprime|dimentica(?:re)?|cancella(?:re)?|esquece|esqueça|apaga(?:r)?|apague|remova|vergeet|verwijder|wis)";
const FOREIGN_ORDER = new RegExp(
  `(?<![\\p{L}])${FOREIGN_VERB}(?!\\p{L})|(?:speicher|merk|behalt)\\p{L}* .*\\bnicht\\b|\\b(?:ne )?(?:garde|retiens|note|sauvegarde)\\p{L}* pas(?!\\p{L})|\\bno (?:guardes|recuerdes|anotes)`,
  "iu",
);
const FOREIGN_POLITE =
  "bitte|also|und|nein|por favor|y|s['’]il te pla[iî]t|s['’]il vous pla[iî]t|et|non|alors|per favore|ok|okay|no";
const FOREIGN_OPENING = new RegExp(`^\\W*(?:(?:${FOREIGN_POLITE})\\W+)*${FOREIGN_VERB}(?!\\p{L})`, "iu");

/** Whether a text has an order to forget in another language than English. */
export function hasForeignOrder(text: string): boolean {
  return FOREIGN_ORDER.test(text);
}

/** Whether a text opens with an order to forget in another language: "Bitte vergiss meine Adresse". */
export function opensWithForeignOrder(text: string): boolean {
  return FOREIGN_OPENING.test(text);
}

/** Whether a text may ask to erase, in whatever language the rest may be. */
export function opensWithOrder(text: string): boolean {
  return (
    new RegExp(`^\\W*(?:(?:no|yes|ok|okay|please|also)\\W+)*(?:${ERASE}|remove)\\s`, "i").test(text) ||
    hasForeignOrder(text)
  );
}

const TAKES_BACK =
  /^(?:(?:no+|nope|nah|wait|oops|whoops|never ?mind|hang on|hold on|stop|sorry|jk|actually)[,.! ]+)+(?:please )?(?:(?:undo|restore|unforget) (?:that|it|them)|(?:bring|get|put|have) (?:that|it|them) back|keep (?:that|it|them)|(?:i )?(?:don['’]?t|didn['’]?t|do not)(?: (?:forget|erase|delete|mean) (?:that|it|them))?)(?: (?:please|after all|then))*[.! ]*$/i;

/** "No, undo that", "never mind, keep it": takes back a request to forget. It asks for nothing to be erased. */
export function takesBackErasure(text: string): boolean {
  return TAKES_BACK.test(text.trim());
}
