import type { Question } from "../../../ports/language/question-reader.ts";
import { joinSpan } from "../grammar/clauses/head-words.ts";
import { readNounPhrase } from "../grammar/clauses/noun-phrases.ts";
import { type Phrase, phrasesOf } from "../grammar/clauses/phrases.ts";
import { readVerb, type Verb } from "../grammar/clauses/verbs.ts";
import { tidy } from "../grammar/context.ts";
import { AUXILIARIES, BE, BOUND_ADJECTIVES, FIRST_PERSON, PREPOSITIONS } from "../grammar/words/lexicon.ts";
import type { Token } from "../grammar/words/token.ts";
import { listAnsweringRelations, toCanonicalRelation } from "../relations/relations.ts";
import { copulaQuestion } from "./question-copula.ts";
import {
  type Asking,
  askedFor,
  type Frame,
  headOf,
  narrowing,
  pathAt,
  topicPart,
  valueText,
} from "./question-parts.ts";
import { hadRelations, relationsFor, verbBase, withAnswers } from "./question-relations.ts";
import {
  auxiliaryTense,
  isTopicVerb,
  mainVerb,
  skipNegation,
  strandedAt,
  subjectEnd,
} from "./question-verbs.ts";

const WH = /^(?:what|which|who|whom|whose|where|when|why|how)$/;

function isWh(token: Token | undefined): token is Token {
  return WH.test(token?.lower ?? "");
}

function skipLight(tokens: readonly Token[], from: number): number {
  let at = from;
  while (isLight(tokens[at])) at += 1;
  return at;
}

function isLight(token: Token | undefined): boolean {
  if (!token) return false;
  return ["adverb", "other"].includes(token.class) || ["and", "so", "but"].includes(token.lower);
}

/** "What do I use for work?", "Which keyboard …", "Who feeds my fish?" */
export function whQuestion(asking: Asking): Question | undefined {
  const { tokens } = asking;
  let at = skipLight(tokens, 0);
  const isLed = tokens[at]?.class === "preposition" && isWh(tokens[at + 1]);
  const stranded = isLed ? tokens[at]?.lower : undefined;
  if (isLed) at += 1;
  const wh = tokens[at];
  if (!isWh(wh)) return undefined;
  // "which of my friends", "how many", "what kind of"
  let verbAt = at + 1;
  while (verbAt < tokens.length && (tokens[verbAt]?.class !== "verb" || isTopicVerb(tokens, verbAt, at)))
    verbAt += 1;
  const own = ownSubject(asking, at + 1, verbAt, wh.lower);
  if (own || verbAt >= tokens.length) return own;
  const topic = topicOf(asking, at + 1, verbAt);
  return framed(asking, { wh: wh.lower, topic, ...(stranded ? { stranded } : {}) }, verbAt);
}

function topicOf(asking: Asking, from: number, to: number): string {
  if (from >= to) return "";
  return tidy(joinSpan(asking.tokens, [from, to]))
    .replace(/^(?:of )?(?:kinds?|types?|sorts?|brands?|makes?|models?) of /i, "")
    .replace(/^the /i, "");
}

/** "where I live", "what my sister does": the order of a statement. */
function ownSubject(asking: Asking, from: number, verbAt: number, wh: string): Question | undefined {
  const { tokens } = asking;
  const start = tokens.findIndex((token, i) => i >= from && i < verbAt && opensSubject(token));
  const verb = start < 0 ? undefined : readVerb(tokens, verbAt, tokens.length);
  if (!verb) return undefined;
  const subject = pathAt(asking, start, verbAt);
  return assemble(asking, { wh, topic: topicOf(asking, from, start) }, { subject, verb, from: verb.to });
}

function opensSubject(token: Token): boolean {
  const isPronoun = token.class === "pronoun" && ["i", "we", "he", "she", "they", "it"].includes(token.lower);
  return isPronoun || token.class === "possessive";
}

/** From the verb on: auxiliary, subject, main verb, rest. */
function framed(asking: Asking, frame: Frame, verbAt: number): Question | undefined {
  const { tokens } = asking;
  const auxiliary = tokens[verbAt]?.lower ?? "";
  const start = skipNegation(tokens, verbAt + 1);
  const first = tokens[start];
  if (!AUXILIARIES.has(auxiliary)) return subjectQuestion(asking, frame, verbAt);
  if (!first) return undefined;
  if (["verb", "adverb", "preposition", "adjective"].includes(first.class))
    return subjectQuestion(asking, frame, verbAt);
  const end = first.class === "pronoun" ? start + 1 : subjectEnd(tokens, start, auxiliary);
  const main = mainVerb(tokens, verbAt, end);
  if (!main && BE.has(auxiliary)) {
    const member = first.class === "pronoun" ? memberQuestion(asking, frame, start, end) : undefined;
    return (
      member ??
      relativeQuestion(asking, frame, start, end) ??
      copulaQuestion(asking, frame, { start, end, auxiliary })
    );
  }
  const verb = main ?? readVerb(tokens, verbAt, verbAt + 1);
  if (!verb) return undefined;
  const subject = pathAt(asking, start, end) ?? unknownName(asking, start, end);
  return assemble(asking, frame, {
    subject,
    verb: withAuxiliary(tokens, auxiliary, verb, main),
    from: main ? main.to : end,
  });
}

/** "Where does tom live?", of whom nothing is known: still of him, and not of the one who asks. */
function unknownName({ tokens }: Asking, start: number, end: number): string | undefined {
  const token = tokens[start];
  const isOne = end - start === 1 && token !== undefined && ["noun", "name"].includes(token.class);
  return isOne ? token.word.charAt(0).toUpperCase() + token.word.slice(1) : undefined;
}

/** The main verb with what the auxiliary before the subject says of it. */
function withAuxiliary(
  tokens: readonly Token[],
  auxiliary: string,
  verb: Verb,
  main: Verb | undefined,
): Verb {
  const isForm = main !== undefined && !/ing$/.test(tokens[main.to - 1]?.lower ?? "");
  return {
    ...verb,
    perfect: verb.perfect || /^(?:have|has|had)$/.test(auxiliary),
    passive: verb.passive || (BE.has(auxiliary) && isForm),
    tense: auxiliaryTense(auxiliary, verb),
  };
}

/** "What are the tools that I use?" asks what "Which tools do I use?" asks. */
function relativeQuestion(asking: Asking, frame: Frame, start: number, end: number): Question | undefined {
  const { tokens } = asking;
  const named = tidy(joinSpan(tokens, [start, end]))
    .replace(OUTER_WORDS, "")
    .replace(ANY_ONE, "");
  if (!/^(?:what|which|who|whom)$/.test(frame.wh) || (frame.topic !== "" && named !== "")) return undefined;
  const from = /^(?:that|which|who|whom)$/.test(tokens[end]?.lower ?? "") ? end + 1 : end;
  const opener = tokens[from];
  if (!opener || !(opensSubject(opener) || opener.class === "name")) return undefined;
  const to = opener.class === "pronoun" ? from + 1 : readNounPhrase(tokens, from, tokens.length);
  const verb = to === undefined ? undefined : readVerb(tokens, skipLight(tokens, to), tokens.length);
  if (to === undefined || !verb || (verb.copula && strandedAt(tokens, verb.to) === undefined))
    return undefined;
  return assemble(
    asking,
    { ...frame, topic: named === "" ? frame.topic : named },
    { subject: pathAt(asking, from, to) ?? unknownName(asking, from, to), verb, from: verb.to },
  );
}

const OUTER_WORDS =
  /^(?:(?:all|names?) (?:of )?)*(?:the|my|our|those|some of the)? ?(?:names? of (?:the |my )?)?/i;
const ANY_ONE = /^(?:persons?|people|guys?|ones?)$/i;

/** "What am I a member of?" */
function memberQuestion(asking: Asking, frame: Frame, start: number, end: number): Question | undefined {
  const rest = asking.tokens.slice(end);
  const subject = pathAt(asking, start, end);
  if (rest.length < 2 || !PREPOSITIONS.has(rest.at(-1)?.lower ?? "") || !subject) return undefined;
  const relation = `be ${rest.map(({ lower }) => lower).join(" ")}`;
  return {
    asks: askedFor(frame),
    subject,
    relations: [relation, ...listAnsweringRelations(relation)],
    ...topicPart(frame),
    tense: "present",
  };
}

/** "Who feeds my fish?", "What happened to my bike?": the question word is the subject. */
function subjectQuestion(asking: Asking, frame: Frame, verbAt: number): Question | undefined {
  const { tokens } = asking;
  const verb = readVerb(tokens, verbAt, tokens.length);
  if (!verb) return undefined;
  const [first] = phrasesOf(tokens, verb.to, tokens.length);
  const joint = first?.kind === "preposition" || first?.kind === "adjective" ? first.head : undefined;
  const base = verb.copula && joint ? `be ${joint}` : verb.lemma;
  const relation = joint && !base.endsWith(` ${joint}`) ? `${base} ${joint}` : base;
  const rest = narrowing(asking, verb.to).narrows;
  const kind = frame.topic === "" || frame.wh === "who" ? "" : `${frame.topic} `;
  return {
    asks: askedFor(frame),
    relations: [...new Set([...withAnswers(relation), ...listAnsweringRelations(base)])].filter(
      (one) => one !== "be" || verb.copula,
    ),
    ...(rest ? { topic: `${kind}${rest}` } : topicPart(frame)),
    tense: verb.tense === "past" ? "past" : "present",
  };
}

interface Parts {
  readonly subject: string | undefined;
  readonly verb: Verb;
  /** Where what follows the verb begins. */
  readonly from: number;
}

/** A question with subject and main verb: "What do I use for work?" */
function assemble(asking: Asking, frame: Frame, { subject, verb, from }: Parts): Question {
  const { tokens } = asking;
  const [first] = phrasesOf(tokens, from, tokens.length);
  const adjacent = first?.kind === "preposition" || first?.kind === "adjective" ? first.head : undefined;
  const stranded = frame.stranded ?? strandedAt(tokens, from);
  const had = verb.lemma === "have" ? hadRelations(hadThing(tokens, frame, first)) : [];
  return {
    asks: askedFor(frame),
    ...(subject ? { subject } : {}),
    relations: [...new Set([...relationsFor(frame, verb, { stranded, adjacent }), ...had])],
    ...topicPart(frame),
    ...narrowing(asking, from),
    tense: verb.tense,
  };
}

function hadThing(tokens: readonly Token[], frame: Frame, first: Phrase | undefined): string {
  if (frame.topic !== "") return frame.topic;
  return first?.kind === "noun" ? headOf(tokens, first.from, first.to) : "";
}

/** "Do I have any allergies?", "Am I anaemic or asthmatic?", "Is my brother married?" */
export function yesNo(asking: Asking): Question | undefined {
  const { tokens } = asking;
  const at = skipLight(tokens, 0);
  const auxiliary = tokens[at]?.lower ?? "";
  const start = skipNegation(tokens, at + 1);
  const first = tokens[start];
  if (!first || !AUXILIARIES.has(auxiliary)) return undefined;
  const end = first.class === "pronoun" ? start + 1 : subjectEnd(tokens, start, auxiliary);
  const subject = pathAt(asking, start, end);
  const main = mainVerb(tokens, at, end);
  const base = yesNoBase(auxiliary, main);
  return told(asking, { subject, base, from: main ? main.to : end, tense: auxiliaryTense(auxiliary, main) });
}

function yesNoBase(auxiliary: string, main: Verb | undefined): string {
  if (!main) return BE.has(auxiliary) ? "be" : "have";
  if (auxiliary === "can" && main.chain.length === 0) return `can ${main.lemma}`;
  return main.lemma === "be" && /^ha(?:ve|s|d)$/.test(auxiliary) ? "have been" : verbBase(main);
}

/** "I still live in Leeds?", and what people name to have it forgotten: "I owe my brother money". */
export function stated(asking: Asking): Question | undefined {
  const { tokens } = asking;
  const at = skipLight(tokens, 0);
  const first = tokens[at];
  if (first?.class !== "pronoun" || !FIRST_PERSON.has(first.lower)) return undefined;
  const start = tokens.findIndex((token, i) => i > at && token.class === "verb");
  const verb = start > at && start <= at + 3 ? readVerb(tokens, start, tokens.length) : undefined;
  return verb && told(asking, { subject: "user", base: verbBase(verb), from: verb.to, tense: verb.tense });
}

interface Told {
  readonly subject: string | undefined;
  /** The verbs in base form. */
  readonly base: string;
  readonly from: number;
  readonly tense: Verb["tense"];
}

/** A question that names the whole of what may be so. */
function told(asking: Asking, { subject, base, from, tense }: Told): Question {
  const { tokens } = asking;
  const object = phrasesOf(tokens, from, tokens.length).find(({ kind }) =>
    ["noun", "preposition", "adjective"].includes(kind),
  );
  const value = namedValue(tokens, object, from);
  const common = { asks: "yes_no" as const, ...(subject ? { subject } : {}), tense };
  const named =
    liked(asking, base, from) ?? (base === "be" ? (membership(value) ?? boundTo(value)) : undefined);
  if (named) return { ...common, ...named };
  const joint = object?.kind === "noun" ? undefined : object?.head;
  const joined = joint ? `${base} ${joint}` : base;
  const had = base === "have" ? hadRelations(value) : [];
  const able = base.startsWith("can ") ? withAnswers(joined.slice(4)) : [];
  return {
    ...common,
    relations: [
      ...new Set([
        ...withAnswers(joined),
        ...listAnsweringRelations(toCanonicalRelation(base)),
        ...able,
        ...had,
      ]),
    ],
    ...(value === "" ? {} : { value }),
    ...narrowing(asking, from),
  };
}

type Named = Pick<Question, "relations" | "value" | "narrows">;

/** "Do I prefer walking or the bus?" */
function liked({ tokens }: Asking, base: string, from: number): Named | undefined {
  const verb = /^(?:would )?(?:prefer|rather) (?:to )?(?<verb>\w+)$/.exec(base)?.groups?.verb;
  if (verb === undefined) return undefined;
  const value = tidy(`${verb} ${joinSpan(tokens, [from, tokens.length])}`);
  return { relations: ["prefer", "like", "love"], value };
}

/** "Am I still a member of the zoo?" */
function membership(value: string): Named | undefined {
  const found =
    /^(?:still )?(?:an? )?(?<role>member|fan|subscriber|supporter|patron) of (?:the )?(?<of>.+)$/i.exec(
      value,
    )?.groups;
  if (!found?.role || !found.of) return undefined;
  return { relations: [`be a ${found.role.toLowerCase()} of`, "be with", "be in", "be"], value: found.of };
}

/** "Am I still engaged?": to whomever. */
function boundTo(value: string): Named | undefined {
  const word = value.toLowerCase().replace(/^still /, "");
  if (!/^(?:engaged|married|subscribed|addicted|scared|enrolled|registered)$/.test(word)) return undefined;
  const joints = BOUND_ADJECTIVES[word]?.split(" ") ?? [];
  return {
    relations: [...joints.map((joint) => toCanonicalRelation(`be ${word} ${joint}`)), "be"],
    narrows: value,
  };
}

function namedValue(tokens: readonly Token[], object: Phrase | undefined, from: number): string {
  if (!object) return tidy(joinSpan(tokens, [from, tokens.length]));
  return valueText(tokens, object.items[0]?.[0] ?? object.from, object.items.at(-1)?.[1] ?? object.to);
}
