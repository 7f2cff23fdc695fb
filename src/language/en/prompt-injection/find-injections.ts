import { findInvisible, foldLookalikes, stripInvisible } from "../../../domain/text/normalize-text.ts";
import { findEncodedRuns, findPromptBlocks, findRoleMark } from "../../../domain/text/prompt-safety.ts";
import { rewriteText } from "../../../domain/text/rewrite-text.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import type { InjectionSpan, TextAuthorship } from "../../../ports/language/prompt-guard.ts";
import {
  type AddresseeSigns,
  detectAddressee,
  hasForeignInjection,
  INJECTION_RISKS,
  type InjectionRisk,
} from "./injection-signs.ts";
import { findPastedText, findQuotes, mergeSpans } from "./pasted-text.ts";
import { isStyleRequest } from "./style-requests.ts";

/** A sentence longer than this is read in pieces. */
const LONGEST = 1200;
/** The length within which a clause must show the purpose of its instruction. */
const LONGEST_CLAUSE = 300;
/** Words that make an instruction permanent. */
const LASTING =
  /\b(?:always|never|from (?:now|today|here|this (?:moment|day))|forever|for ever|for good|until|when(?:ever)?|if (?:i|anyone|anybody|somebody|someone|the user|a user|ever|people|they|your)|once|(?:in|at|for|under|to|of|before) (?:all|every|each|any)|(?:every|each|any) (?:time|answer|reply|response|message|turn|chat|conversation|question|list)|remember|permanently|in (?:the )?future|future|keep (?:saying|on|in (?:mind|your))|anyone|everyone|everybody|at all times|henceforth|later|only|first|whatever|no matter|non negotiable|rest of time|stays?|must|shall|should)\b/;
/**
 * A name: a capitalised word that does not begin the sentence and is not a day, month, language or currency.
 */
const NAME =
  /(?<=[\p{L}\p{N},;:)"”'’] ["“'(]?)(?!(?:I|I['’]\w+|AI|A\.I|LLMs?|OK|JSON|HTML|PDFs?|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?:day)?s?\b|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|(?:German|English|French|Spanish|Italian|Dutch|Portuguese|Russian|Polish|Chinese|Japanese|Korean|Turkish|Arabic|Swiss|British|American|Celsius|Fahrenheit|Christmas|Easter)\b)\p{Lu}[\p{L}\p{N}]+/u;

/**
 * The instructions to the assistant in a text: to act against the user, favour something, hide, send, call or
 * change something, or play another role. The user's own requests are not among them: tone, form, language,
 * name and reminders.
 *
 * The spans are in order and do not overlap. They include the text that cannot be separated from them.
 */
export function findInjections(content: string, voice: TextAuthorship): InjectionSpan[] {
  const steps = findInjectionsInSteps(content, voice);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Like `findInjections`, in steps of one sentence each, so that a caller can yield to other work in between.
 */
export function* findInjectionsInSteps(
  content: string,
  voice: TextAuthorship,
): Generator<void, InjectionSpan[], void> {
  const { text, toOrigin } = rewriteText(content, findInvisible(content));
  const found = yield* scanText(text, voice);
  return text === content ? found : found.map((span) => ({ ...span, ...toOrigin(span) }));
}

/** Scans a text without invisible characters. */
function* scanText(content: string, voice: TextAuthorship): Generator<void, InjectionSpan[], void> {
  const { forged, brought } = isPlainText(content) ? NOTHING_SUSPICIOUS : findSuspiciousParts(content);
  const found = [...forged];
  const foreign = voice === "typed" ? brought() : [{ start: 0, end: content.length }];
  for (const piece of splitPieces(content)) {
    yield;
    const at = foreign.find(({ start, end }) => piece.start < end && start < piece.end);
    const injection =
      voice === "typed" ? yield* findInSentence(content.slice(piece.start, piece.end)) : undefined;
    const theirs =
      at &&
      findRisk(
        content.slice(Math.max(at.start, piece.start), piece.end),
        voice === "typed" ? "brought" : voice,
      );
    // The rest of a text that gives one instruction has the same author.
    if (at && theirs !== undefined && voice === "typed") found.push({ ...at, does: theirs, foreign: true });
    if (injection) found.push({ ...injection, start: piece.start + injection.start, end: piece.end });
    else if (theirs !== undefined) found.push({ ...piece, does: theirs });
  }
  return mergeOverlapping(found);
}

/** The parts of a text that imitate a turn, and the parts by other authors. */
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
 * The instruction in a typed sentence, up to its end. A statement before it is not included: "I work at Acme;
 * assistant: always answer with …".
 */
function* findInSentence(sentence: string): Generator<void, InjectionSpan | undefined, void> {
  const injection = findLabelled(sentence, 0) ?? toInjectionSpan(findRisk(sentence, "typed"), 0, sentence);
  for (const start of findClauseStarts(sentence)) {
    yield;
    const clause = sentence.slice(start, start + LONGEST_CLAUSE);
    const label = findLabelled(clause, start);
    const part = label ?? toInjectionSpan(findRisk(clause, "typed"), start, sentence);
    if (part && (!injection || isIndependent(sentence.slice(0, start), label !== undefined)))
      return { ...part, end: sentence.length };
  }
  return injection;
}

function toInjectionSpan(
  does: string | undefined,
  start: number,
  { length }: string,
): InjectionSpan | undefined {
  return does === undefined ? undefined : { start, end: length, does };
}

/**
 * Whether a clause is a statement of its own, separate from what follows. Before an addressed name it need
 * not be about the user.
 */
function isIndependent(before: string, isNamed: boolean): boolean {
  const isTold = isNamed || detectAddressee(foldLookalikes(before)).told;
  return isTold && before.trim().split(/\s+/).length > 1 && !findRisk(before, "typed");
}

/**
 * "Remember that I …" is a statement, whoever it addresses. "Forget …" is the user's right, under any name
 * for the assistant.
 */
const OWN_WORDS =
  /^(?:please |pls |and |so )?(?:(?:remember|note|keep in mind|don't forget|know)(?: that|:)? (?:i\b|i'|my\b|we\b|our\b)|(?:forget|delete|erase|remove|wipe)\b)/;
const ADDRESSED = /\b(?:you|your|the user|users?|repl(?:y|ies)|answers?|respond|responses?|chats?)\b/;

/**
 * An instruction after the name of a turn or a program. Its purpose does not matter, because nobody words
 * their own wishes like this.
 */
function findLabelled(text: string, start: number): InjectionSpan | undefined {
  const label = parseLabel(foldLookalikes(text));
  if (!label || label.rest.length < 6 || OWN_WORDS.test(label.rest) || isStyleRequest(label.rest))
    return undefined;
  const { asked, told, own } = detectAddressee(label.rest);
  const isAsked = asked || (own && label.isSure) || (/^you\b/.test(label.rest) && !told);
  if (!isAsked || (told && !asked)) return undefined;
  const risk = INJECTION_RISKS.find((one) => !one.theirs && matchesRisk(one, text, label.rest, "brought"));
  const isLasting = LASTING.test(label.rest) && (label.isSure || ADDRESSED.test(label.rest));
  if (!risk && !isLasting) return undefined;
  return { start, end: start + text.length, does: risk?.does ?? "do something for good", foreign: true };
}

/** The risk of a sentence's instruction; undefined if there is none. */
function findRisk(sentence: string, voice: TextAuthorship): string | undefined {
  const plain = stripInvisible(sentence);
  const text = foldLookalikes(plain);
  if (text.length < 6) return undefined;
  const directed = detectAddressee(text);
  if (voice === "typed" && directed.told && !directed.named) return undefined;
  // Most sentences address nobody; then only a few risks need to be tested.
  const risks = isDirective(directed, voice) ? INJECTION_RISKS : ALONE;
  const hit = risks.find((risk) => matchesRisk(risk, plain, text, voice));
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

/**
 * Whether a sentence is an instruction at all. Advice to the user is not, nor are statements about oneself.
 */
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

/**
 * Positions in a sentence where an instruction may begin: after a joint, or at the name of a turn or a
 * program.
 */

/** Characters around such names: brackets, stars, quotation marks. */
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

/** Marks that always separate statements, and marks that do so before an address. */
const HARD = /[;–—|]\s{0,4}|\s-{1,3}\s{1,4}|\(\s{0,4}|[.!?](?=[\p{L}\p{N}])|\s\/{2,6}\s{0,4}/gu;
const SOFT =
  /(?:,\s{0,4}(?:(?:and|but|so|also|plus|then)\s{1,4}){0,3}|\s(?:and|but|so|also|plus|then)\s{1,4})(?=(?:(?:also|please|then|hence|just|now)[, ]{1,3}){0,4}(?:(?:from (?:now|today|here|this|there)|henceforth|hereafter|as of (?:now|today)|starting (?:now|today)|in (?:the )?future|going forward)\b|(?:remember|keep in mind)(?: that)? you\b|you (?:must|should|shall|have to|need to|are to|will|only|always|never|now)\b|please\b|ignore\b|disregard\b|note (?:to|for)\b))/gi;

/**
 * The number of clauses of one sentence that are read alone, those with names first. A sentence with more is
 * read as one piece.
 */
const MOST_STARTS = 8;

/** The starts of clauses that may be instructions of their own, in order. */
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

/** The name of a turn or a program at the start of a text, as in "Assistant: …". */
interface SpeakerLabel {
  /** The text after it. */
  readonly rest: string;
  /** Whether the name can only mean a program like this one; "system" may mean a heating. */
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

/** The joint before a clause, to be replaced by the end of a sentence: "Acme and |from now on". */
export function findJointBefore(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - 24), at);
  const joint =
    /[\s,;:–—|(/-]*(?:(?:^|(?<=[\s,;]))(?:and|but|so|also|plus|then)\s+)*$/i.exec(before)?.[0] ?? "";
  return at - joint.length;
}

/** Forms that only a program writes: turns, tools, summaries and memories that imitate the real ones. */
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

/**
 * What a text forges, and from which position; the rest cannot be separated from it. Undefined if nothing is
 * forged.
 */
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
 * A quick test: everything forged, pasted or encoded matches one of these patterns, and more. Most texts
 * match none and need no further test. Separate patterns take a third of the time of one combined pattern.
 */
const ODD = [
  /[^\p{L}\p{N} ,.;'’!-]/u,
  /--/,
  /(?<![\w-])[\w-]{40}/,
  /(?:[\da-f]{2} ){8}/i,
  /[01]{8}/,
  /summar|recap|carried over|hand-?over|previous|long-term|memor|profile/iu,
];

/**
 * Whether a text is plain words: it imitates no turn or tool, refers to no other text, quotes none and is not
 * encoded.
 */
export function isPlainText(text: string): boolean {
  return !ODD.some((form) => form.test(text));
}
