import type { Verb } from "../grammar/clauses/verbs.ts";
import {
  listAnsweringRelations,
  listAttributeRelations,
  toCanonicalRelation,
} from "../relations/relations.ts";
import { toPastParticiple, toSingular } from "../word-forms.ts";
import type { Frame } from "./question-parts.ts";

/** What people do for a living. */
const LIVING = [
  ...new Set([
    "work as",
    "be",
    "work at",
    "do",
    "work in",
    "teach at",
    "run",
    ...listAnsweringRelations("work at"),
  ]),
];
/** Ways to get about. */
const WAYS =
  "cycle to|walk to|drive to|take|go by|commute by|commute on|travel by|ride to|run to|go on|go with|commute with|bike to|use|ride|drive".split(
    "|",
  );
const PLACES = ["in", "at", "on", "to", "from", "near", "with", "for", "next to", "opposite", "behind", "by"];

interface Joints {
  /** At the end of the question, or before the question word. */
  readonly stranded: string | undefined;
  /** Right behind the verb. */
  readonly adjacent: string | undefined;
}

/** The relations that answer a question with this verb, nearest first. */
export function relationsFor(frame: Frame, verb: Verb, joints: Joints): string[] {
  const chain = verb.chain.filter(({ verb: name }) => !["use", "start", "begin", "keep"].includes(name));
  if (verb.lemma === "do" && chain.length === 0) {
    return [...LIVING, ...(joints.stranded ? [`do ${joints.stranded}`] : [])];
  }
  if (verb.lemma === "call" && verb.passive) return ["be called"];
  const base = verb.lemma === "be" && verb.perfect ? "have been" : verb.lemma;
  const whole = [...chain.map((link) => (link.next === "to" ? `${link.verb} to` : link.verb)), base].join(
    " ",
  );
  return unique([
    ...(verb.lemma === "do" ? listAnsweringRelations(chain.map((link) => `${link.verb} to`).join(" ")) : []),
    ...passives(verb, base, joints),
    ...(frame.wh === "how" ? byQuestionWord(frame, base, joints) : []),
    ...joined(whole, base, joints),
    ...(frame.wh === "how" ? [] : byQuestionWord(frame, base, joints)),
    ...listAnsweringRelations(toCanonicalRelation(whole)),
    whole,
    ...inChain(chain, base),
  ]);
}

function byQuestionWord(frame: Frame, base: string, { stranded }: Joints): readonly string[] {
  if (frame.wh === "where") return placed(base);
  if (frame.wh === "who" && !stranded) return [`${base} for`, `${base} with`];
  const isWay = frame.wh === "how" && frame.topic === "" && /^(?:get|travel|commute|go)$/.test(base);
  // "How do I take my tea?"
  if (frame.wh === "how" && base === "take") return ["like", "drink", "prefer", "take"];
  return isWay ? WAYS : [];
}

/** "How do I prefer to travel?": the travelling, and the preference. */
function inChain(chain: Verb["chain"], base: string): string[] {
  if (chain.length === 0) return [];
  const liking = chain.find((link) => /^(?:prefer|like|love|hate|enjoy)$/.test(link.verb));
  return [base, ...listAnsweringRelations(base), ...(liking ? listAnsweringRelations(liking.verb) : [])];
}

function unique(relations: readonly string[]): string[] {
  return [...new Set(relations)];
}

/** "What am I scared of?" */
function passives(verb: Verb, base: string, { stranded, adjacent }: Joints): string[] {
  if (!verb.passive) return [];
  return [stranded, adjacent].flatMap((joint) =>
    joint ? listAnsweringRelations(toCanonicalRelation(`be ${toPastParticiple(base)} ${joint}`)) : [],
  );
}

function joined(whole: string, base: string, { stranded, adjacent }: Joints): string[] {
  const joint = stranded ?? adjacent;
  return joint
    ? [...listAnsweringRelations(toCanonicalRelation(`${whole} ${joint}`)), `${base} ${joint}`]
    : [];
}

function placed(base: string): string[] {
  return [
    ...PLACES.map((joint) => toCanonicalRelation(`${base} ${joint}`)),
    ...["in", "at", "to"].flatMap((joint) => listAnsweringRelations(`${base} ${joint}`)),
  ];
}

/** "Do I have any allergies?": what is had may be said with a verb of its own ("be allergic to"). */
export function hadRelations(noun: string): readonly string[] {
  return listAttributeRelations(toSingular(noun.toLowerCase().split(" ").at(-1) ?? ""));
}

/** The verbs of a group in base form: "plan to hike". */
export function verbBase(verb: Verb): string {
  const chain = verb.chain.map((link) => `${link.verb}${link.next === "to" ? " to" : ""}`);
  return [...chain, verb.lemma].join(" ");
}

/** A relation and all that answer it too. */
export function withAnswers(...relations: readonly string[]): string[] {
  return unique(
    relations.flatMap((relation) => [...listAnsweringRelations(toCanonicalRelation(relation)), relation]),
  );
}
