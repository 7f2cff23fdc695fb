import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { formatDateInWords } from "../../format-date.ts";
import {
  toThirdPerson as thirdForm,
  toGerund,
  toPastParticiple,
  toPastTense,
  toSentence,
} from "../../word-forms.ts";
import type { Verb } from "../clauses/verbs.ts";
import type { SaidDate } from "../time/dates.ts";

/** A verb as "the user" does it: "uses", "has been taking", "does not eat", "is planning to hike". */
export function inflect(verb: Verb, plural = false): string {
  const [opening, ...later] = verb.chain;
  if (opening?.verb === "use" && opening.next === "to" && verb.tense === "past")
    return spaced(verb.denied === undefined ? "used to" : "did not use to", infinitive(later, verb.lemma));
  const links = verb.chain.filter(({ verb: name }) => !(name === "use" && verb.tense === "present"));
  const parts: string[] = [];
  const [first, ...others] = [...links.map((link) => link.verb), verb.lemma];
  if (first === undefined) return "";
  parts.push(outer(first, verb, plural, others.length === 0));
  for (const [i, next] of others.entries()) {
    const join = links[i]?.next ?? "to";
    const [head = "", ...particle] = next.split(" ");
    parts.push(
      join === "to" ? `to ${next}` : join === "gerund" ? [inIng(head, verb), ...particle].join(" ") : next,
    );
  }
  const text = parts.join(" ");
  return verb.chain[0]?.verb === "use" && verb.chain[0].next === "to"
    ? `used to ${text.replace(/^\S+/, (word) => (links.length === 0 ? (verb.lemma.split(" ")[0] ?? word) : word))}`
    : text;
}

/** A form in "ing", as it was written where it was. */
function inIng(base: string, { gerunds }: Verb): string {
  return gerunds.find((written) => toBaseForm(written) === base) ?? toGerund(base);
}

/** "have", "love to sing", after "used to". */
function infinitive(links: Verb["chain"], lemma: string): string {
  const [first, ...others] = [...links.map((link) => link.verb), lemma];
  return others.reduce((text, next, i) => {
    const joint = links[i]?.next;
    return `${text} ${joint === "gerund" ? toGerund(next) : joint === "to" ? `to ${next}` : next}`;
  }, first ?? "");
}

function outer(phrase: string, verb: Verb, plural: boolean, isMain: boolean): string {
  const be = conjugated("be", verb, plural);
  if (phrase === "be going") return spaced(be, verb.denied, "going");
  const [head = "", ...particle] = phrase.split(" ");
  const words = isMain && verb.passive ? ["be", toPastParticiple(head)] : [head];
  return spaced(finite(words, verb, plural), ...particle);
}

function finite([head = "", ...rest]: readonly string[], verb: Verb, plural: boolean): string {
  const be = conjugated("be", verb, plural);
  if (verb.modal === "can" && verb.denied === "not") return spaced("cannot", head, ...rest);
  if (verb.modal) return spaced(verb.modal, verb.denied, head, ...rest);
  if (verb.perfect) {
    const done = verb.progressive ? `been ${inIng(head, verb)}` : toPastParticiple(head);
    return spaced(conjugated("have", verb, plural), verb.denied, done, ...rest);
  }
  if (verb.progressive) return spaced(be, verb.denied, inIng(head, verb), ...rest);
  if (head === "be") return spaced(be, verb.denied, ...rest);
  if (verb.denied?.startsWith("not"))
    return spaced(conjugated("do", verb, plural), verb.denied, head, ...rest);
  return spaced(verb.denied, conjugated(head, verb, plural), ...rest);
}

/** One verb as its subject has it: "is", "were", "uses". */
function conjugated(base: string, verb: Verb, plural: boolean): string {
  const isPast = verb.tense === "past";
  if (base === "be" && plural) return isPast ? "were" : "are";
  if (isPast) return toPastTense(base);
  return plural ? base : thirdForm(base);
}

function spaced(...words: readonly (string | undefined)[]): string {
  return words.filter((word) => word !== undefined && word !== "").join(" ");
}

const RELATIVE =
  /\b(?:ago|yesterday|today|tomorrow|tonight|last|next|this|coming|weekend|the \d+(?:st|nd|rd|th)|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/i;

/** Whether a date in words means another day when it is read later: "yesterday", "on Friday". */
export function isRelativeDate(words: string): boolean {
  return RELATIVE.test(words);
}

const FEAST =
  /^(?:(?:on|at|for|over) )?(?:christmas|xmas|boxing day|new year|valentine|halloween|easter|good friday|pentecost|whit|ash|mardi|nye)/i;
const RANGE = /\d ?(?:to|until|till|through|and|-|–) ?(?:the )?\d|\bfrom\b.* to\b/i;

/** "for Christmas 2025", "from 2 to 9 April 2026": the words stay, with their year. */
function withYear(text: string, end: number, words: string, iso: string): string {
  if (/\b(?:19|20)\d\d\b/.test(words) || RELATIVE.test(words)) return text;
  return `${text.slice(0, end)} ${iso.slice(0, 4)}${text.slice(end)}`;
}

/** A text with a date that hangs on the day it was said made a date that stands alone. */
export function absolute(text: string, dates: readonly SaidDate[], whole: string): string {
  const [date] = dates;
  if (!date) return text;
  const words = whole.slice(date.start, date.end);
  if (!RELATIVE.test(words) && /\b(?:19|20)\d\d\b/.test(words)) return text;
  const at = text.indexOf(words);
  if (at < 0) return text;
  if (FEAST.test(words) || RANGE.test(words)) return withYear(text, at + words.length, words, date.iso);
  const before = text
    .slice(0, at)
    .replace(
      /(^|\s)(?:(?:on|in|at|by|for|over|about|around|roughly|exactly)\s+)?(?:the\s+|this\s+|last\s+|next\s+|past\s+)?$/i,
      " ",
    );
  // "their May 21 routine", "between 3 and 5 May": a part of a longer phrase stays as it was said.
  if (
    /(?:\b(?:their|his|her|my|our|an?|of|between|from|like|to)|['’]s)\s*$/i.test(before) &&
    !RELATIVE.test(words)
  )
    return text;
  if (/(?:\b(?:their|his|her|an?|between)|['’]s)\s*$/i.test(before)) return text;
  const removed = text
    .slice(before.length, at)
    .trim()
    .toLowerCase()
    .replace(/^(?:the|this|last|next|past)$/, "");
  // "since last year" needs no "in".
  if (/\b(?:since|until|till?|before|after|from)\s*$/i.test(before) && removed === "")
    return `${before.trimEnd()} ${formatDateInWords(date.iso, { weekday: false })}${text.slice(at + words.length)}`;
  const joint = ["by", "for"].includes(removed) ? removed : jointFor(words, date.iso);
  return `${before.trimEnd()} ${joint} ${formatDateInWords(date.iso, { weekday: false })}${text.slice(at + words.length)}`.replace(
    /\s+/g,
    " ",
  );
}

const ABOUT =
  /\b(?:last|next|this|past|coming|following) week$|\b(?:weeks?|fortnights?) ago$|\b(?:few|couple of|several) days ago$/i;

/** A day that was not named is told as one near it: "last week" is seven days back, more or less. */
function jointFor(words: string, iso: string): string {
  if (iso.length < 10) return "in";
  if (/\bweekend$/i.test(words)) return "on the weekend of";
  return ABOUT.test(words) ? "around" : "on";
}

/** Subject, verb and rest as one sentence. */
export function compose(...parts: readonly string[]): string {
  return toSentence(
    evenQuotes(parts.filter((part) => part !== "").join(" "))
      .replace(/\s+/g, " ")
      .replace(/\s+([,.;:!?])/g, "$1"),
  );
}

/** A title that was cut out of its marks loses the one that is left. */
function evenQuotes(text: string): string {
  const opened = text.split(/["“”]/).length - 1;
  return opened % 2 === 0 ? text : text.replace(/["“”]/g, "");
}
