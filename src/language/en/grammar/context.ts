import type { Claim, Kind } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import { toLocalTime } from "../../../domain/time.ts";
import type {
  AddProposal,
  EndProposal,
  Proposal,
  ProposalTarget,
} from "../../../ports/language/extractor.ts";
import { getRelation } from "../relations/relations.ts";
import type { Clause } from "./clauses/clauses.ts";
import type { Discourse, Entity } from "./clauses/entity.ts";
import type { KnownMemory } from "./known-memory.ts";
import { weigh } from "./standing/weights.ts";
import type { Token } from "./words/token.ts";

/** What reading one message goes by. */
export interface Context {
  readonly message: Message;
  readonly content: string;
  readonly discourse: Discourse;
  readonly known: readonly KnownMemory[];
  /** What ended last, newest first. */
  readonly ended: () => readonly KnownMemory[];
  /** The turns before, oldest first. */
  readonly earlier: readonly Message[];
  /** What earlier clauses of this message proposed: they are known too. */
  readonly made: Proposal[];
  /** Reads a sentence that shorter words stand for ("Nope" to "Do you smoke?"), as said at their place. */
  readonly readAs: (text: string, place: { readonly start: number; readonly end: number }) => Proposal[];
}

/** One clause about somebody, ready to become a claim. */
export interface Statement {
  readonly clause: Clause;
  readonly subject: Entity;
  /** "when I fly": from a clause beside it. */
  readonly circumstance?: string;
  /** Place of its words in the message. */
  readonly start: number;
  readonly end: number;
}

/** When a message was said, as the clock on the wall showed it. */
export function saidAt({ at, zone }: Message): string {
  return toLocalTime(at, zone);
}

/** The words of a span as they stand in the message, without what hangs on their ends. */
export function said(context: Context, tokens: readonly Token[], from: number, to: number): string {
  const first = tokens[from];
  const last = tokens[to - 1];
  if (!first || !last || from >= to) return "";
  // "-3.75": the sign stands before the word.
  const isSigned =
    /\d/.test(first.word) && /(?:^|\s)[-−]$/.test(context.content.slice(0, first.start).slice(-2));
  const text = context.content.slice(first.start - (isSigned ? 1 : 0), last.end);
  // "STEPH's my flatmate": the verb stands in the same word.
  if (last.contracted === "first") return tidy(text.replace(/['’]\p{L}{1,2}$/u, ""));
  return tidy(last.owner && isFollowed(last, tokens[to]) ? text.replace(/['’]s?$/, "") : text);
}

/** "Ana's MOTHER": what the owner has stands behind it. "At Ana's" has nothing there, and is whole. */
function isFollowed(owner: Token, next: Token | undefined): boolean {
  return owner.after.trim() === "" && ["noun", "name", "adjective", "number"].includes(next?.class ?? "");
}

/** One line, no marks at the ends, no fillers at the end. */
export function tidy(text: string): string {
  let clean = text.replace(/\s+/g, " ").replace(/^[\s,;:"“”'(]+|[\s,;:!.?"“”)]+$/g, "");
  for (let i = 0; i < 4; i += 1) {
    const next = clean.replace(
      /[\s,]+(?:now|too|btw|lol|haha|tho|though|anymore|any ?more|any longer|as well|also|again|already|actually|tbh|atm|at the moment|right now|these days|nowadays|finally|instead|currently|by the way|for now|from now on|lately|haha|omg|ugh|yay|obviously|apparently|today|ever|honestly|basically|of course|and|but|so|or|alone|anyway|please|thanks|thank you|right|yeah|(?<!at )last|next)$/i,
      "",
    );
    if (next === clean) break;
    clean = next.replace(/[\s,;:!.]+$/g, "");
  }
  return clean;
}

/** First-person words in the rest of a sentence, said of the speaker. */
export function thirdPerson(text: string, context: Context, subject: Entity): string {
  const speaker = context.discourse.speaker;
  const isSelf =
    subject.path === speaker.path && speaker.path === "user" && !/\b(?:they|them|their)\b/i.test(text);
  const own = isSelf ? "their" : speaker.path === "user" ? "the user's" : `${speaker.display}'s`;
  const self = isSelf ? "they" : speaker.path === "user" ? "the user" : speaker.display;
  const object = isSelf ? "them" : self;
  return text
    .replace(/\bmy own\b/gi, `${own} own`)
    .replace(/\b(?:my|our)\b/gi, own)
    .replace(/\b(?:mine|ours)\b/gi, isSelf ? "theirs" : own)
    .replace(
      /\b(?:I|we) (am|was|were|have)\b/gi,
      (_all, verb: string) => `${self} ${isSelf ? (PLURAL[verb] ?? verb) : (SINGULAR[verb] ?? verb)}`,
    )
    .replace(/\b(?:I|we)['’]?m\b|\bwe['’]re\b/gi, isSelf ? "they are" : `${self} is`)
    .replace(
      /\b(?:I|we)['’](ve|ll|d)\b/gi,
      (_all, short: string) => `${self} ${SHORT[short.toLowerCase()] ?? ""}`,
    )
    .replace(/\b(?:myself|ourselves)\b/gi, "themself")
    .replace(/\bme\b|\bus\b/g, object)
    .replace(/(?<![\p{L}\p{N}_])(?:I|we|i)(?![\p{L}\p{N}_])/gu, self);
}

const PLURAL: Readonly<Record<string, string>> = { am: "are", was: "were" };
const SINGULAR: Readonly<Record<string, string>> = { am: "is", were: "was", have: "has" };
const SHORT: Readonly<Record<string, string>> = { ve: "have", ll: "will", d: "would" };

export interface AddParts {
  readonly text: string;
  readonly claim: Claim;
  readonly kind?: Kind;
  readonly holds?: "one" | "many";
  readonly importance?: number;
  readonly confidence?: number;
  readonly when?: string;
  readonly validFrom?: string;
  readonly validTo?: string;
  readonly replaces?: ProposalTarget;
  readonly corrects?: boolean;
}

/** A proposal to add, with what the table of relations says of it. */
export function adding(
  context: Context,
  place: { start: number; end: number },
  parts: AddParts,
): AddProposal {
  const relation = getRelation(parts.claim.relation);
  const kind = parts.kind ?? relation.kind;
  const quote = context.content.slice(place.start, place.end);
  const before = context.content.slice(Math.max(0, place.start - 24), place.start);
  const { confidence, importance, sensitive, why } = weigh({ ...parts, kind, quote, before });
  return {
    propose: "add",
    message: context.message.id,
    start: place.start,
    end: place.end,
    text: parts.text,
    kind,
    claim: parts.claim,
    holds: parts.holds ?? relation.holds,
    confidence,
    importance,
    ...(why === "" ? {} : { why }),
    ...(parts.corrects ? { corrects: true } : {}),
    ...(parts.replaces ? { replaces: parts.replaces } : {}),
    ...(parts.when ? { when: parts.when } : {}),
    ...(parts.validFrom ? { validFrom: parts.validFrom } : {}),
    ...(parts.validTo ? { validTo: parts.validTo } : {}),
    ...(sensitive ? { sensitive: true } : {}),
  };
}

/** A proposal that something ended. */
export function ending(
  context: Context,
  place: { start: number; end: number },
  target: ProposalTarget,
  validTo?: string,
): EndProposal {
  return {
    propose: "supersede",
    message: context.message.id,
    start: place.start,
    end: place.end,
    target,
    ...(validTo ? { validTo } : {}),
  };
}

/** A claim, without an empty qualifier. */
export function claimOf(subject: string, relation: string, value: string, qualifier = ""): Claim {
  return { subject, relation, value, ...(qualifier === "" ? {} : { qualifier }) };
}
