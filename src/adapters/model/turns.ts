import type { Message } from "../../domain/message.ts";
import { neutralizeText, stripPromptBlocks } from "../../domain/text/prompt-safety.ts";
import { estimateTokens, splitSentences } from "../../domain/text/split-text.ts";
import { toLocalTime } from "../../domain/time.ts";

/** The most characters read of a message, shown in one turn of a prompt, and shown as context. */
const MOST_OF_A_MESSAGE = 40_000;
const MOST_OF_A_TURN = 4_000;
const MOST_OF_CONTEXT = 400;
/** The most tokens and turns in one request. */
const MOST_TOKENS = 3_000;
const MOST_TURNS = 30;

/** A message in a prompt, or a part of a long one. */
export interface ShownTurn {
  readonly message: Message;
  readonly text: string;
  /** Whether facts are extracted from it; otherwise it is context. */
  readonly isRead: boolean;
}

/**
 * Splits messages into requests of limited size. Each request repeats the last turns before it as context. Requests without a turn
 * to read are left out.
 */
export function splitIntoRequests(
  messages: readonly Message[],
  isRead: (message: Message) => boolean,
): ShownTurn[][] {
  const requests: ShownTurn[][] = [];
  let turns: ShownTurn[] = [];
  let tokens = 0;
  for (const turn of messages.flatMap((message) => toShownTurns(message, isRead(message)))) {
    const cost = estimateTokens(turn.text) + 12;
    if (turns.length >= MOST_TURNS || tokens + cost > MOST_TOKENS) {
      requests.push(turns);
      turns = toContextTurns(turns);
      tokens = turns.reduce((sum, { text }) => sum + estimateTokens(text) + 12, 0);
    }
    turns.push(turn);
    tokens += cost;
  }
  return [...requests, turns].filter((one) => one.some((turn) => turn.isRead));
}

const CONTEXT_TURNS = 3;

/** The last of some turns, as context for the following ones. */
export function toContextTurns(turns: readonly ShownTurn[]): ShownTurn[] {
  return turns
    .slice(-CONTEXT_TURNS)
    .map(({ message, text }) => ({ message, text: shortenLine(text), isRead: false }));
}

function toShownTurns(message: Message, isRead: boolean): ShownTurn[] {
  const text = toPlainLine(message.content.slice(0, MOST_OF_A_MESSAGE));
  if (text === "") return [];
  if (!isRead) return [{ message, text: shortenLine(text), isRead }];
  return splitLongText(text).map((window) => ({ message, text: window, isRead }));
}

/** The text on one line, without our own prompt block, encoded data, hidden characters and turn marks. */
function toPlainLine(text: string): string {
  return neutralizeText(stripPromptBlocks(text).toWellFormed())
    .replace(/data:[\w/+.-]{1,80};base64,[\w+/=]*/g, "[data]")
    .replace(/[\w+/=]{200,}/g, "[data]")
    .replace(/\s+/g, " ")
    .trim();
}

function shortenLine(line: string): string {
  return line.length <= MOST_OF_CONTEXT ? line : `${line.slice(0, MOST_OF_CONTEXT).toWellFormed()}…`;
}

/** Splits a long text into parts that end with a sentence, where possible. */
function splitLongText(text: string): string[] {
  if (text.length <= MOST_OF_A_TURN) return [text];
  const parts: string[] = [];
  let start = 0;
  for (const sentence of [...splitSentences(text), { start: text.length, end: text.length }]) {
    while (sentence.end - start > MOST_OF_A_TURN) {
      const end = sentence.start > start ? sentence.start : start + MOST_OF_A_TURN;
      parts.push(text.slice(start, end).trim());
      start = end;
    }
  }
  parts.push(text.slice(start).trim());
  return parts.filter((one) => one !== "");
}

/** "3 [2026-03-02 Mon] user: I moved to Porto." A context turn has no number. */
export function formatTurn({ message, text, isRead }: ShownTurn, number: number): string {
  const speaker = message.name ?? message.role;
  return `${isRead ? number : "-"} [${formatDay(message)}] ${speaker.replace(/\s+/g, " ")}: ${text}`;
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function formatDay({ at, zone }: Message): string {
  const local = toLocalTime(at, zone).slice(0, 10);
  return `${local} ${DAYS[new Date(`${local}T00:00:00Z`).getUTCDay()] ?? ""}`;
}

/** A longer message is never small talk. */
const MAX_SMALL_TALK = 300;

const WORDS =
  "hi|hello|hey|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|night)|bye|goodbye|see (?:you|ya)(?: later| soon| tomorrow)?|later|" +
  "cheers|thanks|thank you|thx|ty|ta|many thanks|no (?:worries|problem|thanks|thank you)|please|sorry|my bad|oops|whoops|" +
  "ok|okay|k|kk|alright|all right|right|sure|of course|yes|yeah|yep|yup|no|nope|nah|maybe|perhaps|fine|great|perfect|" +
  "good|nice|cool|awesome|amazing|brilliant|excellent|wonderful|lovely|wow|oh|ah|hm+|ha(?:ha)*|lol|haha|lmao|" +
  "got it|gotcha|i see|understood|noted|agreed|exactly|indeed|true|correct|done|same|you too|well done|good (?:job|work|one|idea|point)|" +
  "sounds (?:good|great|fine|right)|looks (?:good|great)|makes sense|fair enough|never ?mind|no way|really|" +
  "go on|continue|carry on|next|again|more|stop|wait|one (?:moment|second|sec)|hold on|" +
  "that(?:['’]s| is| was)? (?:all|it|good|great|fine|perfect|helpful|right|correct|cool|nice|awesome|so helpful|very helpful|interesting|funny)|" +
  "you(?:['’]re| are) (?:welcome|right|the best|great|awesome|so helpful)|how are you(?: doing)?(?: today)?|what['’]?s up|" +
  "have a (?:nice|good|great) (?:day|one|evening|night|weekend)|take care|let['’]?s (?:go|start|continue)|i(?:['’]ll| will) try(?: that| it)?|it works?(?: now)?|that works?(?: now)?";
const FILLERS =
  "so|very|much|a lot|again|then|now|there|everyone|all|man|mate|buddy|friend|dear|for (?:that|this|it|your help|the help|everything|now)|and|but|too|it|that|this|ok|oh";
const SMALL_TALK = new RegExp(`^(?:(?:${WORDS})(?:[\\s,!.…-]+(?:${FILLERS}))*[\\s,!.…-]*)+$`, "i");

/** A general question, which reveals nothing about the user. */
const QUESTION =
  /^(?:and |but |so |ok,? |okay,? |hey,? |hi,? )?(?:what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|would|will|should|shall|may|might|has|have|had|am|isn['’]t|aren['’]t|don['’]t|doesn['’]t|tell me|explain|define|show me|describe)\b[^?]*\??$/i;
/** Words by which people refer to themselves or their possessions. */
const SELF_REFERENCE = /\b(?:i|i['’]\w+|me|my|mine|myself|we|we['’]\w+|us|our|ours)\b/gi;
/** Questions about oneself that state nothing: "How do I cook rice?", "What is my sister called?". */
const HOW_DO_I =
  /\b(?:do|does|did|can|could|should|would|will|may|might|shall|am|was|have|had) i\b|\b(?:tell|show|give|remind|help) me\b/gi;
const WHAT_IS_MY =
  /^(?:what|who|where|when|which|how (?:old|tall|much|many|long|often)|whose)(?:['’]s| is| are| was| were| do| does| did)? ?(?:my|our|i|we)(?: \w+(?:['’]s)?){0,5}\?+$/i;

const TASK =
  /^(?:please |can you |could you |would you )?(?:write|translate|summari[sz]e|explain|list|generate|create|draft|compare|define|calculate|convert|solve|compute|recommend|suggest|give me|show me|tell me|find)\b/i;
/** Words that make even a task a statement about the user. */
const LASTING_WISH =
  /\b(?:always|never|every time|from now on|in (?:the )?future|prefer|call me|remember|forget|don['’]?t|do not|instead|anymore|no longer|used to)\b/i;

/**
 * Whether a message may contain a lasting fact. It errs in one direction only: a rejected message contains none, but an accepted
 * one may contain none either.
 */
export function mayHoldFacts(message: Message, earlier: readonly Message[]): boolean {
  const { role, origin, content } = message;
  if (role !== "user" || !["user_message", "import", "api"].includes(origin)) return false;
  const text = stripPromptBlocks(content).trim();
  if (!/[\p{L}\p{N}]/u.test(text)) return false;
  if (text.length > MAX_SMALL_TALK) return true;
  // "Yes" may answer "Do you have any allergies?", and a bare name "Where do you live?".
  const before = earlier.at(-1);
  if (before && before.role !== "user" && before.content.includes("?") && !isThanks(text)) return true;
  if (message.name !== undefined && before?.content.includes("?") && !isThanks(text)) return true;
  return splitSentences(text).some(({ start, end }) => mayStateFact(text.slice(start, end).trim()));
}

function isThanks(text: string): boolean {
  return (
    /^(?:(?:many )?thanks|thank you|thx|hi|hello|hey|bye)\b[\w ,!.]{0,30}$/i.test(text) &&
    SMALL_TALK.test(text)
  );
}

function mayStateFact(sentence: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(sentence) || SMALL_TALK.test(sentence)) return false;
  if (LASTING_WISH.test(sentence)) return true;
  const isAsked = QUESTION.test(sentence) || TASK.test(sentence);
  if (!isAsked) return true;
  if (WHAT_IS_MY.test(sentence)) return false;
  const selfReferences = sentence.match(SELF_REFERENCE)?.length ?? 0;
  const questionReferences = sentence.match(HOW_DO_I)?.length ?? 0;
  return selfReferences > questionReferences;
}
