import type { Claim, Memory } from "../../../domain/memory.ts";
import { hasSameWords, splitWords, stem } from "../../../domain/search/search-terms.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { formatDateInWords } from "../format-date.ts";
import { conjugate, joinList, toSecondPerson, toSentence, toSingular } from "../word-forms.ts";

/** "user/flatmate/parrot" -> "Your flatmate's parrot", "user" -> "You", "Caroline/mother" -> "Caroline's mother". */
export function sayPath(path: string): string {
  const [root = "", ...parts] = path.split("/");
  if (root === "user") {
    const [first, ...rest] = parts;
    if (first === undefined) return "You";
    return rest.reduce((text, part) => `${text}'s ${part}`, `Your ${first}`);
  }
  return parts.reduce((text, part) => `${text}'s ${part}`, root);
}

/** The user's own words, said to them: "my old Canon" -> "your old Canon". */
export function sayValue(text: string): string {
  return text
    .replace(/\b(?:my|our)\b/gi, "your")
    .replace(/\b(?:I|we)['’]m\b/gi, "you are")
    .replace(
      /\b(?:I|we)['’](ve|ll|d|re)\b/gi,
      (_all, short: string) => `you${SHORT[short.toLowerCase()] ?? ""}`,
    )
    .replace(/\b(?:I|we|i) (am|was)\b/g, (_all, verb: string) => `you ${verb === "am" ? "are" : "were"}`)
    .replace(/\b(?:am|was)\b(?= )/g, (word) => (word === "am" ? "are" : word))
    .replace(/\b(?:myself|ourselves)\b/gi, "yourself")
    .replace(/\b(?:mine|ours)\b/gi, "yours")
    .replace(/\bme\b|\bus\b/g, "you")
    .replace(/(?<![\p{L}\p{N}_])(?:I|we|i)(?![\p{L}\p{N}_])/gu, "you");
}

const SHORT: Readonly<Record<string, string>> = { ve: " have", ll: " will", d: "'d", re: " are" };

/** One memory as a sentence to the user. */
export function sayOne(memory: Memory, question: Question, asked: string): string {
  const { claim } = memory;
  const said = toSecondPerson(memory.text);
  if (!claim) return toSentence(said);
  if (
    claim.relation === "live in" &&
    memory.kind === "fact" &&
    !/\blives?\b/.test(memory.text) &&
    !isOwnWords(memory, claim)
  )
    return sayClaims([claim], "");
  if (question.asks === "when" || isOwnWords(memory, claim) || isInflected(said, claim))
    return withDate(said, memory, question);
  const qualifier = claim.qualifier && !isSaid(claim.qualifier, asked) ? claim.qualifier : "";
  if (claim.subject.includes("/") || !claim.subject.startsWith("user"))
    return withDate(said, memory, question);
  return withDate(sayClaims([claim], qualifier), memory, question);
}

/** Whether the memory's own words say it best: what happened, what is denied or over, what hangs on a time. */
function isOwnWords({ kind, when }: Memory, claim: Claim): boolean {
  if (kind === "event" || kind === "commitment" || kind === "instruction") return true;
  if (/^(?:be born|not|never|used to|want the assistant to|wish to be called|can) ?/.test(claim.relation))
    return true;
  const qualifier = claim.qualifier ?? "";
  return isHidden(claim) || LASTING.test(qualifier) || (when !== undefined && RELATIVE.test(qualifier));
}

/** "You are taking", "You have been playing": more than the bare verb tells. */
function isInflected(said: string, { subject, relation }: Claim): boolean {
  const opening = new RegExp(
    `^${escaped(sayPath(subject))}\\S*(?: \\S+)? (?:are|is|have|has|was|were) `,
    "i",
  );
  return opening.test(said) && !/^(?:be|have)\b/.test(relation);
}

/** "has had it for two years", "since May": as it was said, for "have it for two years" is no English. */
const LASTING = /\b(?:since|for (?:\w+ ){1,3}(?:years?|months?|weeks?|days?))\b/i;

/** A day that hangs on when it was said: the memory's own words name the date. */
const RELATIVE =
  /\b(?:today|tonight|tomorrow|yesterday|ago|last|next|this|coming|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Relations whose bare claim reads badly. */
function isHidden(claim: Claim): boolean {
  return claim.value === "" || /\b(?:to|\w+ing)$/.test(claim.relation.split(" ").slice(0, 2).join(" "));
}

/** A qualifier whose words the question has, or that only says what kind of thing it is. */
function isSaid(qualifier: string, asked: string): boolean {
  const known = new Set(splitWords(asked).map(stem));
  return splitWords(qualifier)
    .filter((word) => !/^(?:as|an?|the|for|in|at|on|my|our|of|to|with|now|every)$/.test(word))
    .every((word) => known.has(stem(word)));
}

/** Claims of one subject and relation as one sentence: "You use Shram and Magnet." */
export function sayClaims(claims: readonly Claim[], qualifier: string): string {
  const [first] = claims;
  if (!first) return "";
  const subject = claims.some((claim) => claim.subject !== first.subject)
    ? pluralOf(sayPath(first.subject.replace(/ \p{Lu}[^/]*$/u, "")))
    : sayPath(first.subject);
  const noun = subject.split(" ").at(-1) ?? "";
  const isPlural = subject.startsWith("Your ") && toSingular(noun) !== noun.toLowerCase();
  const person = subject === "You" ? "you" : isPlural ? "they" : "third";
  if (first.relation === "be aged")
    return toSentence(`${subject} ${conjugate("be", person)} ${first.value} years old`);
  const values: string[] = [];
  for (const { value } of claims) {
    const said = sayValue(value);
    if (!values.some((one) => hasSameWords(one, said))) values.push(said);
  }
  return toSentence(
    [subject, conjugate(first.relation, person), joinList(values), sayValue(qualifier)]
      .filter((part) => part !== "")
      .join(" "),
  );
}

/** "Your kid" -> "Your kids", where several are meant. */
function pluralOf(subject: string): string {
  const noun = subject.split(" ").at(-1) ?? "";
  if (noun === "child") return subject.replace(/child$/, "children");
  return `${subject}${/(?:s|x|ch|sh)$/.test(noun) ? "es" : "s"}`;
}

/** "You bank with Revolut (since July 2026).", where it was told since when. */
function withBeginning(text: string, { validFrom, at }: Memory): string {
  if (validFrom === undefined || validFrom === at) return toSentence(text);
  const day = validFrom.slice(0, 10);
  const told = day.endsWith("-01-01") ? day.slice(0, 4) : day.endsWith("-01") ? day.slice(0, 7) : day;
  const spoken = formatDateInWords(told, { weekday: false });
  const bare = toSentence(text).replace(/\.$/, "");
  return bare.includes(spoken) ? `${bare}.` : `${bare} (since ${spoken}).`;
}

/** The date says the day, and the hour where it has one. */
function withoutTime(qualifier: string, when: string): string {
  const bare = qualifier.replace(
    /\b(?:on )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow)\b/gi,
    "",
  );
  const hours = /\b(?:at|around) \d{1,2}(?:[:.]\d\d)? ?(?:am|pm)?\b/gi;
  return (when.length > 10 ? bare.replace(hours, "") : bare).replace(/\s+/g, " ").trim();
}

/** Puts the resolved date behind what was said of it. */
function withDate(text: string, memory: Memory, question: Question): string {
  const { when, claim } = memory;
  if (when === undefined) return question.asks === "when" ? withBeginning(text, memory) : toSentence(text);
  const iso = when.slice(0, 10);
  if (text.includes(iso)) return toSentence(text);
  const bare = toSentence(text).replace(/\.$/, "");
  const spoken = formatDateInWords(when, { weekday: false });
  if (question.asks === "when" && claim?.relation.startsWith("be on")) {
    const more = sayValue(withoutTime(claim.qualifier ?? "", when));
    const rest = more === "" ? "" : ` ${more}`;
    return `${sayPath(claim.subject)} is ${iso.length < 10 ? "in" : "on"} ${formatDateInWords(when)} (${iso})${rest}.`;
  }
  const isTold = bare.includes(spoken) || bare.includes(spoken.replace(/ \d{4}$/, ""));
  if (isTold || spoken === iso) return `${bare} (${iso}).`;
  return `${bare} (${spoken}, ${iso}).`;
}

/** "You used to live in Leeds." */
export function sayPast(claims: readonly Claim[]): string {
  const [first] = claims;
  if (!first) return "";
  const values = claims.map(({ value }) => sayValue(value));
  const relation = first.relation.replace(/^used to /, "");
  const qualifier = claims.length === 1 ? ` ${sayValue(first.qualifier ?? "")}` : "";
  return toSentence(`${sayPath(first.subject)} used to ${relation} ${joinList(values)}${qualifier}`);
}
