import type { TextSpan } from "../../../domain/text/split-text.ts";

/** Kinds of text that can be pasted, by name. */
const TEXT =
  "(?:e-?mail|mail|letter|message|text|article|page|post|review|comments?|cv|resume|paper|abstract|invoice|contract|leaflet|readme|snippet|code|doc|document|file|list|poem|xml|json|thread|log|handbook|paragraph|sentence|slogan|minutes|ticket|wiki|forum|survey|advert|spam|footnote|note|spelling|grammar|typos|summary|draft|essay|chapter|lyrics|transcript|caption|quote|notes|backup|digest|chain letter)";
/** Tasks for texts only, and tasks that may be for a text. */
const WORK =
  "(?:translate|summari[sz]e|sum up|tl;?dr|rewrite|rephrase|reword|paraphrase|proof-?read|proof|rewording|zusammenfassen|übersetz\\w*|résum\\w*|tradui\\w*|resum\\w*|traduc\\w*|samenvatten|vertaal)";
const WORK_ON =
  "(?:shorten|simplify|polish|tidy|format|fix|check|review|edit|improve|explain|analy[sz]e|compare|read|look at|make|answer|need|send|annotate|correct)";
const THIS = `(?:this|these|that|it|the following|(?:my|the|our) (?:\\w+ )?${TEXT})`;
const SHOWN =
  "(?:here(?:'s| is| are)|this is|got|found|have|received|saw|copied|quoted?|sent me|says|weird|from (?:a|the|my))";
const LEADS: readonly RegExp[] = [
  new RegExp(
    `^(?!I\\b|we\\b|my\\b)[^\\n:"“]{0,40}?\\b${WORK}\\b[^\\n?]{0,120}?(?:\\?? ?(?=["“«„])|[:?](?=\\s)|--|(?=\\n))`,
    "iu",
  ),
  new RegExp(
    `^(?!I\\b|we\\b|my\\b)[^\\n:"“]{0,40}?\\b${WORK_ON}\\b[^\\n:"“]{0,30}?\\b${THIS}\\b[^\\n:"“]{0,80}?(?:\\?? ?(?=["“«„])|:(?=\\s)|--|(?=\\n))`,
    "iu",
  ),
  new RegExp(
    `^[^\\n:"“]{0,60}?\\b${SHOWN}\\b[^\\n:"“]{0,60}?\\b${TEXT}\\b[^\\n:"“]{0,40}?(?:[,:?]? ?(?=["“«„])|:(?=\\s)|--|[?,.]?(?=\\n))`,
    "iu",
  ),
  // "What does this mean?", with a text below it or in quotation marks.
  new RegExp(
    `^[^\\n:"“]{0,60}?\\b(?:${THIS}|mean|sound|gist|rhymes|make of)\\b[^\\n:"“]{0,60}?\\?\\s*(?=\\n\\n|["“«„<])`,
    "iu",
  ),
];
/** Statements about oneself, or an introduction to them: "my bio: …", "I need this again: …". */
const OWN =
  /\bmy (?:own |short |little )*(?:bio|profile|story|introduction|intro|background)\b|\bI(?:['’]ll| will)? (?:need|want)(?: to have)? (?:this|that|it)(?: (?:here|in here|known|noted|kept|remembered|stored))?(?: (?:again|once more|back|after all))?/i;
const MARKED: readonly RegExp[] = [
  /(?:```|~~~)[\s\S]*?(?:```|~~~|$)/g,
  /^[ \t]*>.*$/gm,
  /<!--[\s\S]*?(?:-->|$)/g,
];
const HEADERS = /^(?:from|to|subject|date|sent|cc|von|an|betreff|de|objet): .+$/gim;
const QUOTES = /["“«„][^"”»“\n]{0,4000}["”»“]/g;
/**
 * Quotes of at least this many words count as a sentence. Shorter ones are a name, or a word under
 * discussion.
 */
const TEXT_WORDS = 4;

/**
 * The spans of a user's message with pasted text, shown or to be worked on: a page, a mail, quoted lines, a
 * block of code, a quote without a named speaker. In order, without overlaps.
 */
export function findPastedText(content: string): TextSpan[] {
  const spans: TextSpan[] = [];
  for (const form of MARKED)
    for (const { 0: found, index } of content.matchAll(form))
      spans.push({ start: index, end: index + found.length });
  const headers = [...content.matchAll(HEADERS)];
  if (headers[0] && headers.length > 1) spans.push({ start: headers[0].index, end: content.length });
  return mergeSpans([...spans, ...findQuotedTexts(content), ...findIntroducedText(content)]);
}

/** The spans of a message with quoted sentences of others, in order. */
export function findQuotes(content: string): TextSpan[] {
  return Array.from(content.matchAll(QUOTES), ({ 0: quote, index }) => ({
    start: index,
    end: index + quote.length,
  })).filter(({ start, end }) => isText(content.slice(start, end)));
}

/** A named speaker introduces the quote: "Magnus burst in and said …", "the sign reads …". */
const TOLD =
  /\b(?:sa(?:id|ys?|ying)|told|tells?|ask(?:ed|s)|shout\w*|repl(?:ied|ies)|wrote|writes|texted|goes|went|like|reads?|yell\w*|answer(?:ed|s)|th(?:ought|inks?)|whisper\w*|jok(?:ed|es)|announc\w*|call(?:ed|s)?|named|titled|entitled|motto|slogan|sang|screamed|mumbled|added|promised|admitted|insisted)\b[^"“«„\n]{0,30}$/i;

/** Quoted text without a named speaker. */
function findQuotedTexts(content: string): TextSpan[] {
  return findQuotes(content).filter(({ start }) => !TOLD.test(content.slice(Math.max(0, start - 80), start)));
}

/** "What do I use? I live in Porto.": a question to oneself that refers to no text. */
const OF_ONESELF = new RegExp(
  `^(?!.*\\b(?:${WORK}|this|that|it|these|those|here|below|following|means?|says?|write|reply|answer|respond)\\b)` +
    ".*\\b(?:I|me|my|mine|we|our)\\b.*\\?$",
  "i",
);

/** The text after "Can you summarise this: …" or "Here is the mail I got:". */
function findIntroducedText(content: string): TextSpan[] {
  const [lead] = LEADS.flatMap((form) => form.exec(content)?.[0] ?? []);
  if (lead === undefined || OWN.test(lead) || OF_ONESELF.test(lead)) return [];
  return isText(content.slice(lead.length)) ? [{ start: lead.length, end: content.length }] : [];
}

function isText(text: string): boolean {
  return text.trim().split(/\s+/).length >= TEXT_WORDS;
}

/** Spans in order; overlapping and touching ones are merged. */
export function mergeSpans(spans: readonly TextSpan[]): TextSpan[] {
  const all: TextSpan[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start || other.end - one.end)) {
    const last = all.at(-1);
    if (last && span.start <= last.end)
      all[all.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else all.push(span);
  }
  return all;
}
