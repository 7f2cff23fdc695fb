import { baseForm, pastParticiple, pastTense } from "../../domain/english.ts";
import { AUXILIARIES, BE, CATENATIVE, isParticle, MODALS, OPEN_MODALS } from "./lexicon.ts";
import type { Token } from "./token.ts";

/** A verb group: "have been taking", "don't use", "am planning to hike". */
export interface Verb {
  /** Token indices, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** Base form of the main verb, with its particle: "take up". */
  readonly lemma: string;
  /** Verbs before it that colour it, in base form with what joins them: "plan to", "love", "be going to". */
  readonly chain: readonly Link[];
  readonly denied?: "not" | "never";
  readonly tense: "past" | "present" | "future";
  readonly perfect: boolean;
  readonly progressive: boolean;
  readonly passive: boolean;
  /** The main verb is a form of "be". */
  readonly copula: boolean;
  readonly modal?: string;
  /** "could", "would", "might": it is left open whether it is so. */
  readonly open: boolean;
  readonly form: "finite" | "gerund" | "participle" | "base";
}

export interface Link {
  readonly verb: string;
  readonly next: "to" | "gerund" | "bare";
}

const SKIPPED = new Set(["adverb", "negation"]);

/** Reads the verb group that begins at a token of class verb. */
export function readVerb(tokens: readonly Token[], from: number, end: number): Verb | undefined {
  const reading = readAuxiliaries(tokens, from, end);
  const chain: Link[] = [];
  let { head } = reading;
  let main = tokens[head];
  if (!main) return undefined;
  let to = head + 1;
  let lemma = lemmaOf(main);
  let passive = reading.passive;
  for (let depth = 0; depth < 3; depth += 1) {
    to = withParticle(tokens, to, end, lemma, (particle) => {
      lemma = `${lemma} ${particle}`;
    });
    const link = readLink(tokens, to, end, lemma, reading, chain.length === 0);
    if (!link) break;
    chain.push({ verb: link.verb, next: link.next });
    head = link.at;
    main = tokens[head];
    if (!main) return undefined;
    lemma = lemmaOf(main);
    to = head + 1;
    passive = false;
  }
  const first = tokens[from];
  if (!first) return undefined;
  // "rereading Dune", "been learning to sew": with "I am", "I have" left out.
  const isBare = reading.head === from && formOf(first) === "gerund";
  if (isBare) reading.progressive = true;
  if (first.lower === "been") reading.perfect = true;
  // "have got" is "have".
  const hasGot =
    reading.perfect &&
    lemma === "get" &&
    chain.length === 0 &&
    main.lower === "got" &&
    /^(?:have|has|'ve)$/.test(first.lower);
  if (hasGot) {
    lemma = "have";
    reading.perfect = false;
  }
  return {
    from,
    to,
    lemma,
    chain,
    ...(reading.denied ? { denied: reading.denied } : {}),
    tense: tenseOf(first, reading),
    perfect: reading.perfect,
    progressive: reading.progressive,
    passive,
    copula: lemma === "be",
    ...(reading.modal ? { modal: reading.modal } : {}),
    open: reading.modal !== undefined && OPEN_MODALS.has(reading.modal),
    form: formOf(first),
  };
}

/** How a verb form stands by itself. */
export function formOf(token: Token): Verb["form"] {
  if (AUXILIARIES.has(token.lower))
    return ["be", "been", "being", "having"].includes(token.lower) ? "participle" : "finite";
  if (/ing$/.test(token.lower) && (token.tags.has("Gerund") || baseForm(token.lower) !== token.lower))
    return "gerund";
  if (token.tags.has("PastTense") || token.tags.has("Participle")) return "participle";
  return baseForm(token.lower) === token.lower ? "base" : "finite";
}

interface Reading {
  head: number;
  denied?: "not" | "never";
  perfect: boolean;
  progressive: boolean;
  passive: boolean;
  modal?: string;
  did: boolean;
}

function readAuxiliaries(tokens: readonly Token[], from: number, end: number): Reading {
  const reading: Reading = { head: from, perfect: false, progressive: false, passive: false, did: false };
  let at = from;
  let last: string | undefined;
  while (at < end) {
    const token = tokens[at];
    if (!token) break;
    if (token.class === "negation") {
      reading.denied = token.lower === "never" ? "never" : "not";
      at += 1;
      continue;
    }
    if (reading.modal === "would" && token.lower === "rather") {
      reading.modal = "would rather";
      at += 1;
      continue;
    }
    if (at > from && token.class === "adverb" && nextVerb(tokens, at, end) !== undefined) {
      at += 1;
      continue;
    }
    if (token.class !== "verb" || (at > from && breaks(tokens, at - 1))) break;
    if (last !== undefined) note(reading, last, token);
    if (last !== undefined && !continues(last, token)) break;
    reading.head = at;
    last = token.lower;
    at += 1;
    if (!AUXILIARIES.has(token.lower)) break;
    if (MODALS.has(token.lower) || token.lower === "would")
      reading.modal ??= token.lower === "'ll" ? "will" : token.lower;
    if (token.lower === "did") reading.did = true;
  }
  return reading;
}

/** Whether a verb can follow an auxiliary: "have been", "do use", "is called"; not "is, sold". */
function continues(auxiliary: string, token: Token): boolean {
  const form = formOf(token);
  if (MODALS.has(auxiliary) || ["do", "does", "did", "would", "'d"].includes(auxiliary))
    return (
      form === "base" ||
      token.lower === "be" ||
      token.lower === "have" ||
      baseForm(token.lower) === token.lower
    );
  if (["have", "has", "had", "'ve"].includes(auxiliary))
    return (
      form === "participle" || token.tags.has("PastTense") || ["been", "had", "got"].includes(token.lower)
    );
  if (BE.has(auxiliary))
    return (
      form !== "base" ||
      token.tags.has("Participle") ||
      ["set", "put", "let", "hit", "cut", "read"].includes(token.lower)
    );
  return true;
}

function note(reading: Reading, auxiliary: string, token: Token): void {
  if (["have", "has", "had", "'ve"].includes(auxiliary) && continues(auxiliary, token))
    reading.perfect = true;
  if (BE.has(auxiliary) && continues(auxiliary, token)) {
    if (formOf(token) === "gerund") reading.progressive = true;
    else if (!BE.has(token.lower)) reading.passive = true;
  }
}

function breaks(tokens: readonly Token[], at: number): boolean {
  return /[,;:.!?()—–]/.test(tokens[at]?.after ?? "");
}

function nextVerb(tokens: readonly Token[], from: number, end: number): number | undefined {
  for (let at = from; at < end; at += 1) {
    const token = tokens[at];
    if (!token) return undefined;
    if (token.class === "verb") return breaks(tokens, at - 1) ? undefined : at;
    if (!SKIPPED.has(token.class)) return undefined;
  }
  return undefined;
}

function lemmaOf(token: Token): string {
  return baseForm(token.lower.replace(/in'$/, "ing"));
}

function withParticle(
  tokens: readonly Token[],
  at: number,
  end: number,
  lemma: string,
  take: (particle: string) => void,
): number {
  const next = tokens[at];
  if (!next || at >= end || breaks(tokens, at - 1) || !isParticle(lemma, next.lower)) return at;
  take(next.lower);
  return at + 1;
}

/** "plan TO hike", "love baking", "gonna try". */
function readLink(
  tokens: readonly Token[],
  at: number,
  end: number,
  lemma: string,
  reading: Reading,
  isFirst: boolean,
): (Link & { at: number }) | undefined {
  const next = tokens[at];
  if (!next || at >= end || breaks(tokens, at - 1)) return undefined;
  const head = lemma.split(" ")[0] ?? lemma;
  if (lemma === "gonna" || lemma === "wanna" || lemma === "gotta") {
    if (next.class !== "verb") return undefined;
    return { verb: lemma === "gonna" ? "be going" : lemma === "wanna" ? "want" : "have", next: "to", at };
  }
  const after = skipAdverbs(tokens, at + 1, end);
  if (
    next.lower === "to" &&
    tokens[after]?.class === "verb" &&
    (CATENATIVE.has(head) || reading.passive || lemma === "be")
  ) {
    const going =
      head === "go" && (reading.progressive || tokens[reading.head]?.lower === "going") && isFirst;
    return {
      verb: going
        ? "be going"
        : reading.passive && isFirst
          ? `be ${next && tokens[reading.head]?.lower}`
          : lemma,
      next: "to",
      at: after,
    };
  }
  const gerund = skipAdverbs(tokens, at, end);
  const token = tokens[gerund];
  if (
    token?.class === "verb" &&
    formOf(token) === "gerund" &&
    (CATENATIVE.has(head) || lemma === "give up") &&
    lemma !== "be"
  ) {
    return { verb: lemma, next: "gerund", at: gerund };
  }
  return undefined;
}

function skipAdverbs(tokens: readonly Token[], from: number, end: number): number {
  let at = from;
  while (at < end && tokens[at] && SKIPPED.has(tokens[at]?.class ?? "")) at += 1;
  return at;
}

function isPastForm(word: string): boolean {
  const base = baseForm(word);
  return (
    base !== word &&
    !/(?:s|ing)$/.test(word) &&
    (pastTense(base) === word || pastParticiple(base) === word || /(?:ed|nt|lt)$/.test(word))
  );
}

function tenseOf(first: Token, reading: Reading): Verb["tense"] {
  if (reading.modal === "will") return "future";
  if (reading.did || ["was", "were", "had"].includes(first.lower)) return reading.perfect ? "past" : "past";
  if (AUXILIARIES.has(first.lower)) return "present";
  if (isPastForm(first.lower)) return "past";
  if (
    first.tags.has("PastTense") &&
    ["put", "set", "cut", "hit", "quit", "read", "let", "hurt", "cost", "split", "shut", "bet"].includes(
      first.lower,
    )
  )
    return "past";
  return "present";
}
