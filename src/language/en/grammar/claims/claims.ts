import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { conjunctsOf } from "../clauses/conjuncts.ts";
import {
  type ClausePart,
  datesOf,
  gerundOf,
  getStatementSpan,
  isPlace,
  isWish,
  qualifierOf,
  relationWith,
  restWith,
  sentenceOf,
  verbPhrase,
  whenOf,
} from "../clauses/parts.ts";
import { binds, type Phrase, phrasesOf } from "../clauses/phrases.ts";
import { adding, type Context, claimOf, type Statement, said, thirdPerson, tidy } from "../context.ts";
import { withValidity } from "../time/validity.ts";
import { copulaClaims, visitClaims } from "./copula-claims.ts";
import { nameBehind, nameClaims, possessions } from "./name-claims.ts";
import { relationClaims } from "./relation-claims.ts";
import { absolute, compose } from "./sentence.ts";

/** What a clause says of somebody, as memories. */
export function claimsOf(context: Context, statement: Statement): AddProposal[] {
  const { clause } = statement;
  const phrases = phrasesOf(clause.tokens, ...clause.rest);
  const part: ClausePart = {
    context,
    statement,
    phrases,
    dates: datesOf(context, statement),
    tokens: clause.tokens,
  };
  return withValidity(part, claimsIn(part));
}

function claimsIn(part: ClausePart): AddProposal[] {
  const { statement, phrases } = part;
  const { subject, clause } = statement;
  const { verb } = clause;
  if ((verb.open && !isWish(part)) || isBroken(part)) return [];
  if (verb.passive && verb.lemma === "call") return nameClaims(part);
  const isBe = verb.copula && verb.chain.length === 0;
  if (isBe && verb.perfect && isPlace(phrases)) return visitClaims(part);
  if (isBe) return [...copulaClaims(part), ...nameBehind(part, subject)];
  if (isPledge(part)) return promiseClaims(part);
  if (isHollow(part) || hasHollowObject(part)) return nameBehind(part, subject);
  const claims = actionClaims(part);
  return [...claims, ...possessions(part), ...nameBehind(part, subject)];
}

/** "where I work HAS a garden": the verb behind it belongs to something else. */
function isBroken({ statement, tokens, phrases }: ClausePart): boolean {
  const { verb, rest } = statement.clause;
  // "but I quit in 2015": what was quit stands before it.
  const isQuitting = /^(?:quit|stop)$/.test(verb.lemma) && verb.chain.length === 0;
  if (isQuitting && !phrases.some(({ kind }) => kind === "noun")) return true;
  const next = tokens[rest[0]];
  if (verb.copula || next?.class !== "verb" || tokens[verb.to - 1]?.after.trim() !== "") return false;
  return /^(?:is|are|has|was|were|does|did|can|will)$/.test(next.lower);
}

const HOLLOW = new Set(
  "do say tell think know guess mean hear see look feel seem sound wonder ask bet swear happen sleep wake cry laugh sit stand wait come go let hope notice realise realize remember forget try keep turn appear matter suck rock rain snow care shoot whine complain joke kid understand bother".split(
    " ",
  ),
);

const HOLLOW_WITH = new Set([
  "think",
  "go",
  "come",
  "see",
  "try",
  "feel",
  "hope",
  "forget",
  "remember",
  "keep",
  "do",
  "hear",
  "know",
  "ask",
  "wait",
  "sleep",
  "wake",
  "sit",
  "mean",
  "turn",
  "look",
]);

/** Verbs that say nothing by themselves: "I guess", "we went". */
function isHollow(part: ClausePart): boolean {
  const { verb } = part.statement.clause;
  const head = verb.lemma;
  const isLiked = verb.chain.some((link) => /^(?:like|love|enjoy|hate|prefer)$/.test(link.verb));
  if (!HOLLOW.has(head) || (isLiked && head !== "do") || (verb.modal === "can" && verb.denied)) return false;
  const ahead = part.dates.length > 0 && part.statement.clause.verb.tense !== "past";
  const isCounted = part.phrases.some(
    ({ kind, from }) => kind === "time" && part.tokens[from]?.class === "number",
  );
  const hasMore =
    (head === "sleep" && isCounted) ||
    ahead ||
    part.phrases.some(({ kind }) => kind === "noun" || kind === "preposition") ||
    // "know how to swim"
    (head === "know" && part.phrases.at(-1)?.kind === "infinitive");
  // "I don't care for rap", and no "I don't care".
  if (head === "care")
    return !part.phrases.some(({ head: joint, items }) => joint === "for" && items.length > 0);
  return !(HOLLOW_WITH.has(head) && hasMore);
}

const HOLLOW_OBJECT =
  /^(?:(?:an?|the|no|some|any|my|one|another|quick|little|few|this|that|any more|more) )*(?:questions?|idea|ideas|clue|problem|problems|issue|issues|point|doubt|doubts|feeling|feelings|look|chat|go|try|break|minute|minutes|moment|second|sec|request|favou?r|errors?|help|thoughts?|sense|luck|fun|time|times|bad|good|great|nice|lovely|day|morning|afternoon|evening|weekend|one|chance|hand|advice|tips?|recommendations?|suggestions?|money|sleep|coffee now|laugh|done|been)(?: (?:of|about|with|for|on) .*)?$/i;

/** "I have a question", "I need help": of the talk, not of the life. */
function hasHollowObject(part: ClausePart): boolean {
  const { statement, context } = part;
  const { verb, tokens, rest } = statement.clause;
  const text = said(context, tokens, ...rest);
  if (
    !/^how to\b/i.test(text) &&
    /^(?:where|what|who|how|why|when|which|whether|if)\b/i.test(text) &&
    /^(?:forget|know|remember|wonder|see|tell|ask|find|guess|understand|figure)/.test(verb.lemma)
  )
    return true;
  if (verb.lemma === "look" && /^for\b/i.test(text) && verb.progressive) return true;
  const isName = /^(?:the |an? )?\p{Lu}/u.test(text);
  return (
    !isName && /^(?:have|need|get|want|take|give|make|see)$/.test(verb.lemma) && HOLLOW_OBJECT.test(text)
  );
}

/** "I use X", "I live in Y", "I'm training for Z". */
function actionClaims(part: ClausePart): AddProposal[] {
  const { context, statement } = part;
  const { clause } = statement;
  const { verb } = clause;
  const phrases = part.phrases.filter((phrase) => !isReflexive(part, phrase) && !isReceiver(part, phrase));
  const object = phrases.find(({ kind }) => kind === "noun");
  const firstTelling = phrases.find(({ kind }) => TELLING.has(kind));
  const base = verbPhrase(part);
  const conjuncts = conjunctsOf(part);
  if (conjuncts.length > 1) return conjuncts.flatMap((one) => actionClaims(one));
  if (verb.lemma === "promise" || verb.chain[0]?.verb === "promise") return promiseClaims(part);
  if (verb.lemma === "prefer" && object && firstTelling === object && object.items.length === 1)
    return preferenceClaims(part, object);
  if (verb.modal === "would rather" && !base.endsWith("prefer")) return ratherClaims(part);
  if (object && firstTelling === object) return relationClaims(part, base, object);
  if (firstTelling && isBinding(firstTelling))
    return relationClaims(part, `${base} ${firstTelling.head}`, firstTelling);
  const value = said(context, clause.tokens, ...clause.rest);
  const begun = verb.chain.findLast(({ next }) => next === "gerund");
  if (firstTelling === undefined && begun && ["start", "begin"].includes(begun.verb))
    return relationClaims(part, "start", undefined, gerundOf(verb.lemma, part));
  if (firstTelling === undefined && verb.chain.length === 0 && !phrases.some(({ kind }) => kind === "time"))
    return bareClaims(part, base);
  return relationClaims(part, base, firstTelling, value);
}

function isBinding({ kind, head, items }: Phrase): boolean {
  return kind === "preposition" && binds(head ?? "") && items.length > 0;
}

const TELLING: ReadonlySet<Phrase["kind"]> = new Set(["noun", "preposition", "infinitive", "adjective"]);

function isReflexive({ tokens }: ClausePart, phrase: Phrase): boolean {
  return phrase.kind === "noun" && /(?:self|selves)$/.test(tokens[phrase.from]?.lower ?? "");
}

/** "Femi owes ME forty quid": to whom, and not what. */
function isReceiver({ phrases, tokens }: ClausePart, phrase: Phrase): boolean {
  const next = phrases[phrases.indexOf(phrase) + 1];
  const isPronoun = tokens[phrase.from]?.class === "pronoun" && phrase.to - phrase.from === 1;
  return phrase.kind === "noun" && isPronoun && next?.kind === "noun" && next.from === phrase.to;
}

/** "I'd rather walk than take the bus": what one prefers to do. */
function ratherClaims(part: ClausePart): AddProposal[] {
  const { verb, tokens, rest } = part.statement.clause;
  const value = tidy(`to ${verb.lemma} ${said(part.context, tokens, ...rest)}`);
  return relationClaims(part, verb.denied ? "not prefer" : "prefer", undefined, value);
}

/** "I prefer a room on a low floor": of the same kind of thing, one at a time. */
function preferenceClaims(part: ClausePart, object: Phrase): AddProposal[] {
  const { context, tokens, phrases, statement } = part;
  const next = phrases[phrases.indexOf(object) + 1];
  const hangs =
    next?.kind === "preposition" &&
    ["on", "with", "by", "near", "of", "over", "to", "without", "from"].includes(next.head ?? "")
      ? next
      : undefined;
  const wide: Phrase = hangs ? { ...object, to: hangs.to, items: [[object.from, hangs.to]] } : object;
  const taken = hangs
    ? { ...part, phrases: phrases.filter((one) => one !== hangs).map((one) => (one === object ? wide : one)) }
    : part;
  const head = tokens[(object.items[0]?.[1] ?? object.to) - 1]?.lower ?? "";
  const rivals = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === "prefer" &&
      claim.value
        .toLowerCase()
        .split(/ (?:on|with|by|near|of|over|to|without|from) /)[0]
        ?.endsWith(head),
  );
  const claims = relationClaims(taken, verbPhrase(part), wide);
  const before = preferredBefore(part, claims);
  if (before) return before;
  const ids = rivals.map(({ id }) => id);
  const isNew = claims.every(({ claim }) =>
    rivals.every(
      (rival) =>
        rival.claim?.value.toLowerCase() !== claim?.value.toLowerCase() &&
        !differ(rival.claim?.qualifier, claim?.qualifier),
    ),
  );
  return ids.length > 0 && isNew ? claims.map((claim) => ({ ...claim, replaces: { ids } })) : claims;
}

/** "I prefer coffee in the mornings now": in the same circumstance, whatever it was before. */
function preferredBefore(part: ClausePart, claims: readonly AddProposal[]): AddProposal[] | undefined {
  const { context, statement } = part;
  const [first] = claims;
  const isNow = /\b(?:now|these days|nowadays|lately)\b/i.test(
    context.content.slice(statement.start, statement.end + 14),
  );
  const circumstance = plain(first?.claim?.qualifier);
  if (!isNow || !first?.claim || circumstance === "") return undefined;
  const { claim } = first;
  const ids = context.known.flatMap(({ id, status, claim: one }) =>
    status === "current" &&
    one?.subject === claim.subject &&
    one.relation === "prefer" &&
    plain(one.qualifier) === circumstance &&
    one.value !== claim.value
      ? [id]
      : [],
  );
  return ids.length > 0 ? [{ ...first, replaces: { ids } }, ...claims.slice(1)] : undefined;
}

function plain(qualifier = ""): string {
  return qualifier
    .toLowerCase()
    .replace(/[ ,]*\b(?:now|these days|nowadays|lately)\b/g, "")
    .trim();
}

/** Both said, and of other circumstances: "on short flights", "on long ones". */
function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.toLowerCase() !== other.toLowerCase();
}

/** "I told Nan I'd drive her": said of one's own doing ahead. */
function isPledge({ context, statement }: ClausePart): boolean {
  const { verb, tokens } = statement.clause;
  if (
    !/^(?:tell|agree|swear|assure)$/.test(verb.lemma) ||
    verb.denied ||
    statement.subject.path !== context.discourse.speaker.path
  )
    return false;
  const behind = context.content.slice(tokens[verb.to - 1]?.end, statement.end);
  return /^ (?:(?:my |our |the )?[\p{L}'’-]+(?: [\p{L}'’-]+)? )?(?:that )?(?:I|we|i)(?:['’](?:d|ll)| would| will)\b/u.test(
    behind,
  );
}

/** "promised Dad I'd mend his lamp": what is promised stands in the clause after it. */
function promiseClaims(part: ClausePart): AddProposal[] {
  const { context, statement } = part;
  const whole = context.content.slice(statement.start, statement.end);
  const value = tidy(whole.replace(/^.*?\b(?:promis\w*|told|tell|agreed|swore|assured)\s+/i, ""));
  if (value === "") return [];
  const told = thirdPerson(absolute(value, part.dates, whole), context, statement.subject);
  const { verb } = statement.clause;
  const text = compose(
    statement.subject.display,
    verb.denied ? "did not promise" : verb.tense === "past" || verb.perfect ? "promised" : "promises",
    told,
  );
  return [
    adding(context, getStatementSpan(part), {
      text,
      claim: claimOf(statement.subject.path, relationWith(verb.denied, "promise"), value),
      kind: "commitment",
      importance: 0.7,
      ...whenOf(part),
    }),
  ];
}

/** "I can help", "you can say": of the moment, and no skill. */
const NO_ABILITY =
  /^(?:help|do|go|come|see|wait|say|tell|believe|imagine|understand|relate|hear|try|be|have|get|make|know|think|guess|feel|use|look|stand|agree|remember|talk|leave|stay|stop|keep|give|take|find|start|afford|decide|explain|relax|bet|picture|join|call|meet|eat|sleep|breathe|admit|manage|move|live|lie|complain|concentrate|focus|handle|continue|ask|check|wake|rest|hang|turn|show|sit|work)\b/;

/** "I smoke", "I vape": the verb alone tells something where it is a habit. */
function bareClaims(part: ClausePart, base: string): AddProposal[] {
  const { context, statement } = part;
  const { verb } = statement.clause;
  const isAbility = verb.modal === "can" && verb.chain.length === 0 && !NO_ABILITY.test(verb.lemma);
  const isHabit =
    isAbility ||
    (verb.tense === "present" &&
      !verb.progressive &&
      !verb.perfect &&
      /^(?:not |never )?(?:can )?(?:smoke|vape|drink|drive|swim|cycle|run|ski|surf|snore|sing|dance|climb|knit|sew|paint|bake|cook|garden|fish|hunt|meditate|pray|freelance|commute|box|fence|row|sail|skate|snowboard|juggle|code|program|crochet|vote|stammer|stutter|volunteer|foster|travel|act|write|read|draw|hike|camp|jog|garden|game|stream|blog|skydive|sculpt|whittle|quilt|model|tutor|babysit|rap|skateboard|kayak|canoe|bowl|golf|wrestle|lift)(?: a lot)?$/.test(
        base,
      ));
  if (!isHabit) return [];
  return [
    adding(context, getStatementSpan(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined)),
      claim: claimOf(statement.subject.path, base, "", qualifierOf(part)),
      kind: "fact",
    }),
  ];
}
