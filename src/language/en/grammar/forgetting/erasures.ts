import type { Message } from "../../../../domain/message.ts";
import { extractTerms } from "../../../../domain/search/search-terms.ts";
import { splitSentences, type TextSpan } from "../../../../domain/text/split-text.ts";
import type { EraseProposal } from "../../../../ports/language/extractor.ts";
import { FUNCTION_WORDS, isOfOtherLanguage } from "../../detect-language.ts";
import { findShapedValues, isCalendarName } from "../../value-shapes.ts";
import type { RulesReading } from "../known-memory.ts";
import { antecedentOf } from "./antecedents.ts";
import { delayedRequests } from "./delayed-requests.ts";
import { hasForeignOrder, isDeferred, opensWithForeignOrder, takesBackErasure } from "./erase-forms.ts";
import { type EraseScope, eraseScope, isOnlySaid } from "./erase-scopes.ts";
import { blankSpans, findException, isKeeping, keptPhrase, type RequestException } from "./exceptions.ts";
import {
  descriptionIn,
  meantByPronoun,
  OWN_TURN,
  subjectPhraseOf,
  withAntecedent,
  withinPeriod,
} from "./referents.ts";
import { objectByParts, partsOf, type RequestObject, readRequestObject } from "./request-objects.ts";
import {
  isDeniedByWords,
  LIKELY_REQUEST,
  POSSIBLE_REQUEST,
  probabilityTogether,
  requestByWords,
  type ScoredCandidate,
  SURE_REQUEST,
  scoreRequest,
  supportedByWords,
} from "./request-sentences.ts";
import { EVERYTHING, isCorrection, isOfItself, statedRequests, toErasedObject } from "./stated-requests.ts";

/** The requests to forget in the sentences of a message, and words that are not to be kept at all. */
export function erasuresOf(
  message: Message,
  spans: readonly TextSpan[],
  reading?: RulesReading,
): EraseProposal[] {
  if (takesBackErasure(message.content)) return [];
  const found: FoundRequest[] = [];
  const excepted = exceptionsWithin(message, spans);
  const content = blankSpans(message.content, [...excepted.values()]);
  const asking = { ...message, content, sentences: spans.length };
  const stated = Map.groupBy(statedRequests(asking, spans, reading), ({ start }) => start);
  for (const span of spans.slice(0, MOST_READ)) {
    const later = readDelayed(asking, span, reading);
    const sure = stated.get(span.start) ?? [];
    found.push(...(later.length > 0 ? later : readNow(asking, span, sure, reading)));
  }
  // "Remove it now. Delete the old number.": the second says what the first means.
  const isNamed = found.some(({ proposal }) => !isOfItself(proposal));
  const kept = found.filter((one) => !isNamed || !isOfItself(one.proposal) || one.isOffRecord);
  const elsewhere = exceptionsIn(message.content, spans, found);
  return kept.map(({ proposal: found }) => {
    const proposal = doubtedByPlan(message, doubtedByAnswer(ofThingBefore(asking, found), reading));
    const own = excepted.get(proposal.start)?.kept;
    const except = [...(own === undefined ? [] : [own]), ...elsewhere].join("; ");
    if (except === "" || isOfItself(proposal)) return proposal;
    const { about, ...rest } = proposal;
    // "Keep my name but forget everything else."
    const isEverything = about !== undefined && proposal.from === undefined && EVERYTHING.test(about);
    return isEverything ? { ...rest, everything: true, except } : { ...proposal, except };
  });
}

/** A message that is read for requests. */
interface ReadMessage extends Message {
  /** How many sentences it has. */
  readonly sentences: number;
}

/** From this length on, in characters, a turn of the assistant is a text that the user may want changed. */
const LEAST_TEXT = 150;

/** "Remove the last column", to a text of the assistant that has one: rather work on that text. It is asked back. */
function doubtedByAnswer(proposal: EraseProposal, reading: RulesReading | undefined): EraseProposal {
  const { about, due, confidence = 1 } = proposal;
  const last = reading?.earlier.at(-1);
  if (about === undefined || due || last?.role !== "assistant" || last.content.length < LEAST_TEXT)
    return proposal;
  const text = last.content.toLowerCase();
  const starts = startsOf(about);
  const shared = starts.filter((start) => text.includes(start)).length;
  const isOfText = shared > 0 && shared >= starts.length / 2;
  return isOfText ? { ...proposal, confidence: Math.min(confidence, ASKED_BACK) } : proposal;
}

const OTHER_PLAN =
  /^\W*(?:(?:ok(?:ay)?|oh|no|so|well|actually|right)[, ]+)*(?:forget|scrap|scratch|drop|skip|never mind) (?!.*\b(?:said|told|mention\p{L}*|memor\p{L}+|remember|notes?|records?|stored?|saved)\b)[^,]{2,40}, (?:i['’]?m|we['’]?re|let['’]?s|i['’]?ll|we['’]?ll|i['’]?d|we['’]?d)\b/iu;

/** "Forget the Golf, I'm getting a Tesla": rather another plan than a request to the memory. It is asked back. */
function doubtedByPlan({ content }: Message, proposal: EraseProposal): EraseProposal {
  if (!OTHER_PLAN.test(content.slice(proposal.start, proposal.end))) return proposal;
  return { ...proposal, confidence: Math.min(proposal.confidence ?? 1, ASKED_BACK) };
}

/** In so many turns before, a text of the assistant is what the user works on. */
const WORKED_ON = 6;

/** Whether the assistant has written a text lately: "forget the polite ending" may be an order on it. */
function isWritingBefore(reading: RulesReading | undefined): boolean {
  const turns = reading?.earlier.slice(-WORKED_ON) ?? [];
  return turns.some(({ role, content }) => role === "assistant" && content.length >= LEAST_TEXT);
}

/** The confidence of a request without a stated form that its verb and its words make sure: it is carried out if its target is certain. */
const SURE_BY_READER = 0.97;
/** The confidence of what is asked back if it is found. */
const ASKED_BACK = 0.9;

/** From this probability on by its verb and its words together, a request is carried out if its target is certain. */
const SURE_TOGETHER = 0.95;

/**
 * How sure a request without a stated form is: by its verb if that is said of what was told, else by its verb and its words together.
 * "The wifi one I always lose, so leave that": a sentence that keeps something, too, is asked back.
 */
function confidenceOf(
  sentence: string,
  candidate: ScoredCandidate,
  reading: RulesReading | undefined,
): number {
  const { probability, features } = candidate;
  const isTold = TOLD.some((sign) => features.includes(`asks ${sign}`));
  if (isTold && probability >= STATED_CONFIDENCE) return probability;
  const isSure = probabilityTogether(candidate) >= SURE_TOGETHER && partsOf(sentence, "kept").length === 0;
  if (isSure && !isWritingBefore(reading)) return SURE_BY_READER;
  return Math.min(probability, ASKED_BACK);
}

/** The first letters of the telling words of a description. */
function startsOf(description: string): string[] {
  return extractTerms(description)
    .filter((term) => term.length > 3)
    .map((term) => term.slice(0, 5));
}

const ALL_OF_IT = /\b(?:it all|all of (?:it|this|that))\b/i;

/** "Malta is over. Delete all of it.": all of what the sentence before is about, and not everything. */
function ofThingBefore({ content }: Message, proposal: EraseProposal): EraseProposal {
  const { everything, ...rest } = proposal;
  if (!everything || !ALL_OF_IT.test(content.slice(proposal.start, proposal.end))) return proposal;
  const before = content.slice(0, proposal.start);
  const last = splitSentences(before).at(-1);
  const about = last && subjectPhraseOf(before.slice(last.start, last.end));
  return about === undefined || /^(?:this|that|these|those)\b/i.test(about)
    ? proposal
    : { ...rest, about, isBroad: true };
}

/** What each sentence excepts from its own request, by where the sentence starts. */
function exceptionsWithin(
  { content }: Message,
  spans: readonly TextSpan[],
): ReadonlyMap<number, RequestException> {
  const excepted = new Map<number, RequestException>();
  for (const { start, end } of spans.slice(0, MOST_READ)) {
    const text = content.slice(start, end);
    const found = MAY_ASK.test(text) && !isCorrection(text) ? findException(text) : undefined;
    if (found) excepted.set(start, { kept: found.kept, start: start + found.start, end: start + found.end });
  }
  return excepted;
}

/** The requests of a sentence that are to be carried out now: the stated ones, or what the model for requests reads. */
function readNow(
  message: ReadMessage,
  span: TextSpan,
  sure: readonly EraseProposal[],
  reading: RulesReading | undefined,
): FoundRequest[] {
  const request =
    readSentence(message, span, reading) ??
    readReferring(message, span, sure) ??
    readByParts(message, span, reading);
  // "What we said last week about the wedding": only the model reads the period beside the description.
  const isOfPeriod = request?.proposal.about !== undefined && request.proposal.from !== undefined;
  if (request && (sure.length === 0 || isOfPeriod)) return [request];
  // "I don't want you to have her PIN. Delete that.": the words before say what is meant.
  const isNamed = request?.proposal.about !== undefined && sure.every((one) => isOfItself(one));
  if (!request || !isNamed || OFF_RECORD_FORM.test(message.content.slice(span.start, span.end)))
    return sure.map((proposal) => withScope(message, proposal, reading));
  const confidence = Math.max(STATED_CONFIDENCE, request.proposal.confidence ?? 0);
  return [{ ...request, proposal: { ...request.proposal, isProspective: true, confidence } }];
}

/** A request that is stated, with whether it means all that belongs to a thing. */
function withScope(
  { content, sentences }: ReadMessage,
  proposal: EraseProposal,
  reading: RulesReading | undefined,
): FoundRequest {
  const text = content.slice(proposal.start, proposal.end);
  const [candidate] = scoreRequest(text, sentences);
  const isWriting = isWritingBefore(reading);
  return {
    proposal: {
      ...proposal,
      ...(BROAD.test(text) ? { isBroad: true } : {}),
      ...((candidate?.probability ?? 0) >= (isWriting ? LIKELY_REQUEST : PLAIN)
        ? {}
        : { confidence: isWriting || sentences > MANY ? ASKED_BACK : STATED_CONFIDENCE }),
    },
    isOffRecord: isOfItself(proposal),
  };
}

/** Sentences of a message that are read; nobody asks in the two hundredth. */
const MOST_READ = 120;

interface FoundRequest {
  readonly proposal: EraseProposal;
  readonly isOffRecord: boolean;
}

/** From this probability on, words with a later time or event are a request, if what they mean is found. */
const LIKELY_DELAYED = 0.65;
/** The same, where the sentence as a whole is likely: "please" is a sign, too. */
const POSSIBLE_DELAYED = 0.35;

/** "Drop me a note when you are there". */
const FOR_SOMEBODY = /^(?:me|us|him|her|them) \S/i;

/** The requests of a sentence that are to be carried out later. */
function readDelayed(
  message: ReadMessage,
  { start, end }: TextSpan,
  reading: RulesReading | undefined,
): FoundRequest[] {
  const text = message.content.slice(start, end);
  if (!MAY_ASK.test(text)) return [];
  const before = message.content.slice(0, start);
  const delayed = delayedRequests(text, message.at);
  const isLikely = delayed.length > 0 && candidateIn(text, message.sentences, LIKELY_DELAYED) !== undefined;
  return delayed.flatMap(({ request, due }) => {
    const asked = { ...message, content: before + request };
    const span = { start, end: start + request.length };
    const found = readSentence(asked, span, reading, isLikely ? POSSIBLE_DELAYED : LIKELY_DELAYED);
    if (!found || isOfItself(found.proposal) || FOR_SOMEBODY.test(found.proposal.about ?? "")) return [];
    return [{ proposal: { ...found.proposal, start, end, due }, isOffRecord: false }];
  });
}

/**
 * The request in a sentence, by the model for requests and by what its words mean. `leastLater` is the least probability of a
 * request for later; without it, the request is for now.
 */
function readSentence(
  message: ReadMessage,
  { start, end }: TextSpan,
  reading: RulesReading | undefined,
  leastLater?: number,
): FoundRequest | undefined {
  const text = message.content.slice(start, end);
  const place = { propose: "erase" as const, message: message.id, start, end };
  if (isOfOtherLanguage(text) && hasForeignOrder(text))
    return { proposal: { ...place, ...readForeign(text) }, isOffRecord: false };
  const candidate = candidateIn(text, message.sentences, leastLater ?? POSSIBLE_REQUEST);
  if (!candidate) return undefined;
  const object = objectOf(text, candidate);
  if (leastLater === undefined && !isWorthAsking(text, candidate, object, reading)) return undefined;
  const sure = { confidence: confidenceOf(text, candidate, reading) };
  const isKeeping = candidate.group === "keep" || candidate.group === "none";
  const broad = BROAD.test(text) ? { isBroad: true } : {};
  const asked = { ...place, ...sure, ...broad };
  if (object.isPronoun || OWN_TURN.test(object.text)) {
    const proposal = meantByPronoun(
      { message, start, end, text, asked, object, isKeeping, verb: candidate.start },
      reading,
    );
    return proposal && withGuessedTurn(proposal, object);
  }
  const prospective = isKeeping && candidate.isNegated ? { isProspective: true } : {};
  const proposal = withTarget(message, text, object, { ...asked, ...prospective }, reading);
  return proposal && { proposal, isOffRecord: false };
}

/** "It" may mean an earlier turn than the one before, so a request that only points to it is asked back. */
function withGuessedTurn(proposal: EraseProposal, { text }: RequestObject): FoundRequest {
  const { messages, confidence = 1 } = proposal;
  const isGuessed = messages !== undefined && !OWN_TURN.test(text);
  return {
    proposal: isGuessed ? { ...proposal, confidence: Math.min(confidence, ASKED_BACK) } : proposal,
    isOffRecord: isOfItself(proposal),
  };
}

/** What a sentence says is to go: of one that is not sure, what the reader of requests labels, unless the words by its verb hold that. */
function objectOf(text: string, candidate: ScoredCandidate): RequestObject {
  const object = readRequestObject(text, candidate);
  if (candidate.probability >= SURE_REQUEST) return object;
  const isHeld = partsOf(text, "target").every((part) => object.text.includes(part));
  return isHeld ? object : (objectByParts(text) ?? object);
}

/**
 * A request that only the reader of requests finds: what it says is to go, and what is to stay. Words of somebody else and another
 * language are left alone.
 */
function readByParts(
  { id, content, sentences }: ReadMessage,
  { start, end }: TextSpan,
  reading: RulesReading | undefined,
): FoundRequest | undefined {
  const text = content.slice(start, end);
  const candidate =
    isQuotation(text) || isOfOtherLanguage(text) ? undefined : requestByWords(text, sentences);
  const object = candidate && objectByParts(text);
  if (!candidate || !object || object.isPronoun) return undefined;
  const except = partsOf(text, "kept").join("; ");
  return {
    proposal: {
      propose: "erase",
      message: id,
      start,
      end,
      about: object.text,
      confidence: confidenceOf(text, candidate, reading),
      ...(BROAD.test(text) ? { isBroad: true } : {}),
      ...(except === "" ? {} : { except }),
    },
    isOffRecord: false,
  };
}

/** A request with what its words mean: a scope, or a description. */
function withTarget(
  message: Message,
  text: string,
  object: RequestObject,
  asked: EraseProposal,
  reading: RulesReading | undefined,
): EraseProposal | undefined {
  const wide = wideTarget(object.text, message.at);
  if (wide) return { ...asked, ...wide };
  const words = object.isClause ? descriptionIn(object.text) : object.text;
  const { about, ...within } = withinPeriod(words, message.at);
  const before = message.content.slice(0, asked.start);
  const meant = toErasedObject(about);
  if (Object.keys(within).length > 0 && isOnlySaid(meant)) return { ...asked, ...within };
  // "Acme have left, so delete all you hold on them"
  const clause = /^.*,/s.exec(text.slice(0, Math.max(0, text.lastIndexOf(meant))))?.[0] ?? "";
  const turns = (reading?.earlier ?? []).filter(({ role }) => role === "user").map(({ content }) => content);
  // "Take him out of your memory": of whom a turn before spoke.
  const meantHere = antecedentOf(antecedentOf(antecedentOf(meant, clause), before), turns.join("\n"));
  const named = withAntecedent(meantHere, text, before);
  return named === "" ? undefined : { ...asked, ...within, about: named };
}

/** From this probability on, an order is one to forget, where the sentence before says what the memory holds. */
const LEAST_REFERRING = 0.1;

/**
 * "You don't need to have her PIN. Delete it.", "I should not have told you about Max. Take that out.": neither
 * sentence is a request by itself; the second means what the first says is held or was told.
 */
function readReferring(
  { id, content, sentences }: ReadMessage,
  { start, end }: TextSpan,
  stated: readonly EraseProposal[],
): FoundRequest | undefined {
  const text = content.slice(start, end);
  const last = splitSentences(content.slice(0, start)).at(-1);
  if (!last || !MAY_ASK.test(text) || !stated.every((one) => isOfItself(one))) return undefined;
  const before = content.slice(last.start, last.end).trim();
  if (isQuotation(text) || !REFERS.test(before)) return undefined;
  const candidate = scoreRequest(text, sentences).find(({ group }) =>
    /^(?:erase|discard|forget)$/.test(group),
  );
  const held = scoreRequest(before).find(({ group }) => group === "keep");
  if (!candidate || !held || candidate.probability < LEAST_REFERRING) return undefined;
  if (isForLater(text, candidate) || !readRequestObject(text, candidate).isPronoun) return undefined;
  const about = descriptionIn(before);
  if (about === "") return undefined;
  const confidence = stated.length > 0 ? STATED_CONFIDENCE : jointly(candidate.probability, held.probability);
  if (confidence < LIKELY_REQUEST) return undefined;
  return { proposal: { propose: "erase", message: id, start, end, about, confidence }, isOffRecord: false };
}

/** The probability of a request by the signs of two sentences; a sentence that asks nothing has `IDLE`. */
function jointly(one: number, other: number): number {
  const odds = ((one / (1 - one)) * (other / (1 - other))) / (IDLE / (1 - IDLE));
  return odds / (1 + odds);
}

const IDLE = 0.1;
/** It says that something is held by the memory or those who use it, or was told to it. */
const REFERS =
  /\b(?:you|us|we)\b[^.;,]*\b(?:hold|holding|have|having|keep|keeping|know|store|storing)\b|\b(?:told|tell|telling|said|mentioned|shared|given?|gave|sharing)\b/i;

const NAMES_TIME = /\b(?:after|until|once|from) (?:this|next|the|that|then|tomorrow|we|I)\b/i;

/**
 * What may be a request counts where it names what is meant, or says that it was told: "get rid of Wildroot", "lose what I said";
 * or where it names something stored: "scrap the eviction stuff". An order for a later time is one in the world: "remove Ola from
 * the rota after this weekend".
 */
function isWorthAsking(
  sentence: string,
  candidate: ScoredCandidate,
  { text, isPronoun }: RequestObject,
  reading: RulesReading | undefined,
): boolean {
  if (candidate.probability >= LIKELY_REQUEST) return true;
  const isToKeep = candidate.group === "keep" && !candidate.isNegated;
  if (isPronoun || isToKeep || NAMES_TIME.test(sentence)) return false;
  const signs = new Set(candidate.features);
  const isOfMemory = signs.has("none out of memory") || OF_MEMORY.some((sign) => signs.has(`asks ${sign}`));
  if (isOfMemory || (signs.has("asks") && reading && isStored(text, reading))) return true;
  const names = text.replace(/^(?:the|an?|my|our|this|that)\b/i, "").match(/\p{Lu}[\p{L}'’-]+/gu) ?? [];
  return (
    OWN_TURN.test(text) || names.some((name) => !isCalendarName(name)) || findShapedValues(text).length > 0
  );
}

/** Whether a telling word of an object stands in what is remembered, or was said in this session; by its first letters. */
function isStored(object: string, { known, earlier }: RulesReading): boolean {
  const starts = startsOf(object);
  const isNamed = (text: string): boolean => {
    const lower = text.toLowerCase();
    return starts.some((start) => lower.includes(start));
  };
  return known.some(({ text }) => isNamed(text)) || earlier.some(({ content }) => isNamed(content));
}

/** Signs that the object of a request is what was told to the memory, or what it knows. */
const TOLD = ["said", "known"];
/** The same, and where it is to be taken from. */
const OF_MEMORY = [...TOLD, "from memory", "from you"];
/** The verb of a sentence that asks to forget, or the sentence as a whole, if one is likely to. */
function candidateIn(text: string, sentences: number, least: number): ScoredCandidate | undefined {
  const isRepair = isCorrection(text) && !/\b(?:forget|delete|erase|remove)\b/i.test(text);
  if (isRepair || isQuotation(text)) return undefined;
  const candidates = MAY_ASK.test(text) ? scoreRequest(text, sentences) : [];
  // "Delete the code and delete the phrase": the first order holds both.
  const sureOnes = candidates.filter(
    ({ probability, group }) => probability >= SURE_REQUEST && group !== "none",
  );
  const candidate = sureOnes.toSorted((one, other) => one.start - other.start)[0] ?? candidates[0];
  if (!candidate || candidate.probability < least) {
    const isToKeep =
      candidates.some(({ features }) => features.some((name) => name.startsWith("wants "))) ||
      (candidates.length > 0 && candidates.every(({ group, isNegated }) => group === "keep" && !isNegated)) ||
      keptPhrase(text) !== undefined ||
      isKeeping(text);
    return isToKeep || CONDITION.test(text) || isDeferred(text) ? undefined : requestByWords(text, sentences);
  }
  if (isForLater(text, candidate) || REPORTED.test(text.slice(0, candidate.start))) return undefined;
  return isDeniedByWords(text, candidate) ? undefined : supportedByWords(text, sentences, candidate);
}

/** Everything, a session, a period or a topic. */
function wideTarget(object: string, at: string): Pick<EraseProposal, "everything"> | EraseScope | undefined {
  if (EVERYTHING.test(object)) return { everything: true };
  const scope = eraseScope(object, at);
  if (scope?.session || scope?.from !== undefined || scope?.to !== undefined) return scope;
  const topic = topicOf(scope, object);
  return topic.topic === undefined ? undefined : topic;
}

/** What an order in another language means, and how likely it is one. */
function readForeign(text: string): Pick<EraseProposal, "about" | "confidence"> {
  const confidence = opensWithForeignOrder(text) ? FOREIGN_OPENING : FOREIGN_WITHIN;
  return { confidence, about: foreignObject(text) };
}

/** The telling words of an order in another language. */
function foreignObject(text: string): string {
  const idle = new Set(Object.values(FUNCTION_WORDS).flatMap((words) => words.split(/\s+/)));
  const said = text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}@.'-]*/gu) ?? [];
  return said
    .map((word) => word.replace(/^[ldjmst]['’]|[.'-]+$/g, ""))
    .filter(
      (word) =>
        !idle.has(word) && !hasForeignOrder(word) && !/^(?:bitte|plaît|favor|por|plait|mich)$/.test(word),
    )
    .join(" ");
}

const OFF_RECORD_FORM = /\b(?:store|save|record|remember|keep|note|write|log)\b|off the record|between/i;
/** From this probability on, a stated form is certain: where nothing is found, the reply says so. */
const PLAIN = 0.5;
/** In a message of more sentences, a form that the model doubts is asked back. */
const MANY = 8;
/** A form that the model doubts is carried out where what it means is found. */
const STATED_CONFIDENCE = 0.98;
/** An order in another language is asked back where something of it is found; else it is reported where it opens the sentence. */
const FOREIGN_OPENING = 0.85;
const FOREIGN_WITHIN = 0.5;
const BROAD =
  /\b(?:[Ee]verything|[Aa]nything|[Aa]ll (?:about|of|that|the|i|I|you)|[Aa]ll mentions?|[Ee]very mention|[Aa]ny mention|[Ww]hatever|stuff|[Nn]othing|[Aa]ny of)\b|\b(?:the|that|this|whole|my|our|his|her) (?:\p{L}+ ){0,2}(?:episode|incident|story|saga|business|mess)\b/u;

const CONDITION =
  /\b(?:till|until|unless)\b|(?:^|[,;:]\s+|\band )(?:if|once|when|whenever|as soon as|in case)\s/i;
/** "Ben said: delete the code": words of somebody else. */
const REPORTED = /\b(?:said|says|wrote|writes|shouted|asked|told \p{L}+|reads|whispered)\s*[:,]\s*["“'‘]?$/iu;

/** "Delete it in two hours", "keep it until May, then erase it". A reason behind a comma says nothing of when. */
function isForLater(text: string, { start }: ScoredCandidate): boolean {
  const [order = ""] = text.slice(start).split(/,\s+(?!once|when|if|until|after)/i);
  return isDeferred(order) || CONDITION.test(text.slice(0, start));
}

/** Whether a sentence is looked at as one that may ask to forget. */
export function mayAsk(text: string): boolean {
  return MAY_ASK.test(text) && !isQuotation(text);
}

/** A message without any of these words asks for nothing; it need not be parsed. */
const MAY_ASK =
  /for?g[eo]?t|dl?el?e?t|undo\b|unsay|blank|blot|\brub\b|nix|pull|vanish|disappear|\blet\b|out\b|belong|\bhave\b.{0,60}\bhere\b|delet|eras|remov|wip(?:e|ing)|scr(?:ub|ap|atch)|purg|drop|clear|bin\b|trash|ditch|str[iu](?:ke|ck)|redact|expung|unlearn|unremember|discard|destroy|nuke|los[et]|kill|cancel|dump|zap|chuck|thr[oe]w|toss|cross|black|\brid\b|t[ao]ke?n?\b|took|le(?:ave|ft)|g(?:o|one)\b|withdraw|retract|omit|ke(?:ep|pt)|stor|sav(?:e|ing)|rem(?:ember|ind)|record|not(?:e|ing)\b|log\b|logged|retain|h[oe]ld|hang|wr[io]t|memori|remain|stay|put\b|mention|bring|repeat|pretend|act\b|between|ears|notes?\b|memory/i;
/** A topic by its own name: "my health", not "my income". */
function topicOf(scope: EraseScope | undefined, about: string): EraseScope {
  const name = scope?.topic;
  return name !== undefined && new RegExp(`\\b${name}\\b`, "i").test(about) ? { topic: name } : {};
}

/** "The other two stay", "Leif's can stay", "I only want 74,000 on file": what other sentences keep. */
function exceptionsIn(content: string, spans: readonly TextSpan[], found: readonly FoundRequest[]): string[] {
  if (found.length === 0) return [];
  return spans
    .slice(0, MOST_READ)
    .filter(({ start }) => !found.some(({ proposal }) => proposal.start === start))
    .flatMap(({ start, end }) => {
      const text = content.slice(start, end);
      return keptPhrase(text) ?? (isKeeping(text) ? [text] : []);
    });
}

function isQuotation(text: string): boolean {
  return /^["“'‘]/.test(text.trim());
}
