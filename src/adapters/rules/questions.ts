import { pastParticiple, singular } from "../../domain/english.ts";
import type { Memory } from "../../domain/memory.ts";
import {
  answeringRelations,
  attributeRelations,
  canonicalRelation,
  canonicalThing,
} from "../../domain/relations.ts";
import type { Question, QuestionReader } from "../../ports/question-reader.ts";
import { tidy } from "./context.ts";
import { datesIn, spanOf } from "./dates.ts";
import { discourse, headWord, speakerEntity, textOf } from "./entities.ts";
import { isLastingOrder } from "./instructions.ts";
import { AUXILIARIES, BE, FIRST_PERSON, PREPOSITIONS } from "./lexicon.ts";
import { readNounPhrase } from "./noun-phrases.ts";
import { nounOf } from "./nouns.ts";
import { phrasesOf } from "./phrases.ts";
import { tagSentences } from "./tagger.ts";
import type { Token } from "./token.ts";
import { readVerb, type Verb } from "./verbs.ts";

const PREAMBLE =
  /^(?:(?:and|so|ok|okay|hey|hi|hello|oh|hmm+|um+|well|also|but|now|right|wait|btw|please|pls|sorry|quick (?:one|question)|random(?: question)?|just checking|remind me|tell me|let me know|i forgot|i forget|i can['’]?t (?:remember|recall)|i don['’]?t (?:remember|know|recall)|do you (?:know|remember|recall|happen to know|still know|have any idea)|can you (?:tell me|remind me|remember|recall)|could you (?:tell me|remind me)|would you (?:know|tell me)|any idea|you know|did i (?:ever )?(?:tell|mention to) you|have i (?:ever )?(?:told|mentioned to) you|i wonder|i was wondering|according to what i (?:told|said to) you|from what i['’]?ve told you|from memory|again)[,:!.\s]+)+/i;
const WH = /\b(?:what|which|who|whom|whose|where|when|why|how)\b/i;

const CALL_TO_KNOW =
  /^(?:and |so |ok |hey |please |can you |could you |just )*(?:tell me|remind me|do you (?:know|remember)|what do you know|list|name|summari[sz]e|describe)\b/i;

/** Reads questions about the one who asks and their people, by grammar. */
export function rulesQuestionReader(): QuestionReader {
  return {
    isQuestion(message) {
      return isQuestion(message);
    },
    read(question, context) {
      return read(question.slice(0, 600), context);
    },
  };
}

const ASKING_START =
  /^(?:(?:and|so|ok|okay|hey|hi|hello|oh|hmm+|well|also|but|now|btw|please|sorry)[,!.\s]+)*(?:what(?:['’]?s|['’]re)?|which|who(?:['’]?s|m|se)?|where(?:['’]?s)?|when(?:['’]?s)?|why|how(?:['’]?s)?)\s+(?:\w+(?:['’]\w+)? )*?(?:am|is|are|was|were|do|does|did|have|has|had|can|could|should|would|will|to|many|much|old|far|long|often)\b/i;
const WHS =
  /^(?:(?:and|so|ok|hey|oh|well|also|but|now|btw)[,!.\s]+)*(?:what['’]?s|who['’]?s|where['’]?s|when['’]?s|how['’]?s)\b/i;
const WH_SUBJECT =
  /^(?:(?:and|so|ok|hey|oh|well|also|but|now|btw)[,!.\s]+)*(?:who|which \w+|what) \w+s\b[^,]*$/i;
const INVERTED =
  /^(?:(?:and|so|ok|hey|oh|well|also|but|now|btw)[,!.\s]+)*(?:am|is|are|was|were|do|does|did|have|has|can|could|should|would|will|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|haven['’]t) (?:i|you|we|he|she|it|they|my|our|the|there|this|that|\p{Lu}\p{L}+)\b/iu;

function isQuestion(message: string): boolean {
  const text = message.trim();
  if (text === "" || text.length > 2000) return false;
  const sentences = text.match(/[^.!?\n]+[.!?]*/g) ?? [text];
  const last = sentences.at(-1)?.trim() ?? text;
  if (/^(?:please |can you |could you |will you |would you )+(?:forget|delete|erase|remove)\b/i.test(text))
    return false;
  if (/\?["”')\]]*\s*$/.test(text)) return true;
  if (sentences.some((one) => /\?\s*$/.test(one.trim()))) return true;
  const order = isLastingOrder(last);
  return (
    !order &&
    (WHS.test(last) ||
      ASKING_START.test(last) ||
      WH_SUBJECT.test(last) ||
      (INVERTED.test(last) && !/,/.test(last)) ||
      CALL_TO_KNOW.test(last))
  );
}

interface Asking {
  readonly text: string;
  readonly tokens: Token[];
  readonly context: { readonly at: string; readonly known: readonly Memory[] };
}

function read(
  question: string,
  context: { readonly at: string; readonly known: readonly Memory[] },
): Question {
  const led = LED.exec(question);
  if (led?.groups)
    return read(`${led.groups.wh}${led.groups.verb} ${led.groups.whom} ${led.groups.rest}`, context);
  const text = bare(question);
  const tokens = tagSentences(text).flat();
  if (tokens.length === 0) return { asks: "unknown", relations: [] };
  const asking: Asking = { text, tokens, context };
  const reading = special(asking) ?? whQuestion(asking) ?? yesNo(asking) ?? stated(asking) ?? loose(asking);
  return { ...reading, ...pastOf(text, reading), ...spanIn(asking) };
}

/** "And my cousin, what does he play?" */
const LED =
  /^(?:and |so |but |ok |as for |what about )*(?<whom>(?:my|our|the) [\p{L}' -]{2,40}|\p{Lu}\p{L}+),? (?<wh>(?:what|which|where|when|who|how)(?: \p{L}+)?)(?<verb> (?:do|does|did|is|are|was|has|have|will)) (?:he|she|it|they) (?<rest>.+)$/iu;

/** The sentence that asks, without what leads up to it. */
function bare(question: string): string {
  const sentences = question.match(/[^.!?\n]+[.!?]*/g) ?? [question];
  const asking =
    sentences.findLast((one) => one.includes("?")) ??
    sentences.findLast((one) => WH.test(one)) ??
    sentences.at(-1) ??
    question;
  let text = asking.trim().replace(/["“”]/g, "");
  text = text.replace(
    /^.*?(?:—|–| - |: )\s*(?=(?:what|which|who|where|when|how|do|does|did|am|is|are|have)\b)/i,
    "",
  );
  const stripped = text.replace(PREAMBLE, "");
  return (
    stripped
      .replace(
        /\b(?:again|by the way|btw|please|exactly|actually|currently|now|these days|nowadays|at the moment|still|ever|already|right now|then|also|tho|though|anyway|or not|for me)\b(?=\s*[?.!]*$)/gi,
        "",
      )
      .trim() || text
  );
}

function pastOf(text: string, reading: Question): Pick<Question, "past"> {
  const isPast =
    /\b(?:used to|before(?:hand)?\s*\??$|previously|formerly|earlier|in the past|back then|originally|ex-|previous|former|old (?:job|address|flat|number|place|employer|phone))\b/i.test(
      text,
    ) || /\b(?:did|was|were) (?:i|my|we|our)\b.*\bbefore\b/i.test(text);
  return isPast && reading.asks !== "unknown" ? { past: true } : {};
}

function spanIn({ text, context }: Asking): Pick<Question, "from" | "to"> {
  if (
    context.at === "" ||
    !/\b(?:last|this|next|in|on|yesterday|today|tomorrow|since|during|ago)\b/i.test(text)
  )
    return {};
  const future =
    /\b(?:will|going to|next|tomorrow|planning|plans?)\b/i.test(text) || /\bam i\b.*ing\b/i.test(text);
  const [date] = datesIn(text, context.at, future);
  return date && date.iso.length <= 10 ? spanOf(date.iso) : {};
}

/** Questions about the talk itself: how to be called, how to be answered. */
function special({ text }: Asking): Question | undefined {
  if (
    /\b(?:what|how)\b.*\b(?:call|address) me\b|\bwhat (?:do|should|am|would) i (?:want|like|prefer|go by|wish)\b.*\bcalled\b|\bwhat (?:name )?do i go by\b|\bwhich name (?:should|do)\b/i.test(
      text,
    )
  ) {
    return {
      asks: "value",
      subject: "user",
      relations: ["wish to be called", "be nicknamed", "be called"],
      tense: "present",
    };
  }
  const order =
    /\b(?:how|what|which|in what|in which)\b.*\b(?:want|like|prefer|should|ask(?:ed)?|tell|told|need)\b.*\b(?:you|answers?|repl(?:y|ies)|respon(?:d|ses?))\b/i.test(
      text,
    ) &&
    /\b(?:answer|reply|repl(?:y|ies)|respond|responses?|write|talk|speak|format|explain|language|style|tone|units?|avoid|never|always|do|address|use|give)\b/i.test(
      text,
    ) &&
    !/\bdid i (?:tell|say|mention)\b.*\babout\b/i.test(text);
  if (order) {
    const topic = /\b(language|style|tone|format|units?|length|emojis?)\b/i.exec(text)?.[1];
    return {
      asks: "value",
      subject: "user",
      relations: ["want the assistant to"],
      ...(topic ? { topic } : {}),
      tense: "present",
    };
  }
  const about =
    /\bwhat do you know about (.+?)[?.!]*$/i.exec(text) ??
    /^(?:tell me )?(?:everything )?about (.+?)[?.!]*$/i.exec(text);
  if (about?.[1]) {
    const whom = about[1].trim();
    if (/^(?:me|myself)$/i.test(whom)) return { asks: "value", subject: "user", relations: [] };
    return { asks: "unknown", relations: [], topic: whom };
  }
  return undefined;
}

function resolver(context: Asking["context"]): ReturnType<typeof discourse> {
  return discourse(
    speakerEntity(undefined),
    () => context.known.flatMap(({ claim, status }) => (claim && status === "current" ? [claim] : [])),
    () => [],
  );
}

function skipLight(tokens: readonly Token[], from: number): number {
  let at = from;
  while (
    at < tokens.length &&
    (tokens[at]?.class === "adverb" ||
      tokens[at]?.class === "other" ||
      ["and", "so", "but"].includes(tokens[at]?.lower ?? ""))
  )
    at += 1;
  return at;
}

function whQuestion(asking: Asking): Question | undefined {
  const { tokens } = asking;
  let at = skipLight(tokens, 0);
  let stranded: string | undefined;
  if (tokens[at]?.class === "preposition" && isWh(tokens[at + 1])) {
    stranded = tokens[at]?.lower;
    at += 1;
  }
  const wh = tokens[at];
  if (!isWh(wh)) return undefined;
  // "which of my friends", "how many", "what kind of"
  let verbAt = at + 1;
  while (verbAt < tokens.length && (tokens[verbAt]?.class !== "verb" || isTopicVerb(tokens, verbAt, at)))
    verbAt += 1;
  const own = ownSubject(asking, at + 1, verbAt, wh.lower);
  if (own) return own;
  const topic = topicOf(asking, at + 1, verbAt);
  const frame: Frame = { wh: wh.lower, topic, ...(stranded ? { stranded } : {}) };
  if (verbAt >= tokens.length) return loose(asking);
  return framed(asking, frame, verbAt);
}

/** "where I live", "what my sister does": the order of a statement. */
function ownSubject(asking: Asking, from: number, verbAt: number, wh: string): Question | undefined {
  const { tokens } = asking;
  for (let start = from; start < verbAt; start += 1) {
    const token = tokens[start];
    const opens =
      token &&
      ((token.class === "pronoun" && ["i", "we", "he", "she", "they", "it"].includes(token.lower)) ||
        (token.class === "possessive" && start > from - 1));
    if (!opens) continue;
    const verb = readVerb(tokens, verbAt, tokens.length);
    if (!verb) return undefined;
    const topic = topicOf(asking, from, start);
    const subject = entityAt(asking, start, verbAt);
    return assemble(asking, { wh, topic }, subject, verb, verb.to);
  }
  return undefined;
}

function isWh(token: Token | undefined): token is Token {
  return (
    token !== undefined &&
    WH.test(token.lower) &&
    /^(?:what|which|who|whom|whose|where|when|why|how)$/.test(token.lower)
  );
}

/** "what running shoes do I": a participle in the noun phrase is not the verb. */
function isTopicVerb(tokens: readonly Token[], at: number, wh: number): boolean {
  const token = tokens[at];
  if (!token || AUXILIARIES.has(token.lower)) return false;
  return (
    tokens
      .slice(at + 1)
      .some((one, i) => AUXILIARIES.has(one.lower) && one.contracted !== "rest" && i < 4 && at - wh <= 2) &&
    !/^(?:who|where|when)$/.test(tokens[wh]?.lower ?? "")
  );
}

interface Frame {
  readonly wh: string;
  readonly topic: string;
  readonly stranded?: string;
}

function topicOf(asking: Asking, from: number, to: number): string {
  if (from >= to) return "";
  return tidy(textOf(asking.tokens, [from, to]))
    .replace(/^(?:of )?(?:kinds?|types?|sorts?|brands?|makes?|models?) of /i, "")
    .replace(/^the /i, "");
}

interface Subject {
  /** Its path, as in claims. */
  readonly path: string;
  readonly to: number;
}

function entityAt(asking: Asking, from: number, to: number): Subject | undefined {
  const { tokens, context } = asking;
  const talk = resolver(context);
  const slice = tokens.slice(from, to);
  if (slice.some((token) => token.class === "pronoun" && FIRST_PERSON.has(token.lower)))
    return { path: "user", to };
  const entity = talk.resolve(tokens, from, to);
  if (entity) return { path: entity.path, to };
  // A name in small letters, as people type it.
  const text = textOf(tokens, [from, to]).toLowerCase();
  const named = context.known.find(
    ({ claim }) => claim?.relation === "be called" && claim.value.toLowerCase() === text,
  );
  if (named?.claim) return { path: named.claim.subject, to };
  const bareName = slice.length <= 2 && slice.every(({ class: kind }) => kind === "noun" || kind === "name");
  const spoken = bareName
    ? context.known.find(({ claim }) => claim?.subject.toLowerCase() === text)
    : undefined;
  if (spoken?.claim) return { path: spoken.claim.subject, to };
  return undefined;
}

/** From the verb on: auxiliary, subject, main verb, rest. */
function framed(asking: Asking, frame: Frame, verbAt: number): Question {
  const { tokens } = asking;
  const auxiliary = tokens[verbAt];
  if (!auxiliary) return loose(asking);
  if (!AUXILIARIES.has(auxiliary.lower)) return subjectQuestion(asking, frame, verbAt);
  const start = skipNegation(tokens, verbAt + 1);
  const first = tokens[start];
  if (!first) return loose(asking);
  if (
    first.class === "verb" ||
    first.class === "adverb" ||
    first.class === "preposition" ||
    first.class === "adjective"
  )
    return subjectQuestion(asking, frame, verbAt);
  const end = first.class === "pronoun" ? start + 1 : subjectEnd(tokens, start, auxiliary.lower);
  const subject = entityAt(asking, start, end);
  const main = mainVerb(tokens, verbAt, end);
  const verb = main ?? readVerb(tokens, verbAt, verbAt + 1);
  if (!verb) return loose(asking);
  if (!main && BE.has(auxiliary.lower) && first.class === "pronoun") {
    const noun = memberOf(tokens, end);
    if (noun && subject)
      return {
        asks: askedFor(frame),
        subject: subject.path,
        relations: [noun, ...answeringRelations(noun)],
        ...topicPart(frame),
        tense: "present",
      };
  }
  if (!main && BE.has(auxiliary.lower)) return copulaQuestion(asking, frame, start, end, auxiliary.lower);
  const perfect = verb.perfect || /^(?:have|has|had)$/.test(auxiliary.lower);
  const passive =
    verb.passive ||
    (BE.has(auxiliary.lower) && main !== undefined && !/ing$/.test(tokens[main.to - 1]?.lower ?? ""));
  return assemble(
    asking,
    frame,
    subject,
    { ...verb, perfect, passive, tense: auxiliaryTense(auxiliary.lower, verb) },
    main ? main.to : end,
  );
}

/** "What am I a member of?" */
function memberOf(tokens: readonly Token[], from: number): string | undefined {
  const rest = tokens.slice(from);
  const last = rest.at(-1);
  if (rest.length < 2 || !last || !PREPOSITIONS.has(last.lower)) return undefined;
  return `be ${rest.map(({ lower }) => lower).join(" ")}`;
}

function skipNegation(tokens: readonly Token[], from: number): number {
  let at = from;
  while (tokens[at]?.class === "negation") at += 1;
  return at;
}

function auxiliaryTense(auxiliary: string, verb: Verb): Verb["tense"] {
  if (/^(?:did|was|were|had)$/.test(auxiliary)) return "past";
  return auxiliary === "will"
    ? "future"
    : verb.tense === "past" && /^(?:have|has)$/.test(auxiliary)
      ? "present"
      : verb.tense === "past"
        ? "present"
        : verb.tense;
}

/** The noun phrase after the auxiliary, "of" and place included: "the name of my trainer". */
function subjectEnd(tokens: readonly Token[], start: number, auxiliary: string): number {
  const end = Math.min(readNounPhrase(tokens, start, tokens.length) ?? start + 1, tokens.length);
  // "Tina moving", "my brother play": what the tagger takes for one phrase.
  for (let at = start + 1; at < end; at += 1) {
    const token = tokens[at];
    if (
      token &&
      BE.has(auxiliary) &&
      /[a-z]{2}ing$/.test(token.lower) &&
      at === end - 1 &&
      /ing$/.test(token.word)
    )
      return at;
  }
  const last = tokens[end - 1];
  const doing = /^(?:do|does|did|can|will|should|would)$/.test(auxiliary);
  const first = tokens[start];
  const next = tokens[start + 1];
  // "Is Sofie vegan?"
  if (
    BE.has(auxiliary) &&
    first &&
    next &&
    start + 1 < end &&
    /^\p{Lu}/u.test(first.word) &&
    !first.owner &&
    /^[a-z]/.test(next.word) &&
    !next.owner
  )
    return start + 1;
  const wide = widerEnd(tokens, start, end, doing);
  if (wide !== undefined) return wide;
  if (
    doing &&
    end - start > 1 &&
    last &&
    !last.owner &&
    /^[a-z]+$/.test(last.word) &&
    (end === tokens.length || PREPOSITIONS.has(tokens[end]?.lower ?? ""))
  )
    return end - 1;
  return end;
}

/** "my flight TO OSLO": a name behind a preposition belongs to the noun where something follows, or nothing does. */
function widerEnd(tokens: readonly Token[], start: number, end: number, doing: boolean): number | undefined {
  const joint = tokens[end];
  const name = tokens[end + 1];
  if (
    tokens[start]?.class !== "possessive" ||
    !joint ||
    !name ||
    !/^(?:to|from|with|for|in|at)$/.test(joint.lower) ||
    !/^\p{Lu}/u.test(name.word)
  )
    return undefined;
  let to = end + 2;
  while (to < tokens.length && /^\p{Lu}/u.test(tokens[to]?.word ?? "")) to += 1;
  return doing && to >= tokens.length ? undefined : to;
}

/** The main verb behind the subject; after "do" any word there is one. */
function mainVerb(tokens: Token[], auxiliary: number, from: number): Verb | undefined {
  let at = from;
  while (
    tokens[at]?.class === "adverb" ||
    tokens[at]?.class === "negation" ||
    ["still", "ever", "also"].includes(tokens[at]?.lower ?? "")
  )
    at += 1;
  const token = tokens[at];
  const helper = tokens[auxiliary]?.lower ?? "";
  if (!token) return undefined;
  const doing = /^(?:do|does|did|should|can|could|would|will)$/.test(helper);
  if (doing && token.class !== "preposition" && token.class !== "determiner" && token.class !== "possessive")
    token.class = "verb";
  if (BE.has(helper) && /ing$/.test(token.lower) && token.class !== "pronoun" && token.class !== "determiner")
    token.class = "verb";
  if (
    BE.has(helper) &&
    token.class === "verb" &&
    !/(?:ing|ed|en|wn|ught|pt|ld|id)$/.test(token.lower) &&
    !token.tags.has("PastTense")
  )
    return undefined;
  return token.class === "verb" ? readVerb(tokens, at, tokens.length) : undefined;
}

const GENERIC_TOPIC = /^(?:things?|stuff|one|ones|kinds?|types?|sorts?|names?|of|all)$/i;

/** "What is my sister's job?", "What colour is my car?", "Who is my pension with?" */
function copulaQuestion(
  asking: Asking,
  frame: Frame,
  start: number,
  end: number,
  auxiliary: string,
): Question {
  const { tokens } = asking;
  const tense = /^(?:was|were)$/.test(auxiliary) ? "past" : "present";
  const rest = tokens.slice(end);
  const tail = rest.find(({ class: kind }) => kind === "preposition");
  const stranded =
    frame.stranded ?? (tail && rest.indexOf(tail) === rest.length - 1 ? tail.lower : undefined);
  const participle = rest.find(({ lower }) =>
    /^(?:called|named|due|married|allergic|subscribed|engaged|born|based|scared|afraid|from|located|scheduled|into|registered|interested|diagnosed|insured|fluent|employed|parked|held|booked)$/.test(
      lower,
    ),
  );
  const asks = askedFor(frame);
  const narrows = narrowing(asking, end);
  const common = { asks, ...topicPart(frame), ...narrows, tense } as const;
  const subject = entityAt(asking, start, end);
  if (participle?.lower === "called" || participle?.lower === "named") {
    return { ...common, ...(subject ? { subject: subject.path } : {}), relations: ["be called"] };
  }
  if (participle && subject) {
    const joint = stranded ?? rest[rest.indexOf(participle) + 1]?.lower;
    const relation =
      participle.lower === "from"
        ? "be from"
        : `be ${participle.lower}${joint && joint !== participle.lower && tokens.some(({ lower, class: kind }) => lower === joint && kind === "preposition") ? ` ${joint}` : ""}`;
    return {
      ...common,
      subject: subject.path,
      relations: [
        ...new Set([
          ...answeringRelations(canonicalRelation(relation)),
          `be ${participle.lower}`,
          ...(participle.lower === "due" ? ["be due on", "be due in", "be on"] : []),
          ...(participle.lower === "born" ? ["be born in", "be born on", "be from"] : []),
        ]),
      ],
    };
  }
  if (stranded && subject)
    return {
      ...common,
      subject: subject.path,
      relations: [...new Set([`be ${stranded}`, ...answeringRelations(`be ${stranded}`)])],
    };
  return attributeQuestion(asking, frame, { start, end, common });
}

/** "my job", "my cat's name", "my favourite book": an attribute of somebody, or a thing itself. */
function attributeQuestion(
  asking: Asking,
  frame: Frame,
  at: { start: number; end: number; common: Omit<Question, "relations"> },
): Question {
  const { tokens } = asking;
  const { start, end, common } = at;
  const whole = entityAt(asking, start, end);
  const head = headOf(tokens, start, end);
  if (!whole) return { ...common, relations: [], topic: common.topic ?? textOf(tokens, [start, end]) };
  if (frame.topic !== "" && frame.wh !== "how" && frame.wh !== "who" && common.asks !== "when") {
    return {
      ...common,
      subject: whole.path,
      relations: ["be", "be called", "be in", "be on", "be from", "be with", "be of"],
    };
  }
  if (whole.path === "user" || !whole.path.includes("/")) {
    const where =
      frame.wh === "where"
        ? ["live in", "live at", "live on", "be in", "work at", "be at", "move to"]
        : frame.wh === "who"
          ? ["be", "be called"]
          : ["be", "be called"];
    return {
      ...common,
      subject: whole.path,
      relations: frame.wh === "how" && /^(?:old)/.test(frame.topic) ? ["be aged", "be"] : where,
    };
  }
  const parent = whole.path.split("/").slice(0, -1).join("/");
  const noun = canonicalNoun(head);
  const attribute =
    attributeRelations(noun).length > 0
      ? attributeRelations(noun)
      : attributeRelations(singular(noun.split(" ").at(-1) ?? noun));
  const isPlainName = /^(?:(?:full|first|real) )?names?$/.test(noun);
  if (isPlainName) return { ...common, subject: parent, relations: ["be called"] };
  if (attribute.length > 0 && (attributeRelations(noun).length > 0 || noun.split(" ").length === 1)) {
    return { ...common, subject: parent, relations: [...attribute], topic: common.topic ?? noun };
  }
  if (frame.wh === "who")
    return {
      ...common,
      asks: "who",
      subject: whole.path,
      relations: ["be called", "be"],
      topic: common.topic ?? noun,
    };
  if (frame.wh === "when")
    return {
      ...common,
      asks: "when",
      subject: whole.path,
      relations: ["be on", "be due on", "be", "be at", "be in"],
      topic: common.topic ?? noun,
    };
  if (frame.wh === "where")
    return {
      ...common,
      asks: "where",
      subject: whole.path,
      relations: [
        "be in",
        "be at",
        "be on",
        "live in",
        "be near",
        "be from",
        "be",
        "live at",
        "work at",
        "move to",
      ],
      topic: common.topic ?? noun,
    };
  if (frame.wh === "how" && /^old/.test(frame.topic))
    return { ...common, asks: "how_many", subject: whole.path, relations: ["be aged", "be", "turn"] };
  return {
    ...common,
    subject: whole.path,
    relations: ["be", "be called", "be on", "be due on", "be with", "be in", "be at"],
    topic: common.topic ?? noun,
  };
}

function canonicalNoun(head: string): string {
  const thing = canonicalThing(head);
  return thing === "work" ? "job" : attributeRelations(head).length > 0 ? head : thing;
}

function headOf(tokens: readonly Token[], start: number, end: number): string {
  const of = tokens.findIndex((token, i) => i > start && i < end && token.lower === "of");
  return headWord(tokens, nounOf(tokens, start, of > start ? of : end));
}

function topicPart(frame: Frame): Pick<Question, "topic"> {
  const topic = frame.topic
    .split(" ")
    .filter((word) => !GENERIC_TOPIC.test(word))
    .join(" ");
  return topic === "" ? {} : { topic };
}

function askedFor(frame: Frame): Question["asks"] {
  if (/^who/.test(frame.wh)) return frame.wh === "whose" ? "value" : "who";
  if (frame.wh === "where") return "where";
  if (
    frame.wh === "when" ||
    /^(?:day|date|time|month|year|weekday)\b/i.test(frame.topic) ||
    /\b(?:date|day of the week)\b/i.test(frame.topic)
  )
    return "when";
  if (
    frame.wh === "how" &&
    /^(?:many|much|far|long|old|often|tall|big|heavy|high|fast|late|early|big)\b/i.test(frame.topic)
  )
    return "how_many";
  return "value";
}

/** What stands behind the verb and narrows the question. */
function narrowing(asking: Asking, from: number): Pick<Question, "narrows"> {
  const text = tidy(textOf(asking.tokens, [from, asking.tokens.length]));
  return text === "" ? {} : { narrows: text };
}

/** "Who waters my plants?", "What happened to my bike?": the question word is the subject. */
function subjectQuestion(asking: Asking, frame: Frame, verbAt: number): Question {
  const { tokens } = asking;
  const verb = readVerb(tokens, verbAt, tokens.length);
  if (!verb) return loose(asking);
  const phrases = phrasesOf(tokens, verb.to, tokens.length);
  const preposition =
    phrases[0]?.kind === "preposition"
      ? phrases[0].head
      : phrases[0]?.kind === "adjective"
        ? phrases[0].head
        : undefined;
  const base = verb.copula && preposition ? `be ${preposition}` : verb.lemma;
  const rest = narrowing(asking, verb.to).narrows;
  // "Which of my friends is vegan?", "who is a vegetarian?"
  const object = phrases.find(({ kind }) => kind === "noun" || kind === "preposition");
  const owner = object?.items[0] && entityAt(asking, ...object.items[0]);
  void owner;
  return {
    asks: askedFor(frame) === "value" && frame.wh === "who" ? "who" : askedFor(frame),
    relations: relationSet(verb, base, preposition),
    ...(rest
      ? { topic: frame.topic !== "" && frame.wh !== "who" ? `${frame.topic} ${rest}` : rest }
      : topicPart(frame)),
    ...(verb.tense === "past" ? { tense: "past" as const } : { tense: "present" as const }),
  };
}

function relationSet(verb: Verb, base: string, preposition: string | undefined): string[] {
  const joined = preposition && !base.endsWith(` ${preposition}`) ? `${base} ${preposition}` : base;
  return [
    ...new Set([...answeringRelations(canonicalRelation(joined)), joined, ...answeringRelations(base)]),
  ].filter((relation) => relation !== "be" || verb.copula);
}

/** A question with subject and main verb: "What do I use for work?" */
function assemble(
  asking: Asking,
  frame: Frame,
  subject: Subject | undefined,
  verb: Verb,
  restFrom: number,
): Question {
  const { tokens } = asking;
  const phrases = phrasesOf(tokens, restFrom, tokens.length);
  const last = tokens.at(-1);
  const [first] = phrases;
  const strandedHere =
    last &&
    PREPOSITIONS.has(last.lower) &&
    !/^(?:before|after|since|until|past|next|like|down)$/.test(last.lower) &&
    last.class !== "verb" &&
    restFrom < tokens.length
      ? last.lower
      : undefined;
  const adjacent =
    first && (first.kind === "preposition" || first.kind === "adjective") ? first.head : undefined;
  const asks = askedFor(frame);
  const preposition = frame.stranded ?? strandedHere;
  const narrows = narrowing(asking, restFrom);
  const relations = relationsFor(frame, verb, preposition, adjacent);
  const attribute =
    verb.lemma === "have" && frame.topic !== ""
      ? attributeRelations(singular(frame.topic.split(" ").at(-1) ?? ""))
      : [];
  const object =
    first?.kind === "noun" && verb.lemma === "have" && frame.topic === ""
      ? attributeRelations(singular(headOf(tokens, first.from, first.to).split(" ").at(-1) ?? ""))
      : [];
  return {
    asks:
      frame.wh === "what" &&
      frame.topic === "" &&
      verb.lemma === "do" &&
      /\b(?:for a living|for work|professionally)\b/.test(narrows.narrows ?? "")
        ? "value"
        : asks,
    ...(subject ? { subject: subject.path } : {}),
    relations: [...new Set([...relations, ...attribute, ...object])],
    ...topicPart(frame),
    ...narrows,
    tense: verb.tense,
  };
}

function relationsFor(
  frame: Frame,
  verb: Verb,
  preposition: string | undefined,
  adjacent: string | undefined,
): string[] {
  const chain = verb.chain.filter(({ verb: name }) => !["use", "start", "begin", "keep"].includes(name));
  const base = verb.lemma === "be" && verb.perfect ? "have been" : verb.lemma;
  const whole = [...chain.map((link) => (link.next === "to" ? `${link.verb} to` : link.verb)), base].join(
    " ",
  );
  const found: string[] = [];
  if (verb.lemma === "do" && chain.length > 0)
    found.push(...answeringRelations(chain.map((link) => `${link.verb} to`).join(" ")));
  if (verb.lemma === "do" && chain.length === 0) {
    return [
      "work as",
      "be",
      "work at",
      "do",
      "work in",
      "teach at",
      "run",
      ...(preposition ? [`do ${preposition}`] : []),
    ];
  }
  if (verb.lemma === "call" && verb.passive) return ["be called"];
  if (verb.passive)
    for (const joint of [preposition, adjacent])
      if (joint) found.push(...answeringRelations(canonicalRelation(`be ${pastParticiple(base)} ${joint}`)));
  if (frame.wh === "how" && /^(?:get|travel|commute|go)$/.test(base) && frame.topic === "") {
    found.push(
      "cycle to",
      "walk to",
      "drive to",
      "take",
      "go by",
      "commute by",
      "commute on",
      "travel by",
      "ride to",
      "run to",
      "go on",
      "go with",
      "commute with",
      "bike to",
      "use",
      "ride",
      "drive",
    );
  }
  const joints = preposition ? [preposition] : adjacent ? [adjacent] : [];
  for (const joint of joints)
    found.push(...answeringRelations(canonicalRelation(`${whole} ${joint}`)), `${base} ${joint}`);
  if (frame.wh === "where") {
    for (const joint of ["in", "at", "on", "to", "from", "near", "with", "for"])
      found.push(canonicalRelation(`${base} ${joint}`));
    found.push(
      ...answeringRelations(`${base} in`),
      ...answeringRelations(`${base} at`),
      ...answeringRelations(`${base} to`),
    );
  }
  if (frame.wh === "who")
    for (const joint of ["for", "with"]) if (!preposition) found.push(`${base} ${joint}`);
  found.push(...answeringRelations(canonicalRelation(whole)), whole);
  if (chain.length > 0) found.push(base, ...answeringRelations(base));
  const liking = chain.find((link) => /^(?:prefer|like|love|hate|enjoy)$/.test(link.verb));
  if (liking) found.push(...answeringRelations(liking.verb));
  return [...new Set(found)];
}

/** "Do I have any allergies?", "Am I coeliac or diabetic?", "Is my brother married?" */
function yesNo(asking: Asking): Question | undefined {
  const { tokens } = asking;
  const at = skipLight(tokens, 0);
  const auxiliary = tokens[at];
  if (!auxiliary || !AUXILIARIES.has(auxiliary.lower)) return undefined;
  const start = skipNegation(tokens, at + 1);
  const first = tokens[start];
  if (!first) return undefined;
  const end =
    first.class === "pronoun" || first.class === "negation"
      ? start + 1
      : subjectEnd(tokens, start, auxiliary.lower);
  const subject = entityAt(asking, start, end);
  const main = mainVerb(tokens, at, end);
  const from = main ? main.to : end;
  const phrases = phrasesOf(tokens, from, tokens.length);
  const object = phrases.find(
    ({ kind }) => kind === "noun" || kind === "preposition" || kind === "adjective",
  );
  const value = object
    ? valueText(tokens, object.items[0]?.[0] ?? object.from, object.items.at(-1)?.[1] ?? object.to)
    : tidy(textOf(tokens, [from, tokens.length]));
  const joint =
    object?.kind === "preposition" || (object?.kind === "adjective" && object.head) ? object.head : undefined;
  const auxTense = auxiliaryTense(auxiliary.lower, main ?? ({ tense: "present" } as Verb));
  const base = main
    ? main.lemma === "be" && /^ha(?:ve|s|d)$/.test(auxiliary.lower)
      ? "have been"
      : [...main.chain.map((link) => `${link.verb}${link.next === "to" ? " to" : ""}`), main.lemma].join(" ")
    : BE.has(auxiliary.lower)
      ? "be"
      : "have";
  const joined = joint ? `${base} ${joint}` : base;
  const noun = singular(value.toLowerCase().split(" ").at(-1) ?? "");
  const attribute = base === "have" ? attributeRelations(noun) : [];
  const relations = [
    ...new Set([
      ...answeringRelations(canonicalRelation(joined)),
      joined,
      ...answeringRelations(canonicalRelation(base)),
      ...attribute,
    ]),
  ];
  return {
    asks: "yes_no",
    ...(subject ? { subject: subject.path } : {}),
    relations,
    ...(value === "" ? {} : { value }),
    ...narrowing(asking, from),
    tense: auxTense,
  };
}

/** "I still live in Leeds?", and what people name to have it forgotten: "I owe my brother money". */
function stated(asking: Asking): Question | undefined {
  const { tokens } = asking;
  const at = skipLight(tokens, 0);
  const first = tokens[at];
  if (first?.class !== "pronoun" || !FIRST_PERSON.has(first.lower)) return undefined;
  const start = tokens.findIndex((token, i) => i > at && token.class === "verb");
  const verb = start > at ? readVerb(tokens, start, tokens.length) : undefined;
  if (!verb || start > at + 3) return undefined;
  const phrases = phrasesOf(tokens, verb.to, tokens.length);
  const object = phrases.find(
    ({ kind }) => kind === "noun" || kind === "preposition" || kind === "adjective",
  );
  const joint = object?.kind === "noun" ? undefined : object?.head;
  const base = [
    ...verb.chain.map((link) => `${link.verb}${link.next === "to" ? " to" : ""}`),
    verb.lemma,
  ].join(" ");
  const joined = joint ? `${base} ${joint}` : base;
  const value = object
    ? valueText(tokens, object.items[0]?.[0] ?? object.from, object.items.at(-1)?.[1] ?? object.to)
    : tidy(textOf(tokens, [verb.to, tokens.length]));
  return {
    asks: "yes_no",
    subject: "user",
    relations: [
      ...new Set([canonicalRelation(joined), joined, ...answeringRelations(canonicalRelation(joined))]),
    ],
    ...(value === "" ? {} : { value }),
    ...narrowing(asking, verb.to),
    tense: verb.tense,
  };
}

function valueText(tokens: readonly Token[], from: number, to: number): string {
  return tidy(textOf(tokens, [from, to])).replace(
    /^(?:any|a|an|the|some|my|our|still|together with)\s+/i,
    "",
  );
}

/** No form that is known: what it is about is all there is. */
function loose(asking: Asking): Question {
  const talk = resolver(asking.context);
  const { tokens } = asking;
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at]?.class !== "possessive" && tokens[at]?.class !== "name") continue;
    const end = readNounPhrase(tokens, at, tokens.length);
    if (end === undefined) continue;
    const entity = talk.resolve(tokens, at, end);
    if (!entity) continue;
    const head = headOf(tokens, at, end);
    const attribute = attributeRelations(head);
    if (attribute.length > 0)
      return {
        asks: "value",
        subject: entity.path.split("/").slice(0, -1).join("/") || "user",
        relations: [...attribute],
        topic: head,
      };
    return {
      asks: "unknown",
      subject: entity.path,
      relations: ["be", "be called"],
      topic: asking.text.replace(/[?!.]+$/, ""),
    };
  }
  return { asks: "unknown", relations: [], topic: asking.text.replace(/[?!.]+$/, "") };
}
