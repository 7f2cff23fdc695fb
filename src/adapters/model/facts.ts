import type { Claim, Kind, Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { attributeHoldsOne, canonicalRelation, relationOf } from "../../domain/relations.ts";
import { holdsSecret } from "../../domain/secrets.ts";
import { sensitiveKind } from "../../domain/sensitive.ts";
import { seen } from "../../domain/unseen.ts";
import { analyse } from "../../domain/words.ts";
import type { AddProposal, EndProposal, Proposal } from "../../ports/extractor.ts";
import { dateOf, momentOf } from "./dates.ts";
import { placeOf } from "./quotes.ts";
import { sentenceOf } from "./statement.ts";
import type { ShownTurn } from "./turns.ts";

/** What a model may say a memory is; reflections are made of many. */
export const KINDS: readonly Kind[] = ["fact", "preference", "commitment", "event", "instruction", "entity"];

/** What an answer is read with. */
export interface Shown {
  /** By their numbers in the prompt, from 1 on. */
  readonly turns: readonly ShownTurn[];
  /** By their numbers in the prompt, from 1 on. */
  readonly known: readonly Memory[];
  /** All that was said in the prompt: what a value must come from. */
  readonly said: string;
  /** Words that no memory may hold unless somebody said them. */
  readonly canaries: readonly string[];
}

/** The items of an answer, whatever it is; nothing where it has none. */
export function itemsIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const items = isFields(value) ? value.items : undefined;
  return Array.isArray(items) ? items : undefined;
}

type Fields = { readonly [field: string]: unknown };

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** More items than this nobody says in so few turns. */
const MOST_ITEMS = 100;
const NOWHERE = { start: -1, end: -1 };

/**
 * The proposals of an answer. An item that names no turn, or is none, is left out; one whose quote is nowhere in the user's
 * words is given without a place, and so refused where it is decided.
 */
export function proposalsOf(items: readonly unknown[], shown: Shown): Proposal[] {
  return items.slice(0, MOST_ITEMS).flatMap((item) => (isFields(item) ? proposalOf(item, shown) : []));
}

function proposalOf(item: Fields, shown: Shown): Proposal[] {
  const found = quoted(item, shown);
  if (!found) return [];
  const { message, place } = found;
  const at = { message: message.id, ...place };
  const old = typeof item.old === "number" ? shown.known[item.old - 1] : undefined;
  switch (item.do) {
    case "add":
      return added(item, shown, message, { ...at, old });
    case "end":
    case "wrong":
      return old ? [ended(item, message, { ...at, old })] : [];
    case "forget":
      return [{ propose: "erase", ...at }];
    default:
      return [];
  }
}

/** The user's message that says it, and where; where the number is wrong, another one that holds the words. */
function quoted(
  { turn, quote }: Fields,
  { turns }: Shown,
): { message: Message; place: { start: number; end: number } } | undefined {
  const words = typeof quote === "string" ? quote : "";
  const named = typeof turn === "number" ? turns[turn - 1] : undefined;
  for (const one of named ? [named, ...turns] : turns) {
    const place = one.isRead ? placeOf(words, one.message.content) : undefined;
    if (place) return { message: one.message, place };
  }
  return named?.isRead ? { message: named.message, place: NOWHERE } : undefined;
}

interface Placed {
  readonly message: string;
  readonly start: number;
  readonly end: number;
  readonly old: Memory | undefined;
}

function ended({ do: what, to, from }: Fields, { zone, at }: Message, placed: Placed): EndProposal {
  const { old, ...place } = placed;
  const over = momentOf(dateOf(to) ?? dateOf(from), "from", zone);
  return {
    propose: what === "wrong" ? "retract" : "supersede",
    ...place,
    target: { ids: old ? [old.id] : [] },
    ...(over !== undefined && over <= at ? { validTo: over } : {}),
  };
}

function added(item: Fields, shown: Shown, message: Message, placed: Placed): AddProposal[] {
  const claim = claimOf(item, message);
  if (!claim || !isSaid(claim, shown)) return [];
  const { old, ...place } = placed;
  const kind = KINDS.find((one) => one === item.kind) ?? relationOf(claim.relation).kind;
  const isPast = kind === "event";
  const text = sentenceOf(claim, isPast && !isLater(item, message));
  if (holdsSecret(text)) return [];
  const isSensitive = sensitiveKind(text) !== undefined || relationOf(claim.relation).sensitive === true;
  const replaces = old && isOfSame(old, claim) ? { ids: [old.id] } : undefined;
  return [
    {
      propose: "add",
      ...place,
      text,
      kind,
      claim,
      holds: holdsOf(claim),
      ...(replaces ? { replaces } : {}),
      confidence: 0.5 + share(item.sure) * 0.4,
      importance: 0.2 + share(item.weight) * 0.7,
      why: "a model read it in the user's words",
      ...datesOf(item, kind, message),
      ...(isSensitive ? { sensitive: true } : {}),
    },
  ];
}

/** 0 to 1, of a number from 0 to 9. */
function share(value: unknown): number {
  return typeof value === "number" && value >= 0 ? Math.min(9, value) / 9 : 0.5;
}

function isLater({ from }: Fields, { at, zone }: Message): boolean {
  const begins = momentOf(dateOf(from), "from", zone);
  return begins !== undefined && begins > at;
}

function holdsOf({ subject, relation }: Claim): "one" | "many" {
  if (relation !== "be") return relationOf(relation).holds;
  const thing = subject.split("/").at(-1) ?? "";
  return subject.includes("/") && attributeHoldsOne(thing) ? "one" : "many";
}

function datesOf({ from, to, expires }: Fields, kind: Kind, { zone, at }: Message): Partial<AddProposal> {
  const begins = dateOf(from);
  const isDated = kind === "event" || kind === "commitment";
  const validFrom = isDated ? undefined : momentOf(begins, "from", zone);
  const validTo = isDated ? undefined : momentOf(dateOf(to), "to", zone);
  const expiresAt = momentOf(dateOf(expires), "to", zone);
  return {
    ...(isDated && begins !== undefined ? { when: begins } : {}),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined || (validFrom !== undefined && validTo <= validFrom) ? {} : { validTo }),
    // What is worth nothing by the time it is said would be gone before anybody saw it.
    ...(expiresAt === undefined || expiresAt <= at ? {} : { expiresAt }),
  };
}

/** Only what is said of the same one takes the place of something. */
function isOfSame({ claim }: Memory, { subject }: Claim): boolean {
  return claim !== undefined && claim.subject.toLowerCase() === subject.toLowerCase();
}

const MOST_OF_A_VALUE = 200;
const MOST_OF_A_NAME = 80;

function claimOf(item: Fields, message: Message): Claim | undefined {
  const subject = subjectOf(textOf(item.who, MOST_OF_A_NAME), message);
  const verb = textOf(item.verb, MOST_OF_A_NAME)?.toLowerCase().replace(/^to /, "");
  const value = textOf(item.what, MOST_OF_A_VALUE)?.replace(/[.\s]+$/, "");
  const qualifier = textOf(item.how, MOST_OF_A_VALUE)?.replace(/[.\s]+$/, "");
  if (!subject || !value || !verb || !/^[a-z][a-z'-]*(?: [a-z'-]+){0,5}$/.test(verb)) return undefined;
  return { subject, relation: canonicalRelation(verb), value, ...(qualifier ? { qualifier } : {}) };
}

/** One line of text; nothing where it is none or too long. */
function textOf(value: unknown, most: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = seen(value.toWellFormed()).replace(/\s+/g, " ").trim();
  return text === "" || text.length > most ? undefined : text;
}

/** Where people talk among themselves, facts are about the one who spoke. */
function subjectOf(who: string | undefined, { name }: Message): string | undefined {
  const path = who?.split("/").map((part) => part.trim());
  if (!path || path.length > 4 || path.some((part) => part === "")) return undefined;
  const [owner = "", ...things] = path;
  const isUser = /^(?:the )?user$|^(?:i|me|myself)$/i.test(owner);
  return [isUser ? (name ?? "user") : owner, ...things.map((thing) => thing.toLowerCase())].join("/");
}

/** Whether what is claimed was said at all: most of its words, and every name of an example. */
function isSaid({ subject, value, qualifier = "" }: Claim, { said, canaries }: Shown): boolean {
  const claimed = `${subject} ${value} ${qualifier}`.toLowerCase();
  const lower = said.toLowerCase();
  if (canaries.some((name) => claimed.includes(name.toLowerCase()) && !lower.includes(name.toLowerCase()))) {
    return false;
  }
  const terms = analyse(value);
  if (terms.length === 0) return lower.includes(value.toLowerCase());
  const there = new Set(analyse(said));
  return terms.filter((term) => there.has(term)).length * 2 >= terms.length;
}
