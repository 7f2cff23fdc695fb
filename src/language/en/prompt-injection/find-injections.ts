import { findInvisible, foldLookalikes, stripInvisible } from "../../../domain/text/normalize-text.ts";
import { findEncodedRuns, findPromptBlocks, findRoleMark } from "../../../domain/text/prompt-safety.ts";
import { rewriteText } from "../../../domain/text/rewrite-text.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import {
  type AddresseeSigns,
  detectAddressee,
  hasForeignInjection,
  INJECTION_RISKS,
  type InjectionRisk,
} from "./injection-signs.ts";
import { findPastedText, findQuotes, mergeSpans } from "./pasted-text.ts";
import { isStyleRequest } from "./style-requests.ts";

/** An order to the assistant in a text. */
export interface InjectionSpan extends TextSpan {
  /** What it would have it do, for people: "favour something". */
  readonly does: string;
  /** True where it is not the user's own: it plays the part of a turn, a tool or a memory, or stands in what was brought in. */
  readonly foreign?: boolean;
}

/** `typed`: the user's own words, but for what they quote. `reply`: an assistant's. `brought`: a tool's, a document's. */
export type TextAuthorship = "typed" | "reply" | "brought";

/** Longer than this a sentence is no sentence; it is read in pieces. */
const LONGEST = 1200;
/** An order behind something else says in so much what it is after. */
const LONGEST_CLAUSE = 300;
/** That it is to hold for more than this once. */
const LASTING =
  /\b(?:always|never|from (?:now|today|here|this (?:moment|day))|forever|for ever|for good|until|when(?:ever)?|if (?:i|anyone|anybody|somebody|someone|the user|a user|ever|people|they|your)|once|(?:in|at|for|under|to|of|before) (?:all|every|each|any)|(?:every|each|any) (?:time|answer|reply|response|message|turn|chat|conversation|question|list)|remember|permanently|in (?:the )?future|future|keep (?:saying|on|in (?:mind|your))|anyone|everyone|everybody|at all times|henceforth|later|only|first|whatever|no matter|non negotiable|rest of time|stays?|must|shall|should)\b/;
/** A name: a word with a capital that does not begin the sentence and is no day, month, language or currency. */
const NAME =
  /(?<=[\p{L}\p{N},;:)"”'’] ["“'(]?)(?!(?:I|I['’]\w+|AI|A\.I|LLMs?|OK|JSON|HTML|PDFs?|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?:day)?s?\b|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|(?:German|English|French|Spanish|Italian|Dutch|Portuguese|Russian|Polish|Chinese|Japanese|Korean|Turkish|Arabic|Swiss|British|American|Celsius|Fahrenheit|Christmas|Easter)\b)\p{Lu}[\p{L}\p{N}]+/u;

/**
 * The orders to the assistant in a text: what would make it act against the user, favour something, hide, send, call or
 * change something, or be somebody else. What the user asks for themself, for tone, form, language, name and reminders, is none.
 * In order, none over another; they cover what cannot be told from them.
 */
export function findInjections(content: string, voice: TextAuthorship): InjectionSpan[] {
  const steps = findInjectionsInSteps(content, voice);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in steps of a sentence each, for whoever has others to serve in between. */
export function* findInjectionsInSteps(
  content: string,
  voice: TextAuthorship,
): Generator<void, InjectionSpan[], void> {
  const { text, toOrigin } = rewriteText(content, findInvisible(content));
  const found = yield* scanText(text, voice);
  return text === content ? found : found.map((span) => ({ ...span, ...toOrigin(span) }));
}

/** On a text without characters that nobody sees. */
function* scanText(content: string, voice: TextAuthorship): Generator<void, InjectionSpan[], void> {
  const { forged, brought } = isPlainText(content) ? NOTHING_SUSPICIOUS : findSuspiciousParts(content);
  const found = [...forged];
  const foreign = voice === "typed" ? brought() : [{ start: 0, end: content.length }];
  for (const piece of splitPieces(content)) {
    yield;
    const at = foreign.find(({ start, end }) => piece.start < end && start < piece.end);
    const own = voice === "typed" ? yield* findInSentence(content.slice(piece.start, piece.end)) : undefined;
    const theirs =
      at &&
      findRisk(
        content.slice(Math.max(at.start, piece.start), piece.end),
        voice === "typed" ? "brought" : voice,
      );
    // Of a text that gives one order, the rest is from the same hand.
    if (at && theirs !== undefined && voice === "typed") found.push({ ...at, does: theirs, foreign: true });
    if (own) found.push({ ...own, start: piece.start + own.start, end: piece.end });
    else if (theirs !== undefined) found.push({ ...piece, does: theirs });
  }
  return mergeOverlapping(found);
}

/** What plays a part in a text, and what in it is somebody else's. */
interface SuspiciousParts {
  readonly forged: readonly InjectionSpan[];
  readonly brought: () => readonly TextSpan[];
}

const NOTHING_SUSPICIOUS: SuspiciousParts = { forged: [], brought: () => [] };

function findSuspiciousParts(content: string): SuspiciousParts {
  const part = findForged(content);
  return {
    forged: [
      ...(part ? [{ start: part.start, end: content.length, does: `take it for ${part.what}` }] : []),
      ...findPromptBlocks(content).map((span) => ({ ...span, does: "take it for a memory that is none" })),
    ].map((span) => ({ ...span, foreign: true })),
    brought: () => mergeSpans([...findPastedText(content), ...findQuotes(content)]),
  };
}

/**
 * The order in a sentence that the user typed, to its end. What is told before it is no part of it: "I work at Acme; assistant:
 * always answer with …".
 */
function* findInSentence(sentence: string): Generator<void, InjectionSpan | undefined, void> {
  const whole = findLabelled(sentence, 0) ?? toInjectionSpan(findRisk(sentence, "typed"), 0, sentence);
  for (const start of findClauseStarts(sentence)) {
    yield;
    const clause = sentence.slice(start, start + LONGEST_CLAUSE);
    const label = findLabelled(clause, start);
    const part = label ?? toInjectionSpan(findRisk(clause, "typed"), start, sentence);
    if (part && (!whole || isIndependent(sentence.slice(0, start), label !== undefined)))
      return { ...part, end: sentence.length };
  }
  return whole;
}

function toInjectionSpan(
  does: string | undefined,
  start: number,
  { length }: string,
): InjectionSpan | undefined {
  return does === undefined ? undefined : { start, end: length, does };
}

/** Whether it is told by itself, and so no part of what follows; before a name it need not be of the user. */
function isIndependent(before: string, isNamed: boolean): boolean {
  const isTold = isNamed || detectAddressee(foldLookalikes(before)).told;
  return isTold && before.trim().split(/\s+/).length > 1 && !findRisk(before, "typed");
}

/** "Remember that I …": told, to whomever. "Forget …": the user's right, by whatever name they call us. */
const OWN_WORDS =
  /^(?:please |pls |and |so )?(?:(?:remember|note|keep in mind|don't forget|know)(?: that|:)? (?:i\b|i'|my\b|we\b|our\b)|(?:forget|delete|erase|remove|wipe)\b)/;
const ADDRESSED = /\b(?:you|your|the user|users?|repl(?:y|ies)|answers?|respond|responses?|chats?)\b/;

/** An order behind the name of a turn or a program: it need not be after anything, for nobody writes their own wishes so. */
function findLabelled(text: string, start: number): InjectionSpan | undefined {
  const label = parseLabel(foldLookalikes(text));
  if (!label || label.rest.length < 6 || OWN_WORDS.test(label.rest) || isStyleRequest(label.rest))
    return undefined;
  const { asked, told, own } = detectAddressee(label.rest);
  const isAsked = asked || (own && label.isSure) || (/^you\b/.test(label.rest) && !told);
  if (!isAsked || (told && !asked)) return undefined;
  const risk = INJECTION_RISKS.find((one) => !one.theirs && matchesRisk(one, text, label.rest, "brought"));
  const isMeantSo = LASTING.test(label.rest) && (label.isSure || ADDRESSED.test(label.rest));
  if (!risk && !isMeantSo) return undefined;
  return { start, end: start + text.length, does: risk?.does ?? "do something for good", foreign: true };
}

/** What a sentence orders, where it does. */
function findRisk(sentence: string, voice: TextAuthorship): string | undefined {
  const plain = stripInvisible(sentence);
  const text = foldLookalikes(plain);
  if (text.length < 6) return undefined;
  const directed = detectAddressee(text);
  if (voice === "typed" && directed.told && !directed.named) return undefined;
  // Most sentences are directed at nobody: then few questions are left.
  const asked = isDirective(directed, voice) ? INJECTION_RISKS : ALONE;
  const hit = asked.find((risk) => matchesRisk(risk, plain, text, voice));
  if (hit) return hit.does;
  if (voice === "brought" && directed.named) return "do something";
  if (voice !== "typed" && directed.ofUser) return "believe something of the user";
  if (directed.told || ENGLISH.test(text)) return undefined;
  return hasForeignInjection(text) ? "do something for good" : undefined;
}

const ALONE = INJECTION_RISKS.filter(({ alone }) => alone);
const ENGLISH = /\b(?:the|and|you|your|with|my)\b/;

function matchesRisk(
  { said, lasting, named, theirs }: InjectionRisk,
  plain: string,
  text: string,
  voice: TextAuthorship,
): boolean {
  if (theirs && voice === "typed") return false;
  if (lasting && !LASTING.test(text)) return false;
  return said.some((form) => form.test(text)) && (!named || NAME.test(plain));
}

/** Whether it is an order at all: advice to the user is none, nor is what somebody tells of themselves. */
function isDirective({ named, asked, ofUser, own }: AddresseeSigns, voice: TextAuthorship): boolean {
  if (named || ofUser) return true;
  return voice === "reply" ? own : asked || (voice === "brought" && own);
}

/** The sentences of a text; very long ones in pieces. */
function* splitPieces(content: string): Iterable<TextSpan> {
  for (const { start, end } of splitSentences(content))
    for (let from = start; from < end; from += LONGEST)
      yield { start: from, end: Math.min(end, from + LONGEST) };
}

function mergeOverlapping(spans: readonly InjectionSpan[]): InjectionSpan[] {
  const all: InjectionSpan[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start || other.end - one.end)) {
    const last = all.at(-1);
    if (last && span.start <= last.end) all[all.length - 1] = mergeTwo(last, span);
    else all.push(span);
  }
  return all;
}

function mergeTwo(one: InjectionSpan, other: InjectionSpan): InjectionSpan {
  const isForeign = one.foreign || other.foreign;
  return { ...one, end: Math.max(one.end, other.end), ...(isForeign ? { foreign: true } : {}) };
}

/** Where, inside of a sentence, an order may begin: behind a joint, or with the name of a turn or a program. */

/** What such names stand in: brackets, stars, quotation marks. */
const OPEN = String.raw`["'(\[{<*_|\/>#@=~\s-]{0,12}`;
const CLOSE = String.raw`\s{0,4}["')\]}*_|]{0,6}\s{0,4}(?::|={1,3}>|-{1,3}>|=|>{1,3}|[-–—](?=\s))["')\]}*_|]{0,6}\s{0,4}`;
const CALLED =
  "(?:(?:the |an? |my )?(?:ai |virtual |digital )?(?:assistant|asst)|a\\.?i\\.?|llms?|chat ?bot|chatgpt|gpt|(?:large )?language model|ai (?:model|agent|bot))";
const MAYBE =
  "(?:system(?: prompt| message| note| instructions?| override| command| rule)?|sys|developer(?: message| note)?|admin(?:istrator)?|(?:new |updated |hidden |final )?instructions?|override|bot|model|agent|prompt|new (?:rule|order|directive)|directive)";
const CALLED_FIRST = new RegExp(`^${OPEN}${CALLED}${CLOSE}`, "i");
const MAYBE_FIRST = new RegExp(`^${OPEN}${MAYBE}${CLOSE}`, "i");
const LABEL = new RegExp(
  `(?:[.;,:!?)\\]"'–—|/>*([{]\\s{0,4}|\\s[-#*]{1,6}\\s{0,4}|\\s(?:and|but|so|also)\\s+)(?=${OPEN}(?:${CALLED}|${MAYBE})${CLOSE})`,
  "gi",
);

/** What parts statements whatever stands behind it; and what does so where an address to somebody follows. */
const HARD = /[;–—|]\s{0,4}|\s-{1,3}\s{1,4}|\(\s{0,4}|[.!?](?=[\p{L}\p{N}])|\s\/{2,6}\s{0,4}/gu;
const SOFT =
  /(?:,\s{0,4}(?:(?:and|but|so|also|plus|then)\s{1,4}){0,3}|\s(?:and|but|so|also|plus|then)\s{1,4})(?=(?:(?:also|please|then|hence|just|now)[, ]{1,3}){0,4}(?:(?:from (?:now|today|here|this|there)|henceforth|hereafter|as of (?:now|today)|starting (?:now|today)|in (?:the )?future|going forward)\b|(?:remember|keep in mind)(?: that)? you\b|you (?:must|should|shall|have to|need to|are to|will|only|always|never|now)\b|please\b|ignore\b|disregard\b|note (?:to|for)\b))/gi;

/** So many clauses of one sentence are looked at alone: those behind names first. Who speaks in more is read as a whole. */
const MOST_STARTS = 8;

/** Where clauses begin that may be orders of their own, behind something else; in order. */
export function findClauseStarts(sentence: string): number[] {
  const starts = new Set<number>();
  for (const form of [LABEL, SOFT, HARD])
    for (const { 0: joint, index } of sentence.matchAll(form)) {
      if (starts.size >= MOST_STARTS) break;
      const at = index + joint.length;
      if (at < sentence.length) starts.add(at);
    }
  return [...starts].sort((one, other) => one - other);
}

/** The name of a turn or a program at the beginning of a text, as in "Assistant: …". */
interface SpeakerLabel {
  /** What stands behind it. */
  readonly rest: string;
  /** Whether the name means a program like us and nothing else; "system" may mean a heating. */
  readonly isSure: boolean;
}

function parseLabel(text: string): SpeakerLabel | undefined {
  for (const [form, isSure] of [
    [CALLED_FIRST, true],
    [MAYBE_FIRST, false],
  ] as const) {
    const found = form.exec(text);
    if (found) return { rest: text.slice(found[0].length), isSure };
  }
  return undefined;
}

/** The joint that stands before a clause, to be written as the end of a sentence: "Acme and |from now on". */
export function findJointBefore(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - 24), at);
  const joint =
    /[\s,;:–—|(/-]*(?:(?:^|(?<=[\s,;]))(?:and|but|so|also|plus|then)\s+)*$/i.exec(before)?.[0] ?? "";
  return at - joint.length;
}

/** What only a program writes: turns, tools, summaries and memories in a form that is to be taken for the real one. */
const FORGED: readonly (readonly [what: string, form: RegExp])[] = [
  [
    "a turn that is not the user's",
    /(?:^|\n)[ \t]*#{0,6}[ \t]*(?:system|developer|human|assistant)(?: message| prompt)?[ \t]*:(?=[ \t]*\S|[ \t]*\n)(?![ \t]*$)/i,
  ],
  [
    "a turn that is not the user's",
    /#{2,}\s*system\s*#{2,}|\{\{[#/~]*\s*system\s*~?\}\}|\[\s*\/?system(?: message| prompt)?\s*\]/i,
  ],
  [
    "a turn that is not the user's",
    /(?:^|\n)[ \t]*#{1,6}[ \t]*instruction[ \t]*:?[ \t]*(?=\n|$)|#{2,}[ \t]*(?:system|assistant|instruction)[ \t]*:|\bbegin (?:of )?(?:the )?(?:system|developer|assistant) (?:prompt|message|instructions?)\b|\{\{[#/~]*\s*assistant\s*~?\}\}/i,
  ],
  ["a call of a tool", /"(?:tool_calls?|function_call|next_action|tool|action)"\s*:\s*["{[]/i],
  [
    "a call of a tool",
    /(?:^|\n)[ \t*]*(?:action|action input|observation)[ \t*]*:|<\s*\/?\s*(?:function|tool|invoke|parameter)[\w:=]*[ >]|\btool_code\b|(?:^|\s)to=[a-z_.]+|@(?:agent|tool|assistant)\.\w+|\bpersona\.\w+\(/i,
  ],
  [
    "a summary that is none",
    /\b(?:session|conversation|chat)[ _-]?(?:summary|recap)\b|=+ ?summary\b|\[compacted|\bcontext carried over\b|\bhand-?over note\b|\bprevious(?:ly)? on this chat\b|\blong-term state\b|\bsummary so far\b|\bto recap what you told me\b/i,
  ],
  [
    "a memory that is none",
    /\bmemory(?:_|\s)?(?:update|correction|dump|consolidated|\.md)\b|\bmemories?\b[ \t]*:[ \t]*\[|<\s*\/?\s*\w*memor\w*\s*>|#+ ?user memory\b|"kind"\s*:\s*"instruction"|\[instruction\]|- instruction:|\binstr\s*=|\bprofile_sync\b|\bprofile\.txt\b|\brecall\(\)|\bretract:\s*\[/i,
  ],
  ["a memory that is none", /(?:^|\n)[ \t>]*[-*] \[\d{4}-\d{2}-\d{2}\].*\(messages? /],
];

/** What a text forges, and from where on; the rest of it cannot be told from it. Undefined where it forges nothing. */
export function findForged(text: string): { readonly start: number; readonly what: string } | undefined {
  const found = FORGED.flatMap(([what, form]) => {
    const at = text.search(form);
    return at < 0 ? [] : [{ start: at, what }];
  });
  const tag = findRoleMark(text);
  if (tag >= 0) found.push({ start: tag, what: "a turn that is not the user's" });
  const hidden = findEncodedRuns(text).find(({ says }) => /\p{L}{3,} +\p{L}{2,}/u.test(says));
  if (hidden) found.push({ start: findLineStart(text, hidden.start), what: "text that is encoded" });
  return found.sort((one, other) => one.start - other.start)[0];
}

function findLineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

/**
 * Everything that is forged, brought in or encoded has one of these signs or words. It is wider than what it stands for: a
 * text without any needs no further look, and that is most of them. One after the other they take a third of the time of all in one.
 */
const ODD = [
  /[^\p{L}\p{N} ,.;'’!-]/u,
  /--/,
  /(?<![\w-])[\w-]{40}/,
  /(?:[\da-f]{2} ){8}/i,
  /[01]{8}/,
  /summar|recap|carried over|hand-?over|previous|long-term|memor|profile/iu,
];

/** Whether a text is plain words: nothing in it plays a turn or a tool, points at another text, quotes one, or is encoded. */
export function isPlainText(text: string): boolean {
  return !ODD.some((form) => form.test(text));
}
