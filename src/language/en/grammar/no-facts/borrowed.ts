import type { Message } from "../../../../domain/message.ts";
import type { TextSpan } from "../../../../domain/text/split-text.ts";
import { othersWords } from "./others-words.ts";

/** What stands in a message without being said in it: recalled context, code, quoted lines, captions, marked-up text. */
const MARKED: readonly RegExp[] = [
  // What this memory itself gave to a prompt, come back: "- [2026-04-01] user: I like tea. (message m1)".
  /[-*•]? ?\[\d{4}-\d\d(?:-\d\d)?[^\]\n]{0,20}\](?:(?!\(messages? )[^\n])*(?:\(messages? [^)\n]*\))?/g,
  /(?:```|~~~)[\s\S]*?(?:```|~~~|$)/g,
  /\[(?:image|photo|picture|video|audio|gif|sticker|attachment|file)\b[^\]\n]*\]?/gi,
  /<(blockquote|pre|code|q|p|div|td|li|html|body)\b[\s\S]*?(?:<\/\1>|$)/gi,
  /^[ \t]*(?:>|\/\/|# |♪|♫|\$ |>>> |\[(?:chorus|verse|bridge|intro|outro)\b).*$/gim,
  /^.*[♪♫].*$/gm,
  /^\W*e\.?\s?g\.?[,:]?\s.*$/gim,
  // Logs and program text, by what opens or ends a line.
  /^[ \t]*(?:(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b|npm (?:ERR|WARN|error|warn)|Traceback\b|Exception\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d).*$/gm,
  /^[ \t]*(?:(?:const|let|var|def|class|import|function|public|private|return|#include)\s+[\w$<*{"']+.*[=({;:"']|SELECT\b.*\bFROM\b|git \w+|sudo |echo |print\(|console\.).*$/gm,
  /^.*(?:[;{}]|\(\);?|=>)[ \t]*$/gm,
];

/** A text that is brought in by its name and a colon: "Verse 1: …", "My friend's bio: …", "Example: …". */
const CLEAR =
  "bio|profile|review|template|lyrics?|verse|chorus|chapter \\w+|scene|screenplay|story idea|plot|caption|headline|tweet|transcript|poem|jingle|riddle|example|example sentence|sample \\w+|model answer|passage|dialogue|monologue|slogan|voicemail|advert|sing along|role[- ]?play|scenario";
/** Words that name such a text where something says that it is one: "here is the email I got". */
const TWOFOLD =
  "e-?mail|letter|message|text|script|story|prompt|quote|post|song|joke|sentence|phrase|paragraph|essay|article|output|input|ad";
const SHOWN =
  "got|received|sent|wrote|writes|says|said|reads|goes|from|this|here|below|following|forwarded|draft|original|would be|is";
const BROUGHT = new RegExp(
  `(?:^|[\\n.!?] ?)(?<name>[^\\n.!?:]{0,60}?\\b(?:(?:${CLEAR})\\b|(?:${SHOWN})\\b[^\\n.!?:]{0,30}\\b(?:${TWOFOLD})\\b|(?:${TWOFOLD})\\b[^\\n.!?:]{0,30}\\b(?:${SHOWN})\\b)[^\\n.!?:]{0,30}):(?=\\s)`,
  "gi",
);
/** Of themselves: "my bio: I'm a climber". */
const OWN = /\bmy (?:own |short |little )*(?:bio|profile|story|introduction|intro|background)\b[^:]{0,12}$/i;
/** "for the insurance quote I need this again: I ride a Honda": told for a text, and no part of it. */
const NEEDED =
  /\bI(?:['’]ll| will)? (?:need|want)(?: to have)? (?:this|that|it)(?: (?:here|in here|known|noted|kept|remembered|stored))?(?: (?:again|once more|back|after all))?[, ]*$/i;
const FIRST = /\b(?:I|I['’]\w+|i|im|my|we|our|me)\b/;
const HEADER = /^(?:from|to|subject|date|sent|cc|von|an|betreff): .+$/gim;

/** Who plays a part says nothing of themselves from there on. */
const PLAY =
  /\b(?:(?:let['’]?s|let us|we(?:['’]ll| will| can)?|you and i|want to|i(?:['’]d| would) like to) (?:\w+ )?(?:role[- ]?play|play a game|do a role[- ]?play|pretend(?! (?:that )?(?:I|you|we) (?:never|didn))|make believe)|^role[- ]?play|stay in character|you (?:play|be|are|['’]re) (?:the |an? |my )?[\p{L} -]{2,30}(?:,| and) (?:i(?:['’]m| am|['’]ll be| will be| play)\b)|i(?:['’]ll| will)? (?:be|play) the [\p{L} -]{2,30}(?:,| and) you (?:be|play|are)|(?:for|in) this (?:exercise|game|role|scenario|role[- ]?play|simulation|story)\b)/imu;
const PLAY_ENDS =
  /\b(?:stop|end|finish|done with|enough of|out of|quit) (?:the |this |our |with the )?(?:role[- ]?play\w*|game|character|scenario|pretending)\b|\bback to (?:normal|reality)\b/i;

/**
 * The spans of a text that are its author's own words about what is real, and no echo of what others just said. `names` are the
 * author's, as far as they are known.
 */
export function ownSpans(
  content: string,
  spans: readonly TextSpan[],
  earlier: readonly Message[] = [],
  names: readonly string[] = [],
): TextSpan[] {
  const ranges = [...borrowedRanges(content), ...othersWords(content, names)];
  const own =
    ranges.length === 0
      ? [...spans]
      : spans.flatMap((span) =>
          ranges
            .reduce<TextSpan[]>((pieces, range) => pieces.flatMap((piece) => without(piece, range)), [span])
            .filter(({ start, end }) => /\p{L}/u.test(content.slice(start, end))),
        );
  const heard =
    own.length > 1 ? earlier.filter(({ role }) => role !== "user").map((turn) => turn.content) : [];
  return heard.length === 0 ? own : own.filter((span) => !isEcho(content.slice(span.start, span.end), heard));
}

/** A whole sentence out of a turn that was not the user's, beside others. */
function isEcho(sentence: string, heard: readonly string[]): boolean {
  return sentence.split(/\s+/).length >= 4 && heard.some((turn) => turn.includes(sentence));
}

function borrowedRanges(content: string): TextSpan[] {
  const ranges: TextSpan[] = [];
  for (const pattern of MARKED)
    for (const found of content.matchAll(pattern)) ranges.push(spanOf(found.index, found[0].length));
  for (const found of content.matchAll(BROUGHT)) {
    const range = broughtIn(content, found);
    if (range) ranges.push(range);
  }
  ranges.push(...enumerators(content));
  const headers = [...content.matchAll(HEADER)];
  const [first] = headers;
  if (first && headers.length > 1) ranges.push({ start: first.index, end: content.length });
  const play = PLAY.exec(content);
  if (play) ranges.push({ start: sentenceStart(content, play.index), end: content.length });
  return ranges;
}

/** "1. I live in Hull 2. I have a dog": the numbers part the sentences of a list, where they count from one. */
function enumerators(content: string): TextSpan[] {
  const marks = Array.from(content.matchAll(/(?<=^|\s)(?<number>\d{1,2})[.)](?=\s)/g));
  const isList = marks.length > 1 && content.trimStart().startsWith(marks[0]?.[0] ?? "");
  const isCounted = isList && marks.every(({ groups }, at) => Number(groups?.number) === at + 1);
  return isCounted ? marks.map(({ 0: mark, index }) => spanOf(index, mark.length)) : [];
}

/** To the end of the line, or of the message where the colon ends its line. */
function broughtIn(content: string, found: RegExpExecArray): TextSpan | undefined {
  const colon = found.index + found[0].length + 1;
  const line = /^[^\n]*/.exec(content.slice(colon))?.[0] ?? "";
  const end = line.trim() === "" ? content.length : colon + line.length;
  const name = found.groups?.name ?? "";
  if (OWN.test(name) || NEEDED.test(name) || !FIRST.test(content.slice(colon, end))) return undefined;
  return { start: found.index, end };
}

function sentenceStart(content: string, at: number): number {
  const before = content.slice(0, at);
  return Math.max(0, ...[".", "!", "?", "\n"].map((mark) => before.lastIndexOf(mark) + 1));
}

function spanOf(start: number, length: number): TextSpan {
  return { start, end: start + length };
}

function without({ start, end }: TextSpan, taken: TextSpan): TextSpan[] {
  if (taken.end <= start || taken.start >= end) return [{ start, end }];
  return [
    { start, end: Math.max(start, taken.start) },
    { start: Math.min(end, taken.end), end },
  ].filter((piece) => piece.end > piece.start);
}

const WORK =
  "translate|rewrite|rephrase|reword|paraphrase|proof-?read|summari[sz]e|reformat|classify|transcribe|tokenize|spell-?check";
const WORK_ON =
  "make|shorten|lengthen|expand|extend|continue|complete|finish|simplify|polish|turn|convert|change|format|check|review|edit|improve|fix|correct|explain|analy[sz]e|annotate|parse|critique|grade|score|compare|read|put";
const TEXT =
  "text|sentence|paragraph|essay|e-?mail|letter|message|draft|cv|resume|poem|story|grammar|spelling|wording|style|tone";
const TASK = new RegExp(
  `^\\s*(?:(?:please|pls|can you|could you|would you|will you|hey|hi|hello|ok|okay|now|and|then|next)[, ]+)*(?:(?:${WORK})\\b|(?:write|draft|compose|generate|type)\\b[^:.\\n]{0,30}\\b(?:${TEXT})s?\\b[^:.\\n]{0,30}:(?=\\s)|(?:${WORK_ON})\\b(?:[^:.\\n]{0,30}\\b(?:this|these|it|the following)\\b[^:.\\n]{0,40}:|(?: the| my| this| following)+ (?:${TEXT})s?\\b))`,
  "i",
);

/** Work on a text ("translate: …", "make this shorter: …"): what the text says is not said of the user. */
export function isTextWork(content: string): boolean {
  return TASK.test(content);
}

/** Whether the turns before began a role play that has not ended. */
export function isInPlay(content: string, earlier: readonly Message[]): boolean {
  if (PLAY_ENDS.test(content)) return false;
  const turns = earlier.filter(({ role }) => role === "user").map((turn) => turn.content);
  const begun = turns.findLastIndex(
    (turn) => /\brole[- ]?play|\bstay in character\b/i.test(turn) && PLAY.test(turn),
  );
  return begun >= 0 && !turns.slice(begun + 1).some((turn) => PLAY_ENDS.test(turn));
}
