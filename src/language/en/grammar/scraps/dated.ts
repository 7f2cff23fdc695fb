import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import { displayOf } from "../changes/change.ts";
import { compose } from "../claims/sentence.ts";
import type { Clause } from "../clauses/clauses.ts";
import type { Entity } from "../clauses/entity.ts";
import { readNounPhrase } from "../clauses/noun-phrases.ts";
import { adding, type Context, claimOf, saidAt, tidy } from "../context.ts";
import { datesIn } from "../time/dates.ts";
import { isTime } from "../time/times.ts";
import type { Token } from "../words/token.ts";
import type { Fragment } from "./fragment.ts";

/** "Nice weather today": of the day, and nothing that takes place on it. */
const NO_DATE = /^(?:weather|rain|snow|sun|sunshine|storm|traffic|news|mood|stuff|things?|days?|fun|vibes?)$/;

/** "dentist in two weeks", "big exam on Friday": a thing and its day. */
export function dated({ context, tokens, place }: Fragment): AddProposal[] | undefined {
  let start = 0;
  while (["adverb", "other", "conjunction"].includes(tokens[start]?.class ?? "")) start += 1;
  const end = readNounPhrase(tokens, start, tokens.length);
  if (end === undefined || isTime(tokens, start, end) || isDoing(tokens[end])) return undefined;
  const rest = context.content.slice(tokens[end]?.start ?? place.end, place.end);
  const [date] = datesIn(rest, saidAt(context.message), true);
  if (!date || date.start > 14 || date.iso < saidAt(context.message).slice(0, date.iso.length))
    return undefined;
  const head = tokens[end - 1];
  if (
    !head ||
    head.class === "number" ||
    head.class === "pronoun" ||
    head.class === "adjective" ||
    NO_DATE.test(head.lower)
  )
    return undefined;
  const entity = context.discourse.resolve(tokens, start, end) ?? ownThing(context, tokens, start, end);
  if (!entity || entity.path === context.discourse.speaker.path) return undefined;
  const value = tidy(rest).replace(/^(?:on|in|at) (?=\S)/i, "");
  return [
    adding(context, place, {
      text: compose(entity.display, "is", sayOn(date.iso)),
      claim: claimOf(entity.path, "be on", value),
      kind: "event",
      holds: "one",
      importance: 0.7,
      when: date.iso,
    }),
  ];
}

/** "dad RETIRING in June": what somebody does then, and nothing that takes place itself: "exam COMING up on Friday". */
function isDoing(token: Token | undefined): boolean {
  const isGerund = /[a-z]{2}ing$/.test(token?.lower ?? "") && token?.class === "verb";
  return (
    isGerund && !/^(?:coming|happening|starting|beginning|looming|approaching)$/.test(token?.lower ?? "")
  );
}

/** "dentist in two weeks, they're pulling a tooth": what stands before the first clause. */
export function datedLead(context: Context, clause: Clause | undefined): AddProposal[] {
  if (!clause || clause.asks || clause.role === "condition") return [];
  const { tokens, lead } = clause;
  const first = tokens[lead[0]];
  const last = tokens[lead[1] - 1];
  if (!first || !last || lead[1] - lead[0] < 2 || !last.after.includes(",")) return [];
  const place = { start: first.start, end: last.end };
  return dated({ context, tokens: tokens.slice(...lead), text: "", place }) ?? [];
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

function sayOn(iso: string): string {
  const [year, month, day] = iso.slice(0, 10).split("-");
  const name = month ? MONTHS[Number(month) - 1] : undefined;
  const time = iso.length > 10 ? ` at ${iso.slice(11, 16)}` : "";
  return `${day ? "on" : "in"} ${[day && String(Number(day)), name, year].filter(Boolean).join(" ")}${time}`;
}

/** Whom one sees by appointment. */
const SEEN =
  /^(?:dentist|orthodontist|doctor|gp|vet|hairdresser|barber|physio|optician|therapist|osteopath|midwife|chiropractor|dermatologist|cardiologist|surgeon|lawyer|solicitor|accountant|nail|hair|hospital|clinic)s?$/;

function ownThing(
  context: Context,
  tokens: readonly Token[],
  start: number,
  end: number,
): Entity | undefined {
  const words = tokens.slice(start, end).filter(({ class: kind }) => kind === "noun" || kind === "name");
  const noun = words.map(({ lower }) => lower).join(" ");
  const thing = SEEN.test(noun) ? `${noun} appointment` : noun;
  if (thing === "" || words.length !== end - start - Number(tokens[start]?.class === "adjective"))
    return undefined;
  const { speaker } = context.discourse;
  const display = speaker.path === "user" ? "The user's" : `${speaker.display}'s`;
  return { path: `${speaker.path}/${thing}`, display: `${display} ${thing}`, animate: false, plural: false };
}

const DUE =
  /^(?:(?:they['’]re|it['’]?s|he['’]s|she['’]s) )?due (?<joint>in|on|around|at) (?<when>[^,;.!?]{2,40})/i;

/** "due in October", behind what is due. */
export function dueThen(
  context: Context,
  text: string,
  place: { start: number; end: number },
): AddProposal[] {
  const found = DUE.exec(text.trim())?.groups;
  if (!found?.when) return [];
  const last = context.made.findLast(
    (made): made is AddProposal =>
      made.propose === "add" && /^(?:have|expect|get|be having)$/.test(made.claim?.relation ?? ""),
  );
  const thing = last?.claim?.value.replace(/^(?:an?|the|my|two|three|our) /i, "").toLowerCase();
  if (!last?.claim || thing === undefined || thing.split(" ").length > 2) return [];
  const value = tidy(found.when);
  const [date] = datesIn(`${found.joint} ${value}`, saidAt(context.message), true);
  const isPlural = toSingular(thing) !== thing;
  return [
    adding(context, place, {
      text: compose(
        displayOf(`${last.claim.subject}/${thing}`),
        isPlural ? "are due" : "is due",
        found.joint ?? "in",
        value,
      ),
      claim: claimOf(`${last.claim.subject}/${thing}`, "be due on", value),
      kind: "event",
      holds: "one",
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}
