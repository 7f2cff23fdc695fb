import { type ClausePart, isOver } from "../clauses/parts.ts";
import type { AddParts } from "../context.ts";
import { formerTrade } from "./trades.ts";

/** What is so too, beside what was told. */
const BESIDE = /\b(?:also|as well|too|on the side|besides|second job|side job|both)\b/i;

/** What the new value takes the place of. */
export function toReplacement(part: ClausePart, relation: string, value: string): Partial<AddParts> {
  const words = part.context.content.slice(part.statement.start, part.statement.end);
  if (part.isBeside || BESIDE.test(words)) return { holds: "many" };
  const trade = relation === "work as" ? formerTrade(part.context, part.statement, value) : {};
  return { ...replacedNow(part, relation, value), ...trade };
}

/** Relations of which people have one at a time, though the table leaves more: with "now" the new one replaces. */
const ONE_NOW = new Set(
  "go to|attend|bank with|be with|work in|work on|study|drive|ride|take|live with|train at|play for|see|be on|be at|read|watch|commute by|be into|shop at|sleep in|support|wear|eat|drink|be scared of|study with|insure with|stay at|volunteer at|teach at|use for|be subscribed to".split(
    "|",
  ),
);

/** "these days I sleep seven hours", "the pass costs 104 euros now": the same with another number. */
export function measuredBefore(part: ClausePart, relation: string, value: string): string | undefined {
  const { context, statement } = part;
  // "I read 1984": the number is the whole name.
  if (NAMING.has(relation) && /^\d[\d.,]*$/.test(value)) return undefined;
  const shape = shapeOf(value);
  if (!shape.includes("#") || isOver(part)) return undefined;
  const same = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === relation &&
      claim.value.toLowerCase() !== value.toLowerCase() &&
      shapeOf(claim.value) === shape,
  );
  return same.length === 1 ? same[0]?.id : undefined;
}

const NAMING = new Set("read|watch|like|love|enjoy|hate|play|see|listen to|recommend|finish".split("|"));

const COUNTED = /\b(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/gi;

/** What stands before a number that measures: "at 7", "about five hours", "up to 30 km". */
const BEFORE_MEASURE =
  /(?:^|\b(?:at|by|for|from|in|on|to|until|till|after|before|about|around|only|just|nearly|almost|roughly|over|under|every|than|an?|the|is|are|was|were) |(?<!\p{L})-|[^\p{L}\p{N} .-] ?)$/iu;
/** A unit behind a number: "mg", "%", " hours". */
const UNIT = /^(?:\p{Ll}{1,3}\b|[%€£$°])|^ (?!(?:and|or|but|on|in|at|with|from|of|for|to|as|by)\b)\p{Ll}/u;

/**
 * A value with the numbers that measure made alike: "about five hours" and "seven hours". A number behind a name belongs to
 * the name, and tells it from others: "Toy Story 2", "Highway 61", "psalm 23", "item number 5".
 */
function shapeOf(value: string): string {
  return value
    .replace(COUNTED, (number, at: number) => (isMeasure(value, number, at) ? "#" : number))
    .toLowerCase()
    .replace(/^(?:about|around|only|just|nearly|almost|roughly|an?|the) /, "");
}

/** A number behind these is which one, not how much: "the number 14 bus", "room 12". */
const WHICH =
  /\b(?:number|no\.?|nr\.?|room|bus|tram|route|line|platform|gate|flat|unit|item|page|chapter|episode|season|part|version|level|size) $/i;

function isMeasure(value: string, number: string, at: number): boolean {
  const before = value.slice(0, at);
  if (WHICH.test(before)) return false;
  if (BEFORE_MEASURE.test(before)) return true;
  // Behind a capital letter it is part of a name, whatever follows.
  if (/\p{Lu}[\p{L}\p{N}'.-]* ?$/u.test(before)) return false;
  return UNIT.test(value.slice(at + number.length));
}

const SCHOOL =
  /\b(?:school|nursery|college|university|uni|primary|academy|kindergarten|preschool|high|secondary|grammar|daycare|creche)\b/i;

/** "she goes to Hillside now": ends the one before it. */
function replacedNow(part: ClausePart, relation: string, value: string): { replaces?: { ids: string[] } } {
  const { context, statement } = part;
  const measured = measuredBefore(part, relation, value);
  if (measured) return { replaces: { ids: [measured] } };
  if (!ONE_NOW.has(relation)) return {};
  const slot = context.known.filter(
    ({ status, claim }) =>
      status === "current" &&
      claim?.subject === statement.subject.path &&
      claim.relation === relation &&
      claim.value.toLowerCase() !== value.toLowerCase(),
  );
  const schools =
    relation === "go to" && SCHOOL.test(value)
      ? slot.filter(({ claim }) => SCHOOL.test(claim?.value ?? ""))
      : [];
  const words = context.content.slice(statement.start, statement.end + 14);
  const begins = statement.clause.verb.chain.some(({ verb }) => verb === "start" || verb === "begin");
  const isBegun =
    begins && slot.length === 0
      ? context.known.filter(
          ({ status, claim }) =>
            status === "current" &&
            claim?.subject === statement.subject.path &&
            claim.relation === relation &&
            claim.value.toLowerCase() === value.toLowerCase(),
        )
      : [];
  if (isBegun.length === 1) return { replaces: { ids: isBegun.map(({ id }) => id) } };
  const isNow = /\b(?:now|these days|nowadays)\b/i.test(words) && !isOver(part) && slot.length === 1;
  const ids = (isNow ? slot : schools).map(({ id }) => id);
  return ids.length > 0 ? { replaces: { ids } } : {};
}
