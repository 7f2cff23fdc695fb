import type { TextSpan } from "../../../../domain/text/split-text.ts";
import { FEMALE, KIN, MALE } from "../words/lexicon.ts";
import { tagSentences } from "../words/tagger.ts";

/** Whether a sentence in the first person stands in a text. */
const FIRST = /\b(?:I|I['’]\w+|i|im|ive|my|we|our|me)\b/;

/** "From: Dana", with the mail below it. */
const SENDER = /^\s*(?:from|sender|sent by|von|de)[ \t]*:[ \t]*(?!.*\b(?:I|I['’]\w+)\b)[^\n]{2,60}\n/iu;

const CARRIER =
  "whats ?app|text|texts|sms|dm|message|msg|e-?mail|mail|letter|note|postcard|card|voicemail|voice ?mail|voice note|telegram|slack|signal|imessage|tweet|post|reply|memo|fax";
/** "WhatsApp from mum: …", "Got this email from my landlord: …". */
const CARRIED = new RegExp(
  `(?<=^|[\\n.!?] ?)[^\\n.!?:]{0,30}\\b(?:${CARRIER})(?: (?:just|today|yesterday|now|in|received|got|came))* from (?!me\\b)[^\\n:.!?]{1,50}:(?=\\s)`,
  "giu",
);

const OTHER =
  "(?:(?:my|our|his|her|their|the|a|an|one of my) (?:[\\p{L}'’-]+ ){0,3}?[\\p{L}'’-]+|he|she|they|(?-i:\\p{Lu})[\\p{L}'’-]+|m[ou]m|dad)";
const WRITES =
  "wrote|writes|texts?|texted|messages?|messaged|e-?mailed|e-?mails|mailed|whats ?apped|dm['’]?e?d|pinged|posted|tweeted|commented|left a (?:note|message)";
const SAYS = `${WRITES}|replied|replies|answered|answers|said|says|told|shouted|whispered|announced|goes|went|(?:is|was|['’]s|were|are|be) like`;
const ALONG =
  "(?: (?:back|to|me|us|in|the|this|following|our|my|group|chat|family|just now|today|yesterday|earlier|last night|this morning))*";
/** "My boss wrote: I am leaving": without quotation marks, so that nothing else says whose words they are. */
const WITH_COLON = new RegExp(
  `(?<=^|[\\n.!?,;] ?|\\b(?:and|but|so|then|because) )${OTHER} (?:just )?(?:${SAYS})${ALONG} ?:(?=\\s+(?!["“«„'‘]))`,
  "giu",
);
const CLAUSE = "(?=[,:]? ?(?:i['’]m|im|i am|i have|i['’]ve|ive|i['’]ll|i got|i just|i was|i live|i work)\\b)";
/** "my mum texted me I'm in the hospital": what is written is quoted as it is. */
const WITHOUT_COLON = new RegExp(
  `(?<=^|[\\n.!?,;] ?|\\b(?:and|but|so|then|because) )${OTHER} (?:just )?(?:(?:${WRITES})${ALONG}|goes|went|(?:is|was|['’]s) (?:all )?like)(?: saying)? ?${CLAUSE}`,
  "giu",
);
/** "… and I go I'm a nurse": the other speaks no longer. */
const TURN =
  /[.!?\n]|,? (?:and|so|but|then) (?:then )?I (?:go|went|said|say|replied|was like|'m like|told)\b/iu;

const HABIT =
  "used to|would|always|often|once|famously|like[ds]? to|love[ds]? to|never tired? of|keeps?|kept|sometimes";
/** "my dad used to say “…”": a saying, and no report. */
const SAYING = new RegExp(
  `(?<=^|[\\n.!?,;] ?)[^\\n.!?"“]{0,60}\\b(?:${HABIT}) (?:say|says|said|saying|sing|sang|sings|write|wrote|joke|joked|tell us|told us|tell me|told me|quote|quoted)\\b[^\\n.!?"“„«]{0,20}["“„«][^"”»\\n]{3,400}(?:["”»]|$)`,
  "giu",
);

/** The name of one who speaks in a pasted chat, with the time that some programs put before it. */
const TIME =
  "(?:[\\[(][^\\])\\n]{0,24}\\d[:.]\\d\\d[^\\])\\n]{0,24}[\\])][ ]?|\\d{1,4}[./-]\\d{1,2}[./-]\\d{2,4},? \\d{1,2}[:.]\\d\\d(?: ?[ap]m)? ?[-–:] ?|\\d{1,2}[:.]\\d\\d(?::\\d\\d)?(?: ?[ap]m)? ?[-–]? ?)";
const TURN_LINE = new RegExp(
  `^[ \\t]*(?<time>${TIME})?(?<who>\\p{L}[\\p{L}'’.-]*(?: \\p{Lu}[\\p{L}'’.-]*){0,2}) ?(?:[\\[(][^\\])\\n]{0,24}\\d[:.]\\d\\d[^\\])\\n]{0,24}[\\])])?:(?=\\s)`,
  "gimu",
);
const SELF = /^(?:me|myself|i|you|ich)$/iu;
/** Turns with a program are another matter. */
const PROGRAM = /^(?:user|assistant|human|ai|bot|system|developer|chatgpt|claude|gpt)$/iu;

const GREETED =
  "(?!(?:all|there|everyone|everybody|team|assistant|bot|ai|guys|folks|again|both|sir|madam|diary|keepsake|claude|chatgpt|memory)\\b)(?<to>(?-i:\\p{Lu})[\\p{L}'’-]+)";
/** "Hi Bea, it's Dale." */
const INTRODUCED = new RegExp(
  `^\\s*(?:hi|hey|hello|dear|yo|morning|good (?:morning|evening|afternoon)) ${GREETED}[,!.]?\\s+(?:it['’]?s|it is|this is|here['’]?s)(?: just| only)? (?<from>(?-i:\\p{Lu})[\\p{L}'’-]+)(?=[ ,.!\\n]|$)`,
  "iu",
);
const ADDRESSED = new RegExp(
  `^\\s*(?<open>hi|hey|hello|dear) ${GREETED}(?: \\p{Lu}[\\p{L}'’-]+)?[,!.:]?[ \\t]*(?:\\n|\\s)`,
  "iu",
);
const CLOSING =
  /(?:^|\n|[.!?] )[ \t]*(?:(?:best|kind|warm|many|all my|with|lots of|much) )*(?:regards|wishes|love|best|cheers|thanks|thank you|sincerely|yours(?: \w+)?|xx+|greetings|hugs|respectfully)(?: (?:regards|wishes|sincerely|from|again))*[,.!]?\s+(?<from>\p{Lu}[\p{L}'’-]+)(?: \p{Lu}[\p{L}'’.-]+)?[ \t.x]*$/iu;

/** What others wrote or said, in a message of the user: pasted mails, chats and texts. `own` are the user's names. */
export function othersWords(content: string, own: readonly string[] = []): TextSpan[] {
  const whole = { start: 0, end: content.length };
  if (SENDER.test(content) || isLetter(content, own)) return [whole];
  return [
    ...chatTurns(content, own),
    ...spansBehind(content, CARRIED, (rest) => /\n[ \t]*\n|$/.exec(rest)?.index ?? rest.length),
    ...spansBehind(content, WITH_COLON, endOfLine),
    ...spansBehind(content, WITHOUT_COLON, (rest) => TURN.exec(rest)?.index ?? rest.length),
    ...Array.from(content.matchAll(SAYING), ({ 0: said, index }) => ({
      start: index,
      end: index + said.length,
    })),
  ];
}

function endOfLine(rest: string): number {
  const line = /^[^\n]*/.exec(rest)?.[0] ?? "";
  return line.trim() === "" ? rest.length : line.length;
}

/** From what brings the words in to their end, where they speak of "I". */
function spansBehind(content: string, form: RegExp, lengthOf: (rest: string) => number): TextSpan[] {
  return [...content.matchAll(form)].flatMap(({ 0: lead, index }) => {
    const from = index + lead.length;
    const end = from + lengthOf(content.slice(from));
    const isOwn = /^(?:i|we|you)\b/iu.test(lead.trim());
    return isOwn || !FIRST.test(content.slice(from, end)) ? [] : [{ start: index, end }];
  });
}

/** A letter to somebody, by another than the user. */
function isLetter(content: string, own: readonly string[]): boolean {
  const introduced = INTRODUCED.exec(content)?.groups;
  if (introduced) return !isOwnName(introduced.from, own);
  const addressed = ADDRESSED.exec(content)?.groups;
  if (!addressed) return false;
  const closed = CLOSING.exec(content)?.groups;
  if (!closed) return isOwnName(addressed.to, own);
  const saysSo = new RegExp(`\\b(?:I['’]?m|I am|my name is|name['’]s) ${closed.from}\\b`, "iu");
  return !isOwnName(closed.from, own) && !saysSo.test(content);
}

function isOwnName(name: string | undefined, own: readonly string[]): boolean {
  return own.some((one) =>
    one
      .toLowerCase()
      .split(/\s+/)
      .includes((name ?? "").toLowerCase()),
  );
}

interface ChatLine {
  readonly start: number;
  readonly from: number;
  readonly who: string;
  readonly isTimed: boolean;
}

/** The turns of a pasted chat that are not the user's, each to the next one, and the names before the user's own. */
function chatTurns(content: string, own: readonly string[]): TextSpan[] {
  const lines = Array.from(content.matchAll(TURN_LINE), ({ 0: lead, index, groups }) => ({
    start: index,
    from: index + lead.length,
    who: groups?.who ?? "",
    isTimed: groups?.time !== undefined || /[\])]:$/.test(lead),
  }));
  if (!isChat(lines, content)) return [];
  return lines.map((line, at) => {
    const isOwn = SELF.test(line.who) || isOwnName(line.who.split(" ")[0], own);
    return { start: line.start, end: isOwn ? line.from : (lines[at + 1]?.start ?? content.length) };
  });
}

function isChat(lines: readonly ChatLine[], content: string): boolean {
  const [first] = lines;
  if (!first || lines.some(({ who }) => PROGRAM.test(who))) return false;
  if (
    lines.some(({ isTimed }) => isTimed) &&
    lines.every(({ who }) => SELF.test(who) || isPerson(who) || /^\p{Lu}/u.test(who))
  )
    return true;
  // "Jo: I'm vegan now", alone or with what others answer.
  const others = lines.filter(({ who }) => !SELF.test(who));
  const isOpening = content.slice(0, first.start).trim() === "";
  return isOpening && others.length > 0 && others.every(({ who }) => isPerson(who));
}

/** "Jo", "Mum", "Petra Novak". */
function isPerson(label: string): boolean {
  const [word = ""] = label.toLowerCase().split(" ");
  if ([KIN, FEMALE, MALE].some((words) => words.has(word)) || word === "boss") return true;
  const [first] = tagSentences(`${label} sleeps.`, 0)[0] ?? [];
  return /^\p{Lu}/u.test(label) && first?.tags.has("FirstName") === true;
}
