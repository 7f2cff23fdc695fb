import { selectMemoriesAt } from "../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../domain/memory.ts";
import type { Recall } from "../../../domain/recall.ts";
import { extractTerms, toWordKey } from "../../../domain/search/search-terms.ts";
import { splitSentences } from "../../../domain/text/split-text.ts";
import { toLocalTime } from "../../../domain/time.ts";
import type {
  Answerer,
  AnswerRequest,
  ComposedReply,
  ComposedText,
} from "../../../ports/language/answerer.ts";
import type { Question, QuestionReader } from "../../../ports/language/question-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isOfOtherLanguage } from "../detect-language.ts";
import { formatDateInWords } from "../format-date.ts";
import { datesIn } from "../grammar/time/dates.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import { toSecondPerson, toSentence } from "../word-forms.ts";
import { type AnswerIndex, answerIndexInSlices } from "./answer-index.ts";
import { bag } from "./bags.ts";
import { choose, withoutName } from "./choose.ts";
import { bagOf, coverage, essence } from "./essence.ts";
import { answerFromEvidence, type DayReader, type EvidenceAnswer } from "./evidence/answer-from-evidence.ts";
import { type EvidencePorts, weighEvidence } from "./evidence/evidence.ts";
import { type Inquiry, readInquiry } from "./evidence/inquiry.ts";
import { fromComposed, type StatementSources } from "./evidence/statements.ts";
import { countMembers, findMembers, isNounOf, type ListQuestion, readListing, sayCount } from "./listing.ts";
import { type Looking, look } from "./look.ts";
import type { Match } from "./match.ts";
import { sayClaims, sayOne, sayPast } from "./say.ts";
import { begunAnswer, timelyAnswer } from "./timely/index.ts";
import { sayAllThen } from "./timely/then.ts";
import { fromPreferences, fromWishes } from "./wishes.ts";
import { yesOrNo } from "./yes-no.ts";

/** What answers in English are composed with. */
interface AnswererPorts extends EvidencePorts {
  readonly questions: QuestionReader;
}

/**
 * Composes answers in English: a short sentence from the current claims, or the dated quote that is about the question.
 */
export function englishAnswerer(ports: AnswererPorts): Answerer {
  return {
    asksForAll,
    formatDate: formatDateInWords,
    compose: (asked) => composeReply(ports, asked),
    findMemory: async (memories, words) => findMeantMemory(await answerIndexInSlices(memories), words),
  };
}

async function composeReply(ports: AnswererPorts, request: AnswerRequest): Promise<ComposedReply> {
  const { question, found, content: state, mayUse, now, asOf, zone, toQuotableText } = request;
  const index = await answerIndexInSlices(state.memories, state.revision);
  const read = ports.questions.read(question, {
    at: toLocalTime(asOf ?? now, zone),
    known: known(index, mayUse),
  });
  const asked = read.measures === "ago" ? question.replace(/\bhow long ago\b/i, "when") : question;
  const whatHolds = (memories: Iterable<Memory>): Memory[] =>
    selectMemoriesAt(memories, now, asOf).flatMap(({ memory, holds }) =>
      holds && mayUse(memory) ? memory : [],
    );
  const isWhole = asksForAll(question);
  // What is quoted, explained or listed whole is exact as it stands.
  const exact =
    verbatim(question, found, state, toQuotableText) ??
    (await request.explain(read)) ??
    (isWhole ? overview(whatHolds(state.memories.values())) : undefined);
  const sources: StatementSources = {
    question,
    user: request.user,
    items: found.items,
    content: state,
    index,
    mayUse,
    isUnbounded: request.isUnbounded,
    now,
    asOf,
    toQuotableText,
  };
  let isUnread = false;
  const fromMemories = async (): Promise<EvidenceAnswer | undefined> => {
    const wished = fromWishes(question, whatHolds(index.instructions));
    if (wished) return { ...wished, isSure: true };
    const asking = { question: asked, read, index, mayUse, state, now, asOf, zone };
    const timely = await timelyFor(ports, asking);
    if (timely !== undefined && timely !== "unknown") return { ...timely, isSure: true };
    const inquiry = readInquiry(question, read);
    const composed =
      timely === "unknown"
        ? undefined
        : await fromClaims(
            ports,
            asking,
            inquiry,
            found.items.map(({ text }) => text),
          );
    // Of the past claims tell more than what was said: what came after what.
    if (composed && (asOf !== undefined || read.past === true)) return { ...composed, isSure: true };
    const isListed = readListing(inquiry, read) !== undefined;
    const statements = composed ? [fromComposed(sources, composed, isListed)] : [];
    const findings = await weighEvidence(ports, sources, inquiry, statements, read.past !== true);
    isUnread = findings.isUnread === true;
    const answer = answerFromEvidence(findings, timely !== "unknown", readDay);
    return answer ?? sureOf(fromPreferences(question, found.items));
  };
  const answer = exact ?? (isWhole ? undefined : await fromMemories());
  return {
    answer,
    isSure: exact !== undefined || (!isUnread && (answer as EvidenceAnswer | undefined)?.isSure === true),
    isExact: exact !== undefined || isWhole,
    isAboutAnswer: read.talk !== undefined,
    isUnread,
  };
}

function sureOf(composed: ComposedText | undefined): EvidenceAnswer | undefined {
  return composed && { ...composed, isSure: true };
}

/** What a question can name: who is called what, and one memory of each subject. */
function known(index: AnswerIndex, mayUse: (memory: Memory) => boolean): Memory[] {
  const isUsed = (memory: Memory): boolean => memory.status !== "retracted" && mayUse(memory);
  return [...index.slots.values()].flatMap((relations) => {
    const namings = [...(relations.get("be called") ?? [])].filter(isUsed);
    const [one] = namings.filter(({ status }) => status === "current");
    return one ? namings : [...namings, ...oneOf(relations, isUsed)];
  });
}

/** One memory of a subject, a current one where there is one. */
function oneOf(
  relations: ReadonlyMap<string, ReadonlySet<Memory>>,
  isUsed: (memory: Memory) => boolean,
): Memory[] {
  let found: Memory | undefined;
  for (const memories of relations.values()) {
    for (const memory of memories) {
      if (!isUsed(memory)) continue;
      if (memory.status === "current") return [memory];
      found ??= memory;
    }
  }
  return found ? [found] : [];
}

interface Asking extends Looking {
  readonly question: string;
  readonly read: Question;
  readonly zone: string | undefined;
}

/** What the times of claims answer; "unknown" where they would have to, and do not. */
function timelyFor(ports: AnswererPorts, asking: Asking): Promise<ComposedText | "unknown" | undefined> {
  const { question, read, now, asOf } = asking;
  return timelyAnswer({
    text: question,
    read,
    looking: asking,
    all: () => [...asking.state.memories.values()].filter(asking.mayUse),
    reread: (text) =>
      ports.questions.read(text, {
        at: toLocalTime(asOf ?? now, asking.zone),
        known: known(asking.index, asking.mayUse),
      }),
    look: (text, wanted, span) => look(asking, text, wanted, span),
    choose: (wanted, found) => choose(ports.embedder, wanted, found),
  });
}

async function fromClaims(
  ports: AnswererPorts,
  asking: Asking,
  inquiry: Inquiry,
  texts: readonly string[],
): Promise<ComposedText | undefined> {
  const { question, read, now, asOf } = asking;
  const { asked, held, found } = look(asking, question, read);
  const listing = asOf === undefined ? readListing(inquiry, read) : undefined;
  const members = listing ? findMembers(listing, asking.index, asking.mayUse, now) : [];
  if (read.asks === "yes_no") {
    const said = yesOrNo(asked, found, held);
    const isMany = members.length > 1 && said?.text.startsWith("Yes") === true;
    return (said && !isMany) || members.length === 0 ? said : affirmAny(members, read, question);
  }
  const chosen = withMembers(await choose(ports.embedder, read, found), members, listing);
  const counted = listing?.asks === "number" ? countAll(listing, members, chosen, texts) : undefined;
  if (counted) return counted;
  if (chosen.length === 0) return read.asks === "when" ? begunAnswer(asking, read, question) : undefined;
  if (asOf === undefined || read.tense !== "past") return compose(chosen, read, question);
  const memories = chosen.map(({ memory }) => memory);
  return { text: sayAllThen(memories, read, question, now), used: memories.map(({ id }) => id) };
}

/** What was chosen by its relation, and what else is of the kind that is asked for. */
function withMembers(
  chosen: readonly Match[],
  members: readonly Memory[],
  listing: ListQuestion | undefined,
): Match[] {
  if (listing?.asks !== "all" || members.length === 0) return [...chosen];
  const known = new Set(chosen.map(({ memory }) => memory));
  // What is claimed of the things themselves ("my hobbies are …") was chosen where it holds.
  const isChosen = ({ claim }: Memory): boolean =>
    chosen.length > 0 && claim?.relation === "be" && isNounOf(claim.subject, listing.kind, true);
  const others = members.filter((memory) => !known.has(memory) && !isChosen(memory));
  return [...chosen.filter(({ holds }) => holds), ...others.map(toMember)];
}

/** The number that a claim tells of the kind itself ("three sisters"), or of all that are of the kind. */
function countAll(
  { kind }: ListQuestion,
  members: readonly Memory[],
  chosen: readonly Match[],
  texts: readonly string[],
): ComposedText | undefined {
  const number = countMembers(members, kind, texts);
  const isTold =
    chosen[0]?.holds === true && countMembers([chosen[0].memory], kind, []) === number && number > 1;
  if (number === 0 || isTold) return undefined;
  return { text: sayCount(number, members), used: members.map(({ id }) => id) };
}

function affirmAny(members: readonly Memory[], read: Question, asked: string): ComposedText {
  const said = sayAll(members.map(toMember), read, asked);
  return {
    text: `Yes, ${said.replace(/^Y(?=ou)/, "y")}`,
    used: members.map(({ id }) => id),
  };
}

function toMember(memory: Memory): Match {
  return { memory, holds: true, by: "relation", score: 3, kind: true, isNarrowed: false };
}

function compose(chosen: readonly Match[], read: Question, asked: string): ComposedText {
  const [first] = chosen;
  const used = chosen.map(({ memory }) => memory.id);
  if (!first) return { text: "", used: [] };
  if (!first.holds)
    return { text: sayPast(ofOneRelation(chosen, first).flatMap(({ memory }) => memory.claim ?? [])), used };
  if (chosen.length === 1)
    return { text: informing(sayOne(first.memory, read, asked), first.memory, asked), used };
  return { text: sayAll(chosen, read, asked), used };
}

/** "What did I move to Rotterdam for?": where the short answer says only what was asked with, the whole memory. */
function informing(text: string, memory: Memory, asked: string): string {
  const known = bagOf(asked);
  const tellsMore = (said: string): boolean => essence(said).some((word) => !known.has(word));
  if (tellsMore(text)) return text;
  const whole = toSentence(toSecondPerson(memory.text));
  return tellsMore(whole) ? whole : text;
}

function ofOneRelation(chosen: readonly Match[], first: Match): Match[] {
  return chosen.filter(({ memory }) => memory.claim?.relation === first.memory.claim?.relation);
}

/** One sentence for each relation, with all its values. */
function sayAll(chosen: readonly Match[], read: Question, asked: string): string {
  const groups = new Map<string, Match[]>();
  for (const match of chosen) {
    const key = JSON.stringify([
      withoutName(match.memory.claim?.subject ?? ""),
      match.memory.claim?.relation,
      match.memory.kind === "event",
    ]);
    groups.set(key, [...(groups.get(key) ?? []), match]);
  }
  const sentences = [...groups.values()].map((group) => {
    const [first] = group;
    if (!first) return "";
    const values = new Set(group.map(({ memory }) => memory.claim?.value.toLowerCase()));
    const isPlain =
      values.size > 1 &&
      first.memory.kind !== "event" &&
      first.memory.kind !== "instruction" &&
      first.memory.kind !== "commitment";
    if (isPlain)
      return sayClaims(
        group.flatMap(({ memory }) => memory.claim ?? []),
        "",
      );
    return group
      .map(({ memory }) =>
        group.length === 1 ? sayOne(memory, read, asked) : toSentence(toSecondPerson(memory.text)),
      )
      .join(" ");
  });
  return sentences.join(" ");
}

/**
 * The one day that words name. A day without a year lies ahead of what is told in the present. A weekday alone is none there:
 * "bin day is Tuesday" is of every week.
 */
const readDay: DayReader = (words, at) => {
  const isPast = parseEnglish(words).some(({ tokens }) => tokens.some(({ tag }) => tag === "VBD"));
  const dates = datesIn(words, at, !isPast);
  const [date] = dates;
  if (dates.length !== 1 || date === undefined || date.iso.length < 10) return undefined;
  const isWeekdayAlone = /^(?:on )?\p{L}+days?$/iu.test(words.slice(date.start, date.end));
  return isWeekdayAlone && !isPast ? undefined : date.iso.slice(0, 10);
};

/** The memory whose words contain all distinctive ones; current memories first, then the newest. */
function findMeantMemory(index: AnswerIndex, about: string): Memory | undefined {
  const telling = essence(about);
  if (telling.length === 0) return undefined;
  const [rare] = telling
    .map((word) => index.words.get(word) ?? new Set<Memory>())
    .sort((one, other) => one.size - other.size);
  return [...(rare ?? [])]
    .filter((memory) => !memory.quarantined && coverage(bag(memory), telling) === 1)
    .sort((one, other) => rankStatus(one) - rankStatus(other) || (one.at < other.at ? 1 : -1))[0];
}

function rankStatus({ status }: Memory): number {
  return status === "current" ? 0 : 1;
}

/** "What do you know about me?" and its like: no single thing is asked for, but all that is known. */
const WHOLE =
  /^(?:(?:so|ok(?:ay)?|hey|and|please|well|can you|could you|would you)[,\s]+)*(?:what(?:'s| is| do| have| did)? (?:(?:all|everything) )?(?:(?:that )?you (?:still |already |now |really )?(?:know|remember|recall|got|have|learn(?:t|ed)?|stored?|kept|keep|noted)(?: stored| saved| noted| down)?(?: (?:about|of|on) (?:me|myself))?|i(?:'ve| have)? (?:tell|told) you(?: (?:about (?:me|myself)))?)(?: (?:so far|until now|up to now|already))?|who am i|(?:tell me|say|list|show me|summari[sz]e|give me|sum up) (?:(?:about (?:me|myself))|(?:what|everything|all)(?: that)? (?:you (?:know|remember|have)|i(?:'ve| have)? told you)(?: (?:about|of|on) (?:me|myself))?)(?: so far)?|describe me)\s*[?.!]*$/i;

/** Whether a question asks for all that is known about the user. */
export function asksForAll(question: string): boolean {
  return WHOLE.test(question.trim().replaceAll("’", "'"));
}

/** More would not be read in a conversation; the profile has all. */
const MOST = 12;

/** What holds about the user, the weightiest first, as one would say it; nothing where nothing is known. */
function overview(
  memories: readonly Memory[],
): { readonly text: string; readonly used: readonly string[] } | undefined {
  if (memories.length === 0) return undefined;
  const ordered = [...memories].sort((a, b) => weight(b) - weight(a) || (a.id < b.id ? -1 : 1));
  const told = ordered.slice(0, MOST);
  const said = told.map(({ text }) => toSentence(toSecondPerson(text)));
  const more = memories.length - told.length;
  const rest = more > 0 ? [`And ${more} more ${more === 1 ? "thing" : "things"}.`] : [];
  return { text: [...said, ...rest].join(" "), used: told.map(({ id }) => id) };
}

function weight({ importance, confidence, evidence, kind }: Memory): number {
  const lasting = kind === "event" ? 0.6 : 1;
  return importance * confidence * lasting * (1 + Math.log2(evidence) / 10);
}

/**
 * The answer to a question in a language that nothing here composes sentences in: what the user said that comes nearest,
 * word for word, with its day. Nothing for a question in English, and where nothing was found.
 */
function verbatim(
  question: string,
  { items }: Pick<Recall, "items">,
  { messages }: Pick<StoredContent, "messages">,
  toQuotableText: AnswerRequest["toQuotableText"],
): { readonly text: string; readonly used: readonly string[] } | undefined {
  if (!isOfOtherLanguage(question)) return undefined;
  const terms = new Set(extractTerms(question));
  let best: (Said & { readonly shared: number }) | undefined;
  for (const said of sentencesSaid(items, messages, toQuotableText)) {
    // Asked before, it is no answer.
    if (toWordKey(said.sentence) === toWordKey(question)) continue;
    const shared = new Set(extractTerms(said.sentence).filter((term) => terms.has(term))).size;
    if (shared > (best?.shared ?? 0)) best = { ...said, shared };
  }
  return best && { text: `${best.day}: “${best.sentence}”`, used: [best.id] };
}

interface Said {
  /** The item's id. */
  readonly id: string;
  readonly sentence: string;
  readonly day: string;
}

const QUESTION_MARK = /[?？؟\u037e]["”'’」』）)\]]*$/u;

/** What the user stated in the passages found, best first. */
function* sentencesSaid(
  items: Recall["items"],
  messages: StoredContent["messages"],
  toQuotableText: AnswerRequest["toQuotableText"],
): Iterable<Said> {
  for (const { id, type, sources } of items) {
    const [source] = sources;
    const message = type === "passage" && source ? messages.get(source.message) : undefined;
    if (!source || message?.role !== "user" || message.undone) continue;
    for (const span of splitSentences(message.content)) {
      const sentence = toQuotableText(message.content, source, span);
      if (sentence !== "" && !QUESTION_MARK.test(sentence))
        yield { id, sentence, day: message.at.slice(0, 10) };
    }
  }
}
