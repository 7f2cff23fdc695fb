import { isTime, TIME_ADVERBS, TIME_PREPOSITIONS } from "../time/times.ts";
import { BINDING, BOUND_ADJECTIVES, PREPOSITIONS, SUBORDINATORS } from "../words/lexicon.ts";
import type { Stretch, Token } from "../words/token.ts";
import { isApproximate, type List, readList, readNounPhrase } from "./noun-phrases.ts";

/** A stretch of a clause: token indices, `to` exclusive. */
export interface Phrase {
  readonly kind: "noun" | "adjective" | "preposition" | "time" | "infinitive" | "other";
  readonly from: number;
  readonly to: number;
  /** The preposition, or the adjective with what it binds ("allergic to"). */
  readonly head?: string;
  /** The members of a list, each a noun phrase: "Trello", "Figma" and "Padlet". */
  readonly items: readonly Stretch[];
}

/** Reads what follows the verb, phrase by phrase. */
export function phrasesOf(tokens: readonly Token[], from: number, to: number): Phrase[] {
  const phrases: Phrase[] = [];
  let at = from;
  while (at < to) {
    const phrase = readPhrase(tokens, at, to);
    phrases.push(phrase);
    at = Math.max(phrase.to, at + 1);
  }
  return phrases;
}

function readPhrase(tokens: readonly Token[], at: number, to: number): Phrase {
  const token = tokens[at];
  if (token?.lower === "to" && tokens[at + 1]?.class === "verb") {
    return { kind: "infinitive", from: at, to, head: "to", items: [] };
  }
  const bound = boundAdjective(tokens, at, to);
  if (bound) return bound;
  if (isPreposition(tokens, at, to)) return readPreposition(tokens, at, to);
  return readNoun(tokens, at, to) ?? readRest(tokens, at, to);
}

function readNoun(tokens: readonly Token[], at: number, to: number): Phrase | undefined {
  const noun = readList(tokens, at, to);
  if (!noun) return undefined;
  const [first] = noun.items;
  const isTemporal = first !== undefined && isTime(tokens, first[0], noun.to);
  return { kind: isTemporal ? "time" : "noun", from: at, to: noun.to, items: noun.items };
}

function readRest(tokens: readonly Token[], at: number, to: number): Phrase {
  const token = tokens[at];
  if (token?.class === "adverb" && TIME_ADVERBS.has(token.lower)) {
    return { kind: "time", from: at, to: at + 1, items: [] };
  }
  if (token?.class !== "adjective") return { kind: "other", from: at, to: at + 1, items: [] };
  // "part time", "full time": how, and not what.
  if (/^(?:part|full)$/.test(token.lower) && tokens[at + 1]?.lower === "time")
    return { kind: "other", from: at, to: at + 2, items: [] };
  let end = at + 1;
  while (end < to && isNextAdjective(tokens, end)) end += 1;
  return { kind: "adjective", from: at, to: end, items: [[at, end]] };
}

/** "silver and filthy" */
function isNextAdjective(tokens: readonly Token[], at: number): boolean {
  if (/[,;]/.test(tokens[at - 1]?.after ?? "")) return false;
  const isJoint = ["and", "or", "but"].includes(tokens[at]?.lower ?? "");
  return tokens[isJoint ? at + 1 : at]?.class === "adjective";
}

function isPreposition(tokens: readonly Token[], at: number, to: number): boolean {
  const token = tokens[at];
  if (!token || at + 1 >= to || isApproximate(tokens, at, to)) return false;
  if (token.class === "preposition") return true;
  if (token.lower === "like" && token.class === "adverb") return false;
  if (!PREPOSITIONS.has(token.lower) || ["verb", "noun"].includes(token.class) || token.lower === "because") {
    return false;
  }
  const opensClause = SUBORDINATORS.has(token.lower) && tokens[at + 1]?.class === "pronoun";
  return !opensClause && readNounPhrase(tokens, at + 1, to) !== undefined;
}

function readPreposition(tokens: readonly Token[], at: number, to: number): Phrase {
  const { head, next } = prepositionHead(tokens, at, to);
  const list = ownItems(tokens, readObject(tokens, next, to));
  const end = list?.to ?? next;
  const again = list && repeated(tokens, end, to, head);
  if (list && again)
    return { kind: "preposition", from: at, to: again.to, head, items: [...list.items, ...again.items] };
  const [first] = list?.items ?? [];
  const isTemporal = first !== undefined && TIME_PREPOSITIONS.has(head) && isTime(tokens, first[0], end);
  return { kind: isTemporal ? "time" : "preposition", from: at, to: end, head, items: list?.items ?? [] };
}

/** "in Kew and a garage in Acton": the garage is no second place, but a second thing. */
function ownItems(tokens: readonly Token[], list: List | undefined): List | undefined {
  const [first] = list?.items ?? [];
  if (!list || !first || tokens[first[0]]?.class !== "name") return list;
  const cut = list.items.findIndex(([from]) => ["a", "an"].includes(tokens[from]?.lower ?? ""));
  const [, end = 0] = list.items[cut] ?? [];
  return cut === 1 && tokens[end]?.class === "preposition"
    ? { items: list.items.slice(0, cut), to: list.items[cut - 1]?.[1] ?? list.to }
    : list;
}

/** "out of", "up to", "next to", "because of", "away from": as one, adverbs skipped. */
function prepositionHead(tokens: readonly Token[], at: number, to: number): { head: string; next: number } {
  let head = tokens[at]?.lower ?? "";
  let next = at + 1;
  while (next < to - 1 && tokens[next]?.class === "preposition" && !/,/.test(tokens[next - 1]?.after ?? "")) {
    head = `${head} ${tokens[next]?.lower}`;
    next += 1;
  }
  while (next < to && tokens[next]?.class === "adverb" && !TIME_ADVERBS.has(tokens[next]?.lower ?? ""))
    next += 1;
  return { head, next };
}

/** "at the shelter AND AT THE FOOD BANK" */
function repeated(tokens: readonly Token[], end: number, to: number, head: string): List | undefined {
  if (!["and", "or"].includes(tokens[end]?.lower ?? "")) return undefined;
  const at = overHedge(tokens, end + 1);
  if (tokens[at]?.lower !== head) return undefined;
  const again = readList(tokens, at + 1, to);
  return again && !isTime(tokens, at + 1, again.to) ? again : undefined;
}

/** "allergic to nuts and A BIT to pollen" */
function overHedge(tokens: readonly Token[], from: number): number {
  let at = from;
  while (
    /^(?:a|bit|little|lot|slightly|also|quite|especially|even|sometimes|mildly|very|really)$/.test(
      tokens[at]?.lower ?? "",
    )
  )
    at += 1;
  return at;
}

function readObject(tokens: readonly Token[], at: number, to: number): List | undefined {
  return readList(tokens, at, to) ?? readGerund(tokens, at, to);
}

/** "at baking bread": the gerund with its object. */
function readGerund(tokens: readonly Token[], at: number, to: number): List | undefined {
  if (tokens[at]?.class !== "verb" || !/ing$/.test(tokens[at]?.lower ?? "")) return undefined;
  const end = readNounPhrase(tokens, at + 1, to) ?? at + 1;
  return { items: [[at, end]], to: end };
}

/** "allergic to nuts" */
function boundAdjective(tokens: readonly Token[], at: number, to: number): Phrase | undefined {
  const word = tokens[at]?.lower ?? "";
  if (!Object.hasOwn(BOUND_ADJECTIVES, word)) return undefined;
  const allowed = BOUND_ADJECTIVES[word]?.split(" ") ?? [];
  let next = at + 1;
  while (next < to && next - at < 3 && allowed.includes(tokens[next]?.lower ?? "")) next += 1;
  if (next === at + 1) return undefined;
  const head = tokens.slice(at, next).map(({ lower }) => lower);
  while (next < to && tokens[next]?.class === "adverb") next += 1;
  const list = readObject(tokens, next, to);
  const again = list && repeated(tokens, list.to, to, head.at(-1) ?? "");
  const items = [...(list?.items ?? []), ...(again?.items ?? [])];
  return list && { kind: "adjective", from: at, to: again?.to ?? list.to, head: head.join(" "), items };
}

/** Whether a preposition makes part of a relation. */
export function binds(preposition: string): boolean {
  return BINDING.has(preposition) || preposition.includes(" ");
}
