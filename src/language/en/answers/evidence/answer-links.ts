import { toBaseForm, toSingular } from "../../../../domain/text/english-forms.ts";
import { isKnownNoun } from "../../kinds/kinds.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { key } from "../essence.ts";
import { type Analysis, isMet, isOfKindByAny, keysOf } from "./analysis.ts";
import { isClock, isNumber, isTimeWord } from "./answer-types.ts";
import { type Inquiry, isPerson, isRole } from "./inquiry.ts";

/** How near, in its tree, a statement says something that can be the answer to what it shares with the question. */
type LinkFeature =
  | "link"
  | "linkThing"
  | "linkNone"
  | "linkNoneThing"
  | "linkOwn"
  | "topicNear"
  | "topicModified"
  | "nameLinked"
  | "nameUnlinked"
  | "jobTold"
  | "jobUntold";

/** Words that say nothing of a thing: "new", "good". */
const PLAIN =
  /^(?:new|good|great|nice|lovely|old|big|small|little|own|other|same|first|last|next|whole|only|current|more|many|much|few|such|sure|fine|ok|okay|done|here|there|back|home|today|now|again|still|just|one|thing|lot|bit|user)$/;
const CONTENT = /^(?:NOUN|PROPN|NUM|ADJ|VERB|X|SYM)$/;
const PLACE_CASE =
  /^(?:in|at|to|from|near|behind|under|above|below|beside|by|on|outside|inside|into|over|opposite|around|between|off|for|with|of)$/;
const ASKS_NAME = /\b(?:name|named|called|nickname|nicknamed)\b/i;

/** Compares where a statement meets the question with where it tells something new, by its tree. */
export function compareAnswerLinks(
  inquiry: Inquiry,
  { sentences }: Analysis,
  similarity: WordSimilarity,
): Record<LinkFeature, number> {
  const { type, text } = inquiry;
  const own = ownKeys(inquiry);
  const asksName = ASKS_NAME.test(text);
  const found = sentences.map((tokens) => linksIn(inquiry, tokens, own, asksName, similarity));
  const link = Math.max(0, ...found.map((one) => one.link));
  const hasAnswer = found.some((one) => one.hasAnswer);
  const asksJob = ASKS_JOB.test(text);
  const isJob = asksJob && sentences.some(tellsJob);
  const isThing = type === "thing";
  const isOpen = type !== "yes_no" && type !== "manner";
  return {
    link: isOpen ? link : 0,
    linkThing: isThing ? link : 0,
    linkNone: Number(isOpen && !hasAnswer),
    linkNoneThing: Number(isThing && !hasAnswer),
    linkOwn: Number(isOpen && !found.some((one) => one.hasNew)),
    topicNear: Math.max(0, ...found.map((one) => one.near)),
    topicModified: Number(found.some((one) => one.isModified)),
    nameLinked: Number(asksName && link >= 0.5),
    nameUnlinked: Number(asksName && link < 0.5),
    jobTold: Number(asksJob && isJob),
    jobUntold: Number(asksJob && !isJob),
  };
}

/** What one sentence of a statement holds. */
interface SentenceLinks {
  /** 1 where what can be the answer stands right at what the question shares; less by steps in the tree. */
  readonly link: number;
  readonly hasAnswer: boolean;
  readonly hasNew: boolean;
  /** Whether something is told of the kind that is asked for. */
  readonly isModified: boolean;
  /** The greatest cosine of the kind that is asked for and something new. */
  readonly near: number;
}

function linksIn(
  inquiry: Inquiry,
  tokens: readonly ParsedToken[],
  own: ReadonlySet<string>,
  asksName: boolean,
  similarity: WordSimilarity,
): SentenceLinks {
  const { topic } = inquiry;
  const isNew = ({ pos, lower }: ParsedToken): boolean =>
    CONTENT.test(pos) && !PLAIN.test(lower) && !keysOf(lower).some((one) => own.has(one));
  const anchors = tokens.flatMap((token, i) => (isAnchor(inquiry, token) ? [i] : []));
  const answers = tokens.flatMap((token, i) =>
    isNew(token) && mayAnswer(inquiry, tokens, i, asksName) ? [i] : [],
  );
  const steps = answers.flatMap((answer) => anchors.map((anchor) => stepsBetween(tokens, answer, anchor)));
  const nouns = tokens.filter((token) => isNew(token) && token.pos !== "VERB");
  return {
    link: steps.length === 0 ? 0 : 1 / Math.max(1, Math.min(...steps)),
    hasAnswer: answers.length > 0,
    hasNew: tokens.some(isNew),
    isModified:
      topic !== undefined && tokens.some((token, i) => isSingular(token, topic) && isTold(tokens, i, isNew)),
    near: topic === undefined ? 0 : Math.max(0, ...nouns.map(({ lower }) => similarity(topic, lower))),
  };
}

const ASKS_JOB =
  /\b(?:job|occupation|profession|line of work|for a living|work as)\b|\bwhat (?:do|does) (?:i|my \w+|\p{Lu}\w+) do\W*$/iu;
const STATIVE =
  /^(?:be|have|like|love|want|need|know|think|say|live|go|get|hate|feel|hope|call|prefer|own|turn|mean|seem|look|find|take|come|make)$/;

/** Whether somebody is of a trade, works somewhere, or does something all the time. */
function tellsJob(tokens: readonly ParsedToken[]): boolean {
  return tokens.some(({ lower, pos, tag, label }, at) => {
    if (keysOf(lower).includes(key("work")) && pos === "VERB") return true;
    const has = (wanted: RegExp): boolean => tokens.some((one) => one.head === at && wanted.test(one.label));
    if (pos === "NOUN")
      return (
        !isRole(lower) && isPerson(toSingular(lower)) && (has(/^cop$/) || /^(?:appos|conj)$/.test(label))
      );
    return (
      /^(?:VBP|VBZ)$/.test(tag) &&
      pos === "VERB" &&
      !STATIVE.test(toBaseForm(lower)) &&
      has(/^obj$/) &&
      has(/^nsubj/)
    );
  });
}

function ownKeys({ words, parties, topic }: Inquiry): Set<string> {
  return new Set([
    ...words.map((word) => word.key),
    ...parties.names.map(key),
    ...parties.roles.map(key),
    ...(topic === undefined ? [] : [key(topic)]),
  ]);
}

function isSingular({ lower }: ParsedToken, noun: string): boolean {
  return toSingular(lower) === noun || keysOf(lower).includes(key(noun));
}

/** Whether a word of a statement is one of the question's: the same, of the kind that it names, or the person. */
function isAnchor({ words, parties }: Inquiry, { lower, pos }: ParsedToken): boolean {
  if (!/^(?:NOUN|PROPN|VERB|ADJ|NUM|ADV)$/.test(pos)) return false;
  const keys = new Set(keysOf(lower));
  if (words.some((word) => isMet(word.key, keys))) return true;
  const others = [...parties.names, ...parties.roles];
  if (others.some((party) => keys.has(key(party)))) return true;
  if (pos !== "NOUN" && pos !== "PROPN") return false;
  return (
    words.some(({ isTopic, isVerb, base }) => !isTopic && !isVerb && isOfKindByAny(lower, base)) ||
    others.some((party) => isOfKindByAny(lower, party))
  );
}

/** Whether a word can be what is asked for: a name, a place, a time, a number, a thing of the kind. */
function mayAnswer(
  { type, topic }: Inquiry,
  tokens: readonly ParsedToken[],
  at: number,
  asksName: boolean,
): boolean {
  const token = tokens[at] as ParsedToken;
  const { lower, pos, text } = token;
  if (asksName) return isName(tokens, at) && !hasCase(tokens, at);
  switch (type) {
    case "person":
      return isName(tokens, at) || isPerson(toSingular(lower));
    case "place":
      return (
        isName(tokens, at) || hasCase(tokens, at) || (topic !== undefined && isOfKindByAny(lower, topic))
      );
    case "time":
      return isTimeWord(text) || isClock(text);
    case "number":
      return pos === "NUM" || isNumber(text);
    default:
      return topic === undefined ? true : isOfTopic(tokens, at, topic);
  }
}

function isName(tokens: readonly ParsedToken[], at: number): boolean {
  const { pos, text, lower } = tokens[at] as ParsedToken;
  if (pos === "PROPN") return true;
  return at > 0 && /^\p{Lu}\p{Ll}/u.test(text) && !isKnownNoun(lower);
}

/** "at St Jude": a word that a preposition joins to the rest is somebody's place, not a name. */
function hasCase(tokens: readonly ParsedToken[], at: number): boolean {
  return tokens.some(({ head, label, lower }) => head === at && label === "case" && PLACE_CASE.test(lower));
}

/** A thing of the kind, a name that may be one, a noun that no table knows, or what is told of the kind itself. */
function isOfTopic(tokens: readonly ParsedToken[], at: number, topic: string): boolean {
  const { lower, pos, head, label } = tokens[at] as ParsedToken;
  if (isOfKindByAny(lower, topic)) return true;
  const above = tokens[head];
  if (above !== undefined && isSingular(above, topic))
    return /^(?:amod|compound|nummod|appos|nmod|flat|obl|acl)/.test(label);
  const isOther =
    label === "compound" &&
    above?.pos === "NOUN" &&
    isKnownNoun(toSingular(above.lower)) &&
    !isOfKindByAny(above.lower, topic);
  if (pos === "PROPN") return !isOther;
  if (pos === "NOUN" || pos === "ADJ") {
    const isPredicate = tokens.some(
      (one) => one.head === at && one.label.startsWith("nsubj") && isSingular(one, topic),
    );
    return isPredicate || (pos === "NOUN" && !isKnownNoun(toSingular(lower)));
  }
  return false;
}

/** Whether something is told of a noun itself: an adjective, a name, what it is. */
function isTold(tokens: readonly ParsedToken[], at: number, isNew: (token: ParsedToken) => boolean): boolean {
  const { head, label } = tokens[at] as ParsedToken;
  const above = tokens[head];
  const isSubjectOf =
    label.startsWith("nsubj") &&
    above !== undefined &&
    /^(?:NOUN|PROPN|ADJ|NUM)$/.test(above.pos) &&
    isNew(above);
  return (
    isSubjectOf ||
    tokens.some(
      (one) => one.head === at && /^(?:amod|compound|appos|flat|nmod)$/.test(one.label) && isNew(one),
    )
  );
}

/** The number of steps in the tree from one word to another. */
function stepsBetween(tokens: readonly ParsedToken[], one: number, other: number): number {
  const up = new Map<number, number>();
  for (let at = one, steps = 0; at >= 0 && steps < tokens.length; steps += 1) {
    up.set(at, steps);
    at = tokens[at]?.head ?? -1;
  }
  for (let at = other, steps = 0; at >= 0 && steps < tokens.length; steps += 1) {
    const known = up.get(at);
    if (known !== undefined) return known + steps;
    at = tokens[at]?.head ?? -1;
  }
  return tokens.length;
}

/** Cosine of two words, by the embedder in use; 0 where it is on a server. */
export type WordSimilarity = (one: string, other: string) => number;
