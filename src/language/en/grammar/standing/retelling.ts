import type { Clause } from "../clauses/clauses.ts";
import { isTimeNoun } from "../time/times.ts";
import { FIRST_PERSON } from "../words/lexicon.ts";
import { isKnownWord } from "../words/tagger.ts";
import type { Token } from "../words/token.ts";
import { isAnchored } from "./anchors.ts";
import { isTelling, type ToldClaim } from "./telling.ts";

/**
 * Whether what somebody said among people can be told to one who was not there: it has a subject of its own, its
 * words mean the same without those before them, the clause was read to its end, and it tells something of a life.
 */
export function isRetellable(told: ToldClaim): boolean {
  return CHECKS.every((holds) => holds(told));
}

const CHECKS: readonly ((told: ToldClaim) => boolean)[] = [
  hasSubject,
  isDoing,
  isOfOne,
  isReadWhole,
  isEvenList,
  isClear,
  isTelling,
];

function hasSubject(told: ToldClaim): boolean {
  const { clause, subject } = told.statement;
  if (!clause.subject) return subject.animate && isLeftOutRightly(clause);
  const first = clause.tokens[clause.subject[0]];
  const isAlone = clause.subject[1] - clause.subject[0] === 1;
  if (!first || /^(?:it|this|that|these|those|they|what|which|there|all)$/.test(first.lower)) return false;
  if (hangsOnNoun(clause, clause.subject[0]) || isObjectBefore(clause, clause.subject[0])) return false;
  if (isAlone && /^(?:he|she|who)$/.test(first.lower)) return isNamedBefore(told);
  if (subject.path === told.context.discourse.speaker.path) return true;
  return subject.path.includes("/") ? isOwned(told) : isSomebody(told);
}

/** "Went to Rome in May", "… and adopted a cat": what was done, behind a subject or at the beginning. */
function isLeftOutRightly({ tokens, verb, shares, rest }: Clause): boolean {
  const first = tokens[verb.from];
  if (!first || verb.modal || verb.tense !== "past" || verb.copula) return false;
  const next = tokens[rest[0]]?.class ?? "";
  // "Excited for the trip", "scared to ask" is no deed: what was done has an object, or is no form in "-ed".
  const hasObject = ["determiner", "possessive", "name", "number", "noun"].includes(next);
  const isDeed = !/ed$/.test(first.lower) || hasObject || verb.chain.length > 0;
  if (shares) return isDeed || (next === "preposition" && tokens[rest[0]]?.lower !== "to");
  // "Took some time": it did, and not I.
  return isDeed && !/^(?:take|help|make|mean|turn|cost|feel|seem|sound|bring|give|remind)$/.test(verb.lemma);
}

/** "the advice I got", "something we love": said of the noun before it, and no statement. */
function hangsOnNoun({ tokens }: Clause, at: number): boolean {
  const before = tokens[at - 1];
  const isPronoun = /^(?:i|we|he|she)$/.test(tokens[at]?.lower ?? "");
  if (isPronoun && /^(?:which|whom|whose|what)$/.test(before?.lower ?? "")) return true;
  if (!before || !isPronoun || before.after.trim() !== "" || isTimeNoun(before.lower)) return false;
  const isHead = before.class === "adjective" && tokens[at - 2]?.class === "determiner";
  return isHead || ["noun", "name", "pronoun", "determiner"].includes(before.class);
}

/** "playing against OUR RIVALS made it hard", "it felt like I flew": the subject belongs to the word before it. */
function isObjectBefore({ tokens }: Clause, at: number): boolean {
  const before = tokens[at - 1];
  return before !== undefined && (before.class === "preposition" || /^(?:like|as)$/.test(before.lower));
}

/** "She has two cats", after "my sister Ana lives in Porto": named in the same message. */
function isNamedBefore({ context, statement }: ToldClaim): boolean {
  const { subject } = statement;
  const said = context.content.slice(0, statement.start).toLowerCase();
  const name = (subject.name ?? subject.path.split("/").at(-1) ?? "").toLowerCase();
  const isPerson = subject.animate && (subject.path.includes("/") || subject.name !== undefined);
  return isPerson && name.length > 1 && new RegExp(`(?<!\\p{L})${escaped(name)}(?!\\p{L})`, "u").test(said);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** "my laptop", "Ana's boss": whose it is stands with it. A thing does nothing that lies ahead. */
function isOwned({ context, statement }: ToldClaim): boolean {
  const { clause, subject } = statement;
  const words = clause.tokens.slice(...(clause.subject ?? [0, 0]));
  const isBound = words.some(
    (token) => token.owner || token.class === "possessive" || FIRST_PERSON.has(token.lower),
  );
  const isKin = subject.animate && subject.gender !== undefined;
  const isOwn = subject.path.startsWith(`${context.discourse.speaker.path}/`);
  // "Her books": the things of others tell of nobody here.
  if (!subject.animate && (!isOwn || clause.verb.modal !== undefined)) return false;
  return isBound || isKin;
}

/** A person by name, who is none of those that talk: they speak for themselves. */
function isSomebody({ context, statement }: ToldClaim): boolean {
  const { clause, subject } = statement;
  const words = clause.tokens.slice(...(clause.subject ?? [0, 0]));
  const isPerson = words.every((token) => token.class === "name") && words.some(isGivenName);
  const isHere = context.earlier.some(({ name }) => name === subject.path);
  return isPerson && !isHere && clause.verb.modal === undefined;
}

function isGivenName({ tags }: Token): boolean {
  return tags.has("FirstName") || tags.has("Person");
}

const ABLE =
  /^(?:speak|play|swim|drive|cook|ride|read|sing|dance|ski|code|knit|sew|bake|eat|drink|walk|run|juggle|whistle|draw|paint|fly|sail|surf|skate|afford)$/;

/** What is done, or is so; not what could, must or should be. */
function isDoing({ statement }: ToldClaim): boolean {
  const { verb, tokens, subject, rest } = statement.clause;
  if (!isKnownWord(verb.lemma.split(" ")[0] ?? "") || (/^(?:call|name)$/.test(verb.lemma) && !verb.passive))
    return false;
  if (/^(?:be|get|feel)$/.test(verb.lemma) && verb.chain.length > 0 && isQuality(tokens[rest[0]]))
    return false;
  if (verb.modal === undefined || verb.modal === "will" || verb.modal === "would rather") return true;
  if (verb.modal === "would") return verb.chain.length > 0;
  return verb.modal === "can" && tokens[subject?.[0] ?? -1]?.lower === "i" && ABLE.test(verb.lemma);
}

/** What takes two: told of one it is half. */
const MUTUAL =
  /^(?:bond|connect|meet|chat|talk|hug|agree|argue|relate|hang out|get along|share|match|clash|split up|break up)$/;

/** What "we" do, each of us does; but not what all people do, must do, or are to one another. */
function isOfOne({ statement }: ToldClaim): boolean {
  const { verb, tokens, subject, rest } = statement.clause;
  if (!subject) return true;
  const between = tokens.slice(subject[1], verb.from);
  if (between.some(({ lower }) => /^(?:all|each|both)$/.test(lower))) return false;
  const isMore = tokens.slice(...subject).some(({ lower }) => lower === "we") || subject[1] - subject[0] > 1;
  if (isMore && tokens.slice(...rest).some(({ lower }) => lower === "together")) return false;
  if (tokens[subject[0]]?.lower !== "we") return true;
  if (tokens[rest[0]]?.lower === "all" || MUTUAL.test(verb.lemma)) return false;
  // "We were teammates" is half of it without the other.
  const joint = tokens.findIndex(
    ({ class: kind }, at) => at >= rest[0] && at < rest[1] && kind === "preposition",
  );
  const told = tokens.slice(rest[0], joint < 0 ? rest[1] : joint);
  if (verb.copula && told.at(-1)?.tags.has("Plural")) return false;
  const isDuty = /^(?:have|need|get)$/.test(verb.chain[0]?.verb ?? "") || verb.lemma === "need";
  return verb.modal === undefined && !isDuty;
}

/** "want to be BRAVE": how one would be, and not what. */
function isQuality(token: Token | undefined): boolean {
  return token !== undefined && (token.class === "adjective" || !isKnownWord(token.lower));
}

/** No verb was left behind that no clause took: "my crew nearby HELPS me out". */
function isReadWhole({ statement }: ToldClaim): boolean {
  const { tokens, rest, verb } = statement.clause;
  if (/^(?:how|what|why|when|where|whether|if|who|so|as|than|because)$/.test(tokens[rest[0]]?.lower ?? ""))
    return false;
  for (let at = rest[0]; at < rest[1]; at += 1) {
    if (/^(?:whatever|whoever|however|whichever)$/.test(tokens[at]?.lower ?? "")) return false;
    if (isStranded(tokens, at, rest[1]) || isLeftVerb(tokens, at, rest[0], verb.to)) return false;
  }
  return true;
}

function isLeftVerb(tokens: readonly Token[], at: number, from: number, verbEnd: number): boolean {
  const token = tokens[at];
  // "-ing" and "-ed" can be a thing or a quality.
  if (token?.class !== "verb" || /(?:ing|ed|en|wn)$/.test(token.lower)) return false;
  const isJoined = at > verbEnd && /^(?:to|that|who|which|and|or|not)$/.test(tokens[at - 1]?.lower ?? "");
  return !isJoined && !opensInside(tokens, from, at);
}

/** "a chat WITH at the fair": what it took stands before the clause. */
function isStranded(tokens: readonly Token[], at: number, to: number): boolean {
  const next = tokens[at + 1];
  if (tokens[at]?.class !== "preposition") return false;
  if (ADVERBIAL.test(tokens[at]?.lower ?? "")) return false;
  const isEnd = at + 1 >= to || tokens[at]?.after.trim() !== "";
  return (
    isEnd || (next?.class === "preposition" && !/^(?:of|to|from|about|over|around|under)$/.test(next.lower))
  );
}

/** Prepositions that stand alone as well: "back home", "all over", "up in the hills". */
const ADVERBIAL =
  /^(?:up|down|out|off|over|back|away|around|along|by|inside|outside|near|past|through|together|about|in|on|as|than|like|because|instead|out of)$/;

/** "stories that tackle hard issues": brought in by a word of its own. */
function opensInside(tokens: readonly Token[], from: number, at: number): boolean {
  return tokens
    .slice(Math.max(from, at - 4), at)
    .some(({ lower, class: kind }) => /^(?:that|who|which|to)$/.test(lower) || kind === "negation");
}

/** Of "hiking in the hills and exploring caves" each member must go with the words before the first. */
function isEvenList({ context, statement, proposal }: ToldClaim): boolean {
  const value = proposal.claim?.value ?? "";
  const said = context.content.slice(statement.start, statement.end);
  const at = said.indexOf(value);
  if (value === "" || at < 0) return true;
  const before = said.slice(0, at);
  if (!/(?:,|\b(?:and|or|&))\s*$/i.test(before)) return !/^(?:both|either|neither)\b/i.test(value);
  // A later member: alone it must be of the first one's form.
  const first = statement.clause.tokens[statement.clause.rest[0]]?.lower ?? "";
  return !/^\p{L}+ing\b/u.test(value) || /ing$/.test(first);
}

/** Nothing in it points at what was said before. */
function isClear({ context, statement, proposal }: ToldClaim): boolean {
  const { clause, subject } = statement;
  const isSelf = subject.path === context.discourse.speaker.path;
  if (!isAnchored(clause.tokens, clause.rest, isSelf)) return false;
  // "On another note" leads a sentence and is not told.
  const lead = clause.tokens.slice(...clause.lead).map(({ lower }) => lower);
  const isTold = proposal.text.toLowerCase().includes(lead.join(" "));
  if (isTold && !isAnchored(clause.tokens, clause.lead, isSelf)) return false;
  const people = new Set(context.earlier.map(({ name }) => name));
  const last = proposal.claim?.value.split(" ").at(-1);
  // "comin'", "livin'": the tagger knows no such word, and reads the rest wrong.
  if (/\p{Ll}in['’](?!\p{L})/u.test(proposal.text)) return false;
  // "… just to see": how it goes on was another clause.
  if (/\bto (?:see|know|say|tell|think|ask|hear|show|find out|figure out)\.$/.test(proposal.text))
    return false;
  return !(last && people.has(last) && subject.path !== last) && !HANGS_ON_DAY.test(proposal.text);
}

/** Words of one among several, and days that hang on the day of the talk. */
const HANGS_ON_DAY =
  /\b(?:ourselves|us all|each other|eachother|yesterday|tomorrow|tonight|ago|(?:days?|weeks?|weekends?|months?|years?) (?:later|earlier|before)|(?:last|next|this|coming) (?:week|weekend|month|year|night|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|fall|winter)\w*)\b/i;
