import { splitSentences } from "../../../../domain/text/split-text.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import { withoutPlace } from "./erase-forms.ts";
import { type RequestPart, readRequest } from "./request-network.ts";
import { BY_WORDS, type ScoredCandidate } from "./request-sentences.ts";

/** What a request means, in the words of its sentence. */
export interface RequestObject {
  /** The words; empty for "it", "that" and for none. */
  readonly text: string;
  /** True if a pronoun or nothing stands in its place. */
  readonly isPronoun: boolean;
  /** True if a statement stands for it: "you shouldn't have her medicines, delete them". */
  readonly isClause?: boolean;
  /** The words behind "this:", "off the record,": what is told and not to be kept. */
  readonly told?: string;
}

const PRONOUN =
  /^(?:(?:it|that|this|them|those|these|any of (?:it|that|this)|all of (?:it|that|this)|it all|all that|that one|this one|the following|what comes next|what follows|the next (?:bit|part|thing)|what i['’]?m about to (?:say|tell)(?: you)?)(?=(?: \p{L}+ly)? *(?:$|[,:;.!?)–—-]|\s(?:from|out|off|away|down|please|pls|too|now|again|anywhere|in|on|for|but|and|because|as)\b)))/iu;
const OFF_RECORD = /\boff the record|\bbetween (?:us|you)|\b(?:ears|eyes) only/i;
const KEPT_OUT =
  /^(?<object>.+?)\s+(?:out of|in|on|from) (?:(?:your|the|our|shared) )+(?:memory|notes?|records?|files?|log|minutes)\b/i;
const TRAILING =
  /[,;.!?\s]+(?:please|pls|plz|thanks|thank you|thx|ok|okay|abeg|now|again|too|as well|for now|for good|entirely|completely|altogether|immediately|right away|lol|anywhere|any ?more|any longer|would you|will you|can you|could you|ever|at all)\s*[.!?]*$/i;
const INTRO =
  /^(?:(?:please|pls|also|now|ok|okay|and|so|but|hey|btw|sorry|oops|abeg|actually|just|yes|no|well|on reflection|on second thoughts?|come to think of it|thinking about it)\b[,:. ]*|(?:i|we)(?:['’]d| would)? (?:(?:just|also|really) )?(?:don['’]?t )?(?:want|need|like|prefer)(?: to have)? |(?:\p{L}+ ){1,3}(?:asks?|asked|wants?|wanted|says?|requests?)(?: that)? (?:us |we |to |me )*(?=treat|consider)|(?:can|could) (?:we|you) (?:please )?(?:get|have) |(?:treat|consider|regard|have|get|make sure|see to it|ensure)(?: that)? )+/iu;
const OUTRO =
  /\s+(?:(?:should|must|shall|need|needs|has|have|had|can|could|may|is|are|ought|might|to|not|never|no longer|be|being|get|gets|now|also|please|as|ever|really)(?:n['’]?t)?\b\s*)+$/i;

/** What the request of a candidate means. `sentence` is the sentence of the candidate. */
export function readRequestObject(sentence: string, candidate: ScoredCandidate): RequestObject {
  const { start, end, group, isPassive } = candidate;
  if (candidate.features.includes(BY_WORDS)) return objectByParts(sentence) ?? objectKeptOut(sentence);
  if (group === "none") return objectKeptOut(sentence);
  const before = sentence.slice(0, start);
  const rest = sentence.slice(end);
  const stays = /^(?:stay|remain)/i.test(sentence.slice(start, end));
  const undergoer = isPassive || stays || group === "go" ? undergoerOf(sentence, start) : undefined;
  if (undergoer !== undefined) return toObject(undergoer);
  if (group === "pretend") return toObject(PRETENDED.exec(rest)?.groups?.about ?? "");
  const bare = rest
    .replace(
      /^\s*(?:rid\s+)?(?:of|about|up|on to|onto|down|out|off|back|away|track of|a (?:note|record) of|all)?\s+/i,
      "",
    )
    .replace(/^of\s+/i, "");
  const pronoun = PRONOUN.exec(bare);
  if (!pronoun && !/^(?:please|pls)?\W*$/i.test(bare)) return toObject(bare);
  // "What I told you about Ivan, delete it", "My age: please remove".
  const subject = subjectBefore(before);
  const isTold = /^(?:forget|erase|discard)$/.test(group) && isObjectBefore(subject);
  return isTold ? toClauseObject(subject) : toPronoun(bare.slice(pronoun?.[0].length ?? 0));
}

/** "I'd like the whole holiday gone": what the reader of requests labels as what is to go. Undefined for a pronoun. */
export function objectByParts(sentence: string): RequestObject | undefined {
  const named = partsOf(sentence, "target").filter((words) => !PRONOUN.test(words));
  const text = cleanObject(named.join(", "));
  return text === "" ? undefined : { text, isPronoun: PRONOUN.test(text) };
}

/** "everything of how I came": one run, though the small word is in no part. */
const JOINING = /^\s*(?:of|on|about)\s*$/i;

/** The runs of words of one part, those that are only joined by small words as one. */
export function partsOf(sentence: string, wanted: RequestPart): string[] {
  const runs: { start: number; end: number }[] = [];
  for (const { part, start, end } of readRequest(sentence).spans) {
    const last = runs.at(-1);
    if (part !== wanted) continue;
    if (last && JOINING.test(sentence.slice(last.end, start))) last.end = end;
    else runs.push({ start, end });
  }
  return runs.map(({ start, end }) => sentence.slice(start, end));
}

/** What stands before an order, without the words that only join it. */
function subjectBefore(before: string): string {
  return before
    .replace(/[\s,:;–—-]+$/, "")
    .replace(INTRO, "")
    .replace(/\b(?:and|so|but|then|please|now)\s*$/i, "")
    .replace(/[\s,:;–—-]+$/, "");
}

function toClauseObject(subject: string): RequestObject {
  const isClause = /^(?:i|we|you|he|she|they|it)\b/i.test(subject) || hasFiniteVerb(subject);
  return { text: cleanObject(subject), isPronoun: false, isClause };
}

function toPronoun(behind: string): RequestObject {
  const told = behind.replace(/^[\s,:;–—-]+/, "");
  return { text: "", isPronoun: true, ...(told === "" ? {} : { told }) };
}

/** "Pretend that I never said anything about it". */
const PRETENDED =
  /\b(?:never|didn['’]?t)\s+\p{L}+(?: \p{L}+)?(?: anything)?(?: about| of| that)?\s+(?<about>.+)$/iu;

/** "Two things I want out of here: my rent, and who my doctor is." */
const LISTED_OUT = /^[^:;.]*\bthings\b[^:;.]*\b(?:out of|off|from|in) [^:;.]*:\s+(?<list>\S.*)$/i;

/** "HR wants Ed's figure out of the notes", "I don't want my debts in your memory". */
function objectKeptOut(sentence: string): RequestObject {
  const listed = LISTED_OUT.exec(sentence)?.groups?.list;
  if (listed !== undefined) return { text: cleanObject(listed), isPronoun: false };
  const kept = KEPT_OUT.exec(sentence)?.groups?.object;
  const noted = /\bno (?:notes?|records?|mention|trace|memory) (?:of|on|about) (?<object>.+)$/i.exec(sentence)
    ?.groups?.object;
  if (kept === undefined && noted !== undefined) return toObject(noted);
  if (kept === undefined) return { text: "", isPronoun: true, told: sentence };
  const object = lastClause(kept).replace(INTRO, "");
  return toObject(object.replace(/^(?:\S+ ){0,3}wants? /i, "").replace(OUTRO, ""));
}

/** "The code must be deleted": the code. */
function undergoerOf(sentence: string, start: number): string | undefined {
  const patient = patientOf(sentence, start);
  if (patient !== undefined) return patient;
  const subject = sentence.slice(0, start).replace(INTRO, "").replace(/\s+$/, "").replace(OUTRO, "");
  return subject.trim() === "" ? undefined : lastClause(subject);
}

/** Whether the words before a verb are what it is done to. */
function isObjectBefore(subject: string): boolean {
  if (OFF_RECORD.test(subject) || /\b(?:can|could|would|will) (?:you|u)$/i.test(subject)) return false;
  return subject.split(/\s+/).length <= 14 && /\p{L}{2,}/u.test(subject);
}

/** What is done something to by a verb at a place: its subject, or the object of the verb above it. */
function patientOf(sentence: string, place: number): string | undefined {
  for (const { tokens } of parseEnglish(sentence)) {
    const at = tokens.findIndex(({ start, end }) => start <= place && place < end);
    if (at < 0) continue;
    const verb = tokens[at];
    const child = (head: number, labels: RegExp): number =>
      tokens.findIndex(({ head: h, label, pos }) => h === head && labels.test(label) && pos !== "PRON");
    const own = child(at, /^nsubj/);
    const found = own >= 0 ? own : child(verb?.head ?? -1, /^(?:obj|nsubj:pass)$/);
    if (found < 0) return undefined;
    const isUnder = (i: number): boolean => {
      for (let k = i; k >= 0; k = tokens[k]?.head ?? -1) if (k === found) return true;
      return false;
    };
    const inside = tokens.filter(({ start }, i) => isUnder(i) && start < place);
    return inside.length === 0 ? undefined : sentence.slice(inside[0]?.start, inside.at(-1)?.end);
  }
  return undefined;
}

function toObject(text: string): RequestObject {
  const object = cleanObject(cutReason(text));
  return { text: object, isPronoun: object === "" || PRONOUN.test(object) };
}

/** Without courtesies, and without what says from where. */
function cleanObject(text: string): string {
  let object = text.trim().replace(/[.!?,;:]+$/, "");
  for (let before = ""; before !== object; ) {
    before = object;
    object = object.replace(TRAILING, "").trim();
  }
  object = withoutPlace(object)
    .replace(
      /\s+(?:from|off|out of|in|on) (?:(?:your|the|our|my) )?(?:\p{L}+ )?(?:memory|memories|notes?|records?|files?|everywhere|everything|lists?(?: of .*)?)(?: you (?:keep|have).*)?$/iu,
      "",
    )
    .replace(/\s+from (?:everywhere|everything|all|what(?:ever)? you \p{L}+)$/iu, "")
    .replace(/\s+(?:off|out|away|down)$/i, "");
  return object.trim();
}

function lastClause(text: string): string {
  const last = splitSentences(text).at(-1);
  return (
    text
      .slice(last?.start)
      .split(/[;:!?]\s+|,\s+(?:and|so|but)\s+/)
      .at(-1) ?? text
  );
}

/** Without the reason behind a comma: what stands there has a verb of its own. */
function cutReason(text: string): string {
  const [first] = splitSentences(text);
  const hard =
    text
      .slice(0, first?.end)
      .split(
        /[!?;]\s+|\s+[–—-]\s+|\s+(?:because|since (?:it|i|we|they|he|she)|cause|cuz|now that|as (?:i|it|we|they|he|she))\b/i,
      )[0] ?? text;
  const pieces = hard
    .replace(/,?\s+(?:please|pls|plz|abeg)\b,?\s.*$/i, "")
    .split(/(,\s+|\s+(?:so|and) (?=(?:i|it|that|this|they|he|she|we)\b))/i);
  let kept = pieces[0] ?? hard;
  for (let k = 1; k + 1 < pieces.length; k += 2) {
    const next = pieces[k + 1] ?? "";
    // "Remove the dose, wrong patient": the last of several things is joined by a word, or is named as the first is.
    const isRemark = k + 2 === pieces.length && !LISTED.test(next);
    if (isRemark || hasFiniteVerb(next)) break;
    kept += `${pieces[k]}${next}`;
  }
  return kept;
}

const LISTED =
  /\b(?:and|or)\b|^(?:the|a|an|my|our|his|her|their|its|this|that|these|those|all|any|both|who|which|where|with|from|of|about|in|on|at|for|to)\b|\p{Lu}|\p{N}|["“'‘]|['’]s?\b/u;

/** Whether words are a statement of their own. */
export function hasFiniteVerb(clause: string): boolean {
  if (
    /^(?:it|i|that|this|they|we|he|she|is|was|not|don|nobody|never|because|got|got|turned|too)\b/i.test(
      clause,
    )
  )
    return true;
  return parseEnglish(clause).some(({ tokens }) =>
    tokens.some(({ tag, label }) => /^(?:VBD|VBZ|VBP|MD)$/.test(tag) || label === "nsubj"),
  );
}
