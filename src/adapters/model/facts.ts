import type { Claim, Kind, Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { getRelation, isSingleValued, toCanonicalRelation } from "../../domain/relations.ts";
import { hasCredential } from "../../domain/secrets.ts";
import { findSensitiveKind } from "../../domain/sensitive.ts";
import { stripInvisible } from "../../domain/unseen.ts";
import { extractTerms } from "../../domain/words.ts";
import type { AddProposal, EndProposal, Proposal } from "../../ports/extractor.ts";
import { parseModelDate, toMoment } from "./dates.ts";
import { locateQuote } from "./quotes.ts";
import { toSentence } from "./statement.ts";
import type { ShownTurn } from "./turns.ts";

/** What a model may say a memory is; reflections are made of many. */
export const MODEL_KINDS: readonly Kind[] = [
  "fact",
  "preference",
  "commitment",
  "event",
  "instruction",
  "entity",
];

/** What an answer is read with. */
export interface ShownPrompt {
  /** By their numbers in the prompt, from 1 on. */
  readonly turns: readonly ShownTurn[];
  /** By their numbers in the prompt, from 1 on. */
  readonly known: readonly Memory[];
  /** All that was said in the prompt: what a value must come from. */
  readonly spokenText: string;
  /** Words that no memory may hold unless somebody said them. */
  readonly canaries: readonly string[];
}

/** The items of an answer, whatever it is; nothing where it has none. */
export function findItems(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const items = isFields(value) ? value.items : undefined;
  return Array.isArray(items) ? items : undefined;
}

type ItemFields = { readonly [field: string]: unknown };

function isFields(value: unknown): value is ItemFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** More items than this nobody says in so few turns. */
const MOST_ITEMS = 100;
const NO_PLACE = { start: -1, end: -1 };

/**
 * The proposals of an answer. An item that names no turn, or is none, is left out; one whose quote is nowhere in the user's
 * words is given without a place, and so refused where it is decided.
 */
export function toProposals(items: readonly unknown[], shown: ShownPrompt): Proposal[] {
  return items.slice(0, MOST_ITEMS).flatMap((item) => (isFields(item) ? toProposal(item, shown) : []));
}

function toProposal(item: ItemFields, shown: ShownPrompt): Proposal[] {
  const found = findQuote(item, shown);
  if (!found) return [];
  const { message, place } = found;
  const at = { message: message.id, ...place };
  const old = typeof item.old === "number" ? shown.known[item.old - 1] : undefined;
  switch (item.do) {
    case "add":
      return toAddProposals(item, shown, message, { ...at, old });
    case "end":
    case "wrong":
      return old ? [toEndProposal(item, message, { ...at, old })] : [];
    case "forget":
      return [{ propose: "erase", ...at }];
    default:
      return [];
  }
}

/** The user's message that says it, and where; where the number is wrong, another one that holds the words. */
function findQuote(
  { turn, quote }: ItemFields,
  { turns }: ShownPrompt,
): { message: Message; place: { start: number; end: number } } | undefined {
  const words = typeof quote === "string" ? quote : "";
  const named = typeof turn === "number" ? turns[turn - 1] : undefined;
  for (const one of named ? [named, ...turns] : turns) {
    const place = one.isRead ? locateQuote(words, one.message.content) : undefined;
    if (place) return { message: one.message, place };
  }
  return named?.isRead ? { message: named.message, place: NO_PLACE } : undefined;
}

interface PlacedProposal {
  readonly message: string;
  readonly start: number;
  readonly end: number;
  readonly old: Memory | undefined;
}

function toEndProposal(
  { do: what, to, from }: ItemFields,
  { zone, at }: Message,
  placed: PlacedProposal,
): EndProposal {
  const { old, ...place } = placed;
  const over = toMoment(parseModelDate(to) ?? parseModelDate(from), "from", zone);
  return {
    propose: what === "wrong" ? "retract" : "supersede",
    ...place,
    target: { ids: old ? [old.id] : [] },
    ...(over !== undefined && over <= at ? { validTo: over } : {}),
  };
}

function toAddProposals(
  item: ItemFields,
  shown: ShownPrompt,
  message: Message,
  placed: PlacedProposal,
): AddProposal[] {
  const claim = toClaim(item, message);
  if (!claim || !isClaimSaid(claim, shown)) return [];
  const { old, ...place } = placed;
  const kind = MODEL_KINDS.find((one) => one === item.kind) ?? getRelation(claim.relation).kind;
  const isPast = kind === "event";
  const text = toSentence(claim, isPast && !isInFuture(item, message));
  if (hasCredential(text)) return [];
  const isSensitive = findSensitiveKind(text) !== undefined || getRelation(claim.relation).sensitive === true;
  const replaces = old && hasSameSubject(old, claim) ? { ids: [old.id] } : undefined;
  return [
    {
      propose: "add",
      ...place,
      text,
      kind,
      claim,
      holds: getCardinality(claim),
      ...(replaces ? { replaces } : {}),
      confidence: 0.5 + toShare(item.sure) * 0.4,
      importance: 0.2 + toShare(item.weight) * 0.7,
      why: "a model read it in the user's words",
      ...toProposalDates(item, kind, message),
      ...(isSensitive ? { sensitive: true } : {}),
    },
  ];
}

/** 0 to 1, of a number from 0 to 9. */
function toShare(value: unknown): number {
  return typeof value === "number" && value >= 0 ? Math.min(9, value) / 9 : 0.5;
}

function isInFuture({ from }: ItemFields, { at, zone }: Message): boolean {
  const begins = toMoment(parseModelDate(from), "from", zone);
  return begins !== undefined && begins > at;
}

function getCardinality({ subject, relation }: Claim): "one" | "many" {
  if (relation !== "be") return getRelation(relation).holds;
  const thing = subject.split("/").at(-1) ?? "";
  return subject.includes("/") && isSingleValued(thing) ? "one" : "many";
}

function toProposalDates(
  { from, to, expires }: ItemFields,
  kind: Kind,
  { zone, at }: Message,
): Partial<AddProposal> {
  const begins = parseModelDate(from);
  const isDated = kind === "event" || kind === "commitment";
  const validFrom = isDated ? undefined : toMoment(begins, "from", zone);
  const validTo = isDated ? undefined : toMoment(parseModelDate(to), "to", zone);
  const expiresAt = toMoment(parseModelDate(expires), "to", zone);
  return {
    ...(isDated && begins !== undefined ? { when: begins } : {}),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined || (validFrom !== undefined && validTo <= validFrom) ? {} : { validTo }),
    // What is worth nothing by the time it is said would be gone before anybody saw it.
    ...(expiresAt === undefined || expiresAt <= at ? {} : { expiresAt }),
  };
}

/** Only what is said of the same one takes the place of something. */
function hasSameSubject({ claim }: Memory, { subject }: Claim): boolean {
  return claim !== undefined && claim.subject.toLowerCase() === subject.toLowerCase();
}

const MOST_OF_A_VALUE = 200;
const MOST_OF_A_NAME = 80;

function toClaim(item: ItemFields, message: Message): Claim | undefined {
  const subject = toSubject(toLine(item.who, MOST_OF_A_NAME), message);
  const verb = toLine(item.verb, MOST_OF_A_NAME)?.toLowerCase().replace(/^to /, "");
  const value = toLine(item.what, MOST_OF_A_VALUE)?.replace(/[.\s]+$/, "");
  const qualifier = toLine(item.how, MOST_OF_A_VALUE)?.replace(/[.\s]+$/, "");
  if (!subject || !value || !verb || !/^[a-z][a-z'-]*(?: [a-z'-]+){0,5}$/.test(verb)) return undefined;
  return { subject, relation: toCanonicalRelation(verb), value, ...(qualifier ? { qualifier } : {}) };
}

/** One line of text; nothing where it is none or too long. */
function toLine(value: unknown, most: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = stripInvisible(value.toWellFormed()).replace(/\s+/g, " ").trim();
  return text === "" || text.length > most ? undefined : text;
}

/** Where people talk among themselves, facts are about the one who spoke. */
function toSubject(who: string | undefined, { name }: Message): string | undefined {
  const path = who?.split("/").map((part) => part.trim());
  if (!path || path.length > 4 || path.some((part) => part === "")) return undefined;
  const [owner = "", ...things] = path;
  const isUser = /^(?:the )?user$|^(?:i|me|myself)$/i.test(owner);
  return [isUser ? (name ?? "user") : owner, ...things.map((thing) => thing.toLowerCase())].join("/");
}

/** Whether what is claimed was said at all: most of its words, and every name of an example. */
function isClaimSaid(
  { subject, value, qualifier = "" }: Claim,
  { spokenText: said, canaries }: ShownPrompt,
): boolean {
  const claimed = `${subject} ${value} ${qualifier}`.toLowerCase();
  const lower = said.toLowerCase();
  if (canaries.some((name) => claimed.includes(name.toLowerCase()) && !lower.includes(name.toLowerCase()))) {
    return false;
  }
  const terms = extractTerms(value);
  if (terms.length === 0) return lower.includes(value.toLowerCase());
  const there = new Set(extractTerms(said));
  return terms.filter((term) => there.has(term)).length * 2 >= terms.length;
}
