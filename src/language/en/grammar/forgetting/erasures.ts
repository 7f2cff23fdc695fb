import type { Message } from "../../../../domain/message.ts";
import { splitSentences, type TextSpan } from "../../../../domain/text/split-text.ts";
import type { EraseProposal } from "../../../../ports/language/extractor.ts";
import { FUNCTION_WORDS, isOfOtherLanguage } from "../../detect-language.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import { findShapedValues, isDistinctValue } from "../../value-shapes.ts";
import type { RulesReading } from "../known-memory.ts";
import { hasForeignOrder, isDeferred } from "./erase-forms.ts";
import { type EraseScope, eraseScope } from "./erase-scopes.ts";
import { type RequestObject, readRequestObject } from "./request-objects.ts";
import { LIKELY_REQUEST, type ScoredCandidate, SURE_REQUEST, scoreRequest } from "./request-sentences.ts";
import { aboutOf, EVERYTHING, isCorrection, isOfItself, REGRET, statedRequests } from "./stated-requests.ts";

/** The requests to forget in the sentences of a message, and words that are not to be kept at all. */
export function erasuresOf(
  message: Message,
  spans: readonly TextSpan[],
  reading?: RulesReading,
): EraseProposal[] {
  const found: FoundRequest[] = [];
  const stated = Map.groupBy(statedRequests(message, spans, reading), ({ start }) => start);
  for (const span of spans.slice(0, MOST_READ)) {
    const sure = stated.get(span.start) ?? [];
    const request = readSentence(message, span, reading);
    // "What we said last week about the wedding": only the model reads the period beside the description.
    const isOfPeriod = request?.proposal.about !== undefined && request.proposal.from !== undefined;
    // "I don't want you to have her PIN. Delete that.": the words before say what is meant.
    const isNamed = request?.proposal.about !== undefined && sure.every((one) => isOfItself(one));
    if (request && (sure.length === 0 || isOfPeriod)) found.push(request);
    else if (
      request &&
      isNamed &&
      sure.length > 0 &&
      !OFF_RECORD_FORM.test(message.content.slice(span.start, span.end))
    )
      found.push({
        ...request,
        proposal: {
          ...request.proposal,
          isProspective: true,
          confidence: Math.max(STATED_CONFIDENCE, request.proposal.confidence ?? 0),
        },
      });
    else found.push(...sure.map((proposal) => withScope(message, proposal)));
  }
  // "Remove it now. Delete the old number.": the second says what the first means.
  const isNamed = found.some(({ proposal }) => !isOfItself(proposal));
  const kept = found.filter((one) => !isNamed || !isOfItself(one.proposal) || one.isOffRecord);
  const except = exceptionsIn(message.content, spans, found);
  return kept.map(({ proposal }) =>
    except === undefined || proposal.about === undefined
      ? proposal
      : { ...proposal, except: [proposal.except, except].filter((one) => one !== undefined).join("; ") },
  );
}

/** A request that is stated, with what it excepts and whether it means all that belongs to a thing. */
function withScope({ content }: Message, proposal: EraseProposal): FoundRequest {
  const text = content.slice(proposal.start, proposal.end);
  const [candidate] = scoreRequest(text);
  const except = candidate && readRequestObject(text, candidate).except;
  return {
    proposal: {
      ...proposal,
      ...(except === undefined ? {} : { except }),
      ...(BROAD.test(text) ? { isBroad: true } : {}),
      ...((candidate?.probability ?? 0) >= PLAIN ? {} : { confidence: STATED_CONFIDENCE }),
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

/** The request in a sentence, by the model for requests and by what its words mean. */
function readSentence(
  message: Message,
  { start, end }: TextSpan,
  reading: RulesReading | undefined,
): FoundRequest | undefined {
  const text = message.content.slice(start, end);
  const place = { propose: "erase" as const, message: message.id, start, end };
  if (isOfOtherLanguage(text) && hasForeignOrder(text)) {
    const about = foreignObject(text);
    return { proposal: { ...place, confidence: FOREIGN_CONFIDENCE, about }, isOffRecord: false };
  }
  const candidate = candidateIn(text);
  if (!candidate) return undefined;
  const object = readRequestObject(text, candidate);
  const sure = { confidence: candidate.probability };
  const except = object.except === undefined ? {} : { except: object.except };
  const isKeeping = candidate.group === "keep" || candidate.group === "none";
  const broad = BROAD.test(text) ? { isBroad: true } : {};
  const asked = { ...place, ...sure, ...except, ...broad };
  if (object.isPronoun || OWN_TURN.test(object.text)) {
    const proposal = meantByPronoun(
      { message, start, end, text, asked, object, isKeeping, verb: candidate.start },
      reading,
    );
    return proposal && { proposal, isOffRecord: isOfItself(proposal) };
  }
  const wide = wideTarget(object.text, message.at);
  if (wide) return { proposal: { ...asked, ...wide }, isOffRecord: false };
  const words = object.isClause ? descriptionIn(object.text) : object.text;
  const { about, ...within } = withinPeriod(words, message.at);
  const before = message.content.slice(0, start);
  const named = withAntecedent(antecedentOf(aboutOf(about), before), text, before);
  if (named === "") return undefined;
  const prospective = isKeeping && candidate.isNegated ? { isProspective: true } : {};
  return { proposal: { ...asked, ...within, about: named, ...prospective }, isOffRecord: false };
}

/** The verb of a sentence that asks to forget, if one is likely to. */
function candidateIn(text: string): ScoredCandidate | undefined {
  const isRepair = isCorrection(text) && !/\b(?:forget|delete|erase|remove)\b/i.test(text);
  if (!MAY_ASK.test(text) || isRepair || isQuotation(text)) return undefined;
  const candidates = scoreRequest(text);
  // "Delete the code and delete the phrase": the first order holds both.
  const sureOnes = candidates.filter(
    ({ probability, group }) => probability >= SURE_REQUEST && group !== "none",
  );
  const candidate = sureOnes.toSorted((one, other) => one.start - other.start)[0] ?? candidates[0];
  if (!candidate || candidate.probability < LIKELY_REQUEST) return undefined;
  if (isForLater(text, candidate) || REPORTED.test(text.slice(0, candidate.start))) return undefined;
  return candidate;
}

/** Everything, a session, a period or a topic. */
function wideTarget(object: string, at: string): Pick<EraseProposal, "everything"> | EraseScope | undefined {
  if (EVERYTHING.test(object)) return { everything: true };
  const scope = eraseScope(object, at);
  if (scope?.session || scope?.from !== undefined || scope?.to !== undefined) return scope;
  const topic = topicOf(scope, object);
  return topic.topic === undefined ? undefined : topic;
}

/** The telling words of an order in another language. */
function foreignObject(text: string): string {
  const idle = new Set(Object.values(FUNCTION_WORDS).flatMap((words) => words.split(/\s+/)));
  const said = text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}@.'-]*/gu) ?? [];
  return said
    .map((word) => word.replace(/^[ldjmst]['’]|[.'-]+$/g, ""))
    .filter(
      (word) =>
        !idle.has(word) &&
        !hasForeignOrder(word) &&
        !/^(?:bitte|plaît|favor|por|plait|adresse|mich)$/.test(word),
    )
    .join(" ");
}

const OFF_RECORD_FORM = /\b(?:store|save|record|remember|keep|note|write|log)\b|off the record|between/i;
/** From this probability on, a stated form is certain: where nothing is found, the reply says so. */
const PLAIN = 0.5;
/** A form that the model doubts is carried out where what it means is found. */
const STATED_CONFIDENCE = 0.98;
/** A request in another language is asked back where something of it is found. */
const FOREIGN_CONFIDENCE = 0.3;
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

/** A message without any of these words asks for nothing; it need not be parsed. */
const MAY_ASK =
  /for?g[eo]?t|dl?el?e?t|undo\b|unsay|blank|blot|\brub\b|nix|pull|vanish|disappear|\blet\b|out\b|belong|\bhave\b.{0,60}\bhere\b|delet|eras|remov|wip(?:e|ing)|scr(?:ub|ap|atch)|purg|drop|clear|bin\b|trash|ditch|str[iu](?:ke|ck)|redact|expung|unlearn|unremember|discard|destroy|nuke|los[et]|kill|cancel|dump|zap|chuck|thr[oe]w|toss|cross|black|\brid\b|t[ao]ke?n?\b|took|le(?:ave|ft)|g(?:o|one)\b|withdraw|retract|omit|ke(?:ep|pt)|stor|sav(?:e|ing)|rem(?:ember|ind)|record|not(?:e|ing)\b|log\b|logged|retain|h[oe]ld|hang|wr[io]t|memori|remain|stay|put\b|mention|bring|repeat|pretend|act\b|between|ears|notes?\b|memory/i;
/** A topic by its own name: "my health", not "my income". */
function topicOf(scope: EraseScope | undefined, about: string): EraseScope {
  const name = scope?.topic;
  return name !== undefined && new RegExp(`\\b${name}\\b`, "i").test(about) ? { topic: name } : {};
}

const OWN_TURN =
  /^(?:(?:what|the (?:last |previous )?(?:thing|bit|part|stuff)s?|everything|all|that|it|anything)(?: that)? )?(?:i|we)(?:['’]ve| have)? (?:just |only )?(?:said|told you|wrote|typed|sent|mentioned|shared)(?: (?:it|that|so|anything|something))?(?: just now| now| before| earlier)?$|^(?:my|the) (?:very )?(?:last|previous|latest) (?:\p{L}+ )?(?:messages?|sentence|line|comment|remark|thing|turn)(?: i (?:said|wrote|sent|told you))?$|^what i (?:just )?(?:said|wrote|told you)(?: just now| before| earlier)?$|^(?:the thing i just (?:told you|said))$|^(?:that|that one|this one) (?:was|is) (?:just |only )?(?:between us|off the record|private|confidential|not for .*)$/iu;

interface PronounRequest {
  readonly message: Message;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly asked: EraseProposal;
  readonly object: RequestObject;
  readonly isKeeping: boolean;
  /** Where the verb of the request stands in the sentence. */
  readonly verb: number;
}

/** What "it", "that" and "my last message" mean: words of the same message, or the user's turn before. */
function meantByPronoun(
  { message, start, end, text, asked, object, isKeeping, verb }: PronounRequest,
  reading: RulesReading | undefined,
): EraseProposal | undefined {
  const before = message.content.slice(0, start).trim();
  const behind = message.content.slice(end).trim();
  const isOwnTurn = OWN_TURN.test(object.text);
  const isOfTurnBefore = isOwnTurn || /\bthat was\b/i.test(text);
  if (isKeeping && !isOfTurnBefore && tellsAnything(text, object.told ?? "", verb, [before, behind]))
    return asked;
  if (!isKeeping && !isOwnTurn && before !== "") {
    const last = splitSentences(before).at(-1);
    const words = last ? before.slice(last.start, last.end) : before;
    const values = findShapedValues(words).filter(isDistinctValue);
    if (values.length > 0) return { ...asked, about: values.map((value) => value.text).join(", ") };
    return { ...asked, about: descriptionIn(words) };
  }
  // A mere "forget it" takes nothing back.
  if (!isKeeping && !isOwnTurn && NEVER_MIND.test(text) && !REGRET.test(text)) return undefined;
  const turn = reading?.earlier.findLast(
    (one) => one.role === "user" && one.name === message.name && one.content !== "",
  );
  return turn ? { ...asked, messages: [turn.id] } : undefined;
}

const NEVER_MIND = /^\W*(?:\w+ )?forget (?:it|that|this|about it)\b/i;

/** Whether anything is told beside words such as "don't keep this": in their sentence, or around it. */
function tellsAnything(text: string, told: string, verb: number, around: readonly string[]): boolean {
  const sentenceBefore = text
    .slice(0, verb)
    .replace(OFF_RECORD_WORDS, "")
    .replace(/\b(?:don['’]?t|do not|please|pls|actually|but|just|no need to|never)\b|[^\p{L}\s]/giu, " ");
  const said = told === text ? text.replace(OFF_RECORD_WORDS, "") : told;
  return [said, ...around, sentenceBefore].some((words) => (words.match(/\p{L}{2,}/gu) ?? []).length >= 2);
}

const OFF_RECORD_WORDS =
  /\b(?:this|that|it)(?:['’]s| is| was| stays?)?\s+(?=just|strictly|off|between|not|for)|\b(?:just|strictly|only)\b|\boff[- ](?:the[- ])?record\b|\bbetween (?:us|you and me|ourselves|the two of us)\b|\bfor your (?:ears|eyes) only\b|\b(?:not|never) for the \p{L}+|\bplease\b|\bkeep\b/giu;

/** "I should not have told you the bit about Aleks": what it is about. */
function descriptionIn(sentence: string): string {
  const told =
    /\b(?:told|tell|said|say|mentioned|shared|gave)(?: you| to you)?\s+(?<about>.+)$/i.exec(sentence) ??
    /\b(?:hold|have|keep|know|store)\s+(?<about>.+)$/i.exec(sentence);
  const about = aboutOf((told?.groups?.about ?? subjectOf(sentence) ?? sentence).replace(/[.!?]+$/, ""));
  const owner = /\p{Lu}[\p{L}.]+(?: \p{Lu}[\p{L}.]*)*(?=['’]s\b)|(?<=\s)\p{Lu}\p{Ll}+/u.exec(sentence)?.[0];
  return owner === undefined ? about : about.replace(/^(?:her|his|their|its)\b/i, `${owner}'s`);
}

/** "The Kessler discount is not meant for this channel": the discount. */
function subjectOf(sentence: string): string | undefined {
  for (const { tokens } of parseEnglish(sentence)) {
    const subject = tokens.find(({ label, pos }) => /^nsubj/.test(label) && pos !== "PRON");
    if (!subject) continue;
    const isUnder = (i: number): boolean => {
      for (let at = i; at >= 0; at = tokens[at]?.head ?? -1) if (tokens[at] === subject) return true;
      return false;
    };
    const inside = tokens.filter((_one, i) => isUnder(i));
    return sentence.slice(inside[0]?.start, inside.at(-1)?.end);
  }
  return undefined;
}

/** "Brisk withdrew, remove their score", "the bridge changed, the old one can go": whose, and which one. */
function withAntecedent(about: string, sentence: string, before: string): string {
  if (!/^(?:their|his|her|its)\b|\bones?\b/i.test(about)) return about;
  const at = sentence.toLowerCase().indexOf(about.toLowerCase());
  const said = `${before} ${at > 0 ? sentence.slice(0, at) : ""}`.trim();
  const subject =
    said === ""
      ? undefined
      : subjectOf(
          splitSentences(said)
            .map(({ start, end }) => said.slice(start, end))
            .at(-1) ?? said,
        );
  if (subject === undefined) return about;
  const name = /\p{Lu}[\p{L}\p{N}]+(?: \p{Lu}[\p{L}\p{N}.]*)*/u.exec(subject)?.[0] ?? subject;
  return /\bones?\b/i.test(about)
    ? about.replace(/\bones?\b/i, subject.replace(/^(?:the|my|our) /i, ""))
    : about.replace(/^\w+/, `${name}'s`);
}

const PERIOD =
  /^(?<before>.*?)\s*\b(?<time>(?:(?:on|from|during|in|since|before|after) )?(?:yesterday|today|last (?:night|week|month|year|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|this (?:morning|week|month)|(?:the )?(?:last|past) (?:two|three|few|couple of|\d+)? ?(?:hours?|days?|weeks?)|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b(?<behind>.*)$/i;

/** "what we talked about last week about the wedding": the description, and the period in which it was said. */
function withinPeriod(text: string, at: string): { about: string; from?: string; to?: string } {
  if (!/\b(?:said|told|talked|discussed|mentioned|shared|wrote|spoke|gave)\b/i.test(text))
    return { about: text };
  const { before = "", time, behind = "" } = PERIOD.exec(text)?.groups ?? {};
  if (time === undefined) return { about: text };
  const span = eraseScope(`everything I said ${/^last night$/i.test(time) ? "yesterday" : time}`, at);
  if (span?.from === undefined) return { about: text };
  const { from, to } = span;
  return {
    about: `${before} ${behind}`.replace(
      /^.*\b(?:about|said|told you|discussed|mentioned)\s+(?=about|on|regarding)/i,
      "",
    ),
    from,
    ...(to === undefined ? {} : { to }),
  };
}

/** "The other two stay", "Leif's can stay", "I only want 74,000 on file": what other sentences keep. */
function exceptionsIn(
  content: string,
  spans: readonly TextSpan[],
  found: readonly FoundRequest[],
): string | undefined {
  if (found.length === 0) return undefined;
  const kept = spans
    .filter(({ start }) => !found.some(({ proposal }) => proposal.start === start))
    .map(({ start, end }) => content.slice(start, end))
    .filter((text) => KEEPING.test(text) && !/\b(?:don['’]?t|not|never)\b/i.test(text));
  return kept.length === 0 ? undefined : kept.join("; ");
}

const KEEPING = /\b(?:keep|stays?|can stay|leave|remains?|only (?:want|need)|still need)\b/i;

function isQuotation(text: string): boolean {
  return /^["“'‘]/.test(text.trim());
}

/** "Forget her": whom the words before named last. */
function antecedentOf(about: string, before: string): string {
  if (!/^(?:her|him|them|it)$/i.test(about)) return about;
  const all = before.match(/\b(?:my|our) [\p{Ll}-]+|(?<=\p{Ll}\W+)\p{Lu}[\p{L}'-]+/gu);
  return all?.at(-1) ?? about;
}
