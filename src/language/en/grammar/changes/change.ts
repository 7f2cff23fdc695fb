import type { Claim } from "../../../../domain/memory.ts";
import { compose } from "../claims/sentence.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { type Context, type Statement, thirdPerson, tidy } from "../context.ts";
import { momentOf, type SaidDate } from "../time/dates.ts";

export interface Change {
  readonly context: Context;
  readonly statement: Statement;
  readonly sentence: string;
  readonly phrases: readonly Phrase[];
  readonly dates: readonly SaidDate[];
  readonly text: string;
}

export function fromThen({ dates, context }: Change): { validFrom?: string } {
  const [date] = dates;
  return date ? { validFrom: momentOf(date.iso, context.message.zone) } : {};
}

export function endedAt(change: Change): string | undefined {
  const [date] = change.dates;
  const at = date && momentOf(date.iso, change.context.message.zone);
  return at !== undefined && at <= change.context.message.at ? at : undefined;
}

export function owner({ statement, context }: Change): { subject?: string } {
  return statement.subject.path === context.discourse.speaker.path ? {} : { subject: statement.subject.path };
}

/** Up to where something else begins. */
export function newThing(text: string): string {
  const cut =
    text.split(
      /,| because | since | as (?:i|my|the|it) | so (?:i|that) | and (?:i|it|we|my) | after | when | for (?:the|my|our|a) (?:\w+ )?(?:health|stomach|sake)| last | this | yesterday| today| in (?:january|february|march|april|may|june|july|august|september|october|november|december)/i,
    )[0] ?? "";
  return tidy(cut).replace(/\s+(?:last|this|next) \w+$/i, "");
}

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A claim as a sentence about its subject. */
export function sayClaim(change: Change, claim: Claim): string {
  const { context, statement } = change;
  const { speaker } = context.discourse;
  const isSpeaker = claim.subject === speaker.path;
  const display = isSpeaker
    ? speaker.display
    : claim.subject === statement.subject.path
      ? statement.subject.display
      : displayOf(claim.subject);
  const verb = thirdRelation(claim.relation);
  const rest = thirdPerson(
    [claim.value, claim.qualifier ?? ""].filter(Boolean).join(" "),
    context,
    isSpeaker ? speaker : statement.subject,
  );
  return compose(display, verb, rest);
}

export function thirdRelation(relation: string): string {
  const [head = "", ...rest] = relation.split(" ");
  const forms: Readonly<Record<string, string>> = { be: "is", have: "has", do: "does", go: "goes" };
  if (head === "not")
    return `${rest[0] === "be" ? "is not" : `does not ${rest[0] ?? ""}`} ${rest.slice(1).join(" ")}`.trim();
  const third =
    forms[head] ??
    (/(?:s|x|z|ch|sh)$/.test(head)
      ? `${head}es`
      : /[^aeiou]y$/.test(head)
        ? `${head.slice(0, -1)}ies`
        : `${head}s`);
  return [third, ...rest].join(" ");
}

/** "user/flatmate/parrot" -> "The user's flatmate's parrot". */
export function displayOf(path: string): string {
  const [root = "", ...parts] = path.split("/");
  const first = root === "user" ? "The user" : root;
  return parts.reduce((text, part) => `${text}'s ${part}`, first);
}

export function sayIso(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split("-");
  const names = "January February March April May June July August September October November December".split(
    " ",
  );
  const time = iso.length > 10 ? ` at ${iso.slice(11, 16)}` : "";
  return (
    [day && String(Number(day)), month && names[Number(month) - 1], year].filter(Boolean).join(" ") + time
  );
}

/** "on 4 May 2026", "in May 2026", "in 2026". */
export function sayWhen(iso: string): string {
  return `${iso.length < 10 ? "in" : "on"} ${sayIso(iso)}`;
}

/** "with Mr Lambert", without the day and hour that were said behind it: an event that is moved keeps its company. */
export function companyOf(claim: Claim | undefined): string {
  const company = /\b(?:with|for|about) .*$/i.exec(claim?.qualifier ?? "")?.[0] ?? "";
  return company
    .replace(/,? (?:on|at|in|this|next|tomorrow|today|tonight|until|from|by) .*$/i, "")
    .replace(/ (?:tomorrow|today|tonight)$/i, "");
}
