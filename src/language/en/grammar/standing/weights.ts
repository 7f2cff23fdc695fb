import type { Claim, Kind } from "../../../../domain/memory.ts";
import { getRelation } from "../../relations/relations.ts";
import { findSensitiveKind } from "../../topics.ts";
import { FEMALE, HEDGES, MALE } from "../words/lexicon.ts";

/** How much a statement is to be believed, and how much it matters, from 0 to 1; and why, in words for a person. */
interface Weight {
  readonly confidence: number;
  readonly importance: number;
  readonly sensitive: boolean;
  /** Empty where nothing sets it apart. */
  readonly why: string;
}

/** What is to be weighed. `confidence` and `importance` are what the reading itself made of it, where it did. */
interface Weighed {
  readonly text: string;
  readonly claim: Claim;
  readonly kind: Kind;
  readonly quote: string;
  /** The words right before it. */
  readonly before?: string;
  readonly confidence?: number;
  readonly importance?: number;
}

/** As sure as one can be of a plain statement, and what a hedge takes off. */
const PLAIN = 0.9;
const HEDGED = 0.25;

const BY_KIND: Readonly<Record<Kind, number>> = {
  fact: 0.6,
  preference: 0.6,
  commitment: 0.6,
  instruction: 0.8,
  entity: 0.8,
  event: 0.4,
  reflection: 0.5,
  context: 0.5,
};

/** What matters more than its kind says. The first that fits counts, and only ever raises. */
const MATTERS: readonly (readonly [
  why: string,
  least: number,
  fits: (one: Weighed, kind: string | undefined) => boolean,
])[] = [
  ["health", 0.9, ({ kind }, sensitive) => sensitive === "health" && kind !== "event"],
  [
    "who somebody is",
    0.8,
    ({ claim }) => /^be (?:called|aged|born (?:in|on)|from|nicknamed)$/.test(claim.relation),
  ],
  ["family", 0.75, ({ claim, kind }) => kind !== "event" && isFamily(claim)],
  [
    "home and work",
    0.75,
    ({ claim }) => /^(?:live (?:in|at|on)|work (?:at|as)|study at)$/.test(claim.relation),
  ],
];

/** Hedges lower the confidence; health, identity, family, home and work raise the importance. */
export function weigh(one: Weighed): Weight {
  const told = one.confidence ?? PLAIN;
  const isHedged = hedges(one);
  const kind = findSensitiveKind(one.text) ?? findSensitiveKind(one.claim.subject);
  const sensitive = kind !== undefined || getRelation(one.claim.relation).sensitive === true;
  const base = one.importance ?? BY_KIND[one.kind];
  const matter = MATTERS.find(
    ([, least, fits]) => least > base && fits(one, kind ?? (sensitive ? "health" : undefined)),
  );
  const why = [
    isHedged ? "said with a hedge" : "",
    told < PLAIN && !isHedged ? "understood from what was said around it" : "",
    matter?.[0] ?? "",
    sensitive ? `sensitive${kind === undefined ? "" : `: ${kind}`}` : "",
  ];
  return {
    confidence: Math.round((told - (isHedged ? HEDGED : 0)) * 100) / 100,
    importance: matter?.[1] ?? base,
    sensitive,
    why: why.filter((reason) => reason !== "").join("; "),
  };
}

/** "maybe", "I guess": in the words or right before them. */
function hedges({ quote, before = "" }: Weighed): boolean {
  if (/\b(?:i|we) (?:think|guess|suppose|reckon|believe)(?: that)? $/i.test(before)) return true;
  return quote
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => HEDGES.has(word));
}

/** "my sister …", "has two sons", "is married to". */
function isFamily({ subject, relation, value }: Claim): boolean {
  if (/^be (?:married|engaged) to$/.test(relation)) return true;
  const last = subject.includes("/") ? (subject.split(/[/ ]/).at(-1) ?? "") : "";
  if (isKin(last)) return relation !== "be" || last !== "";
  return (
    relation === "have" &&
    value
      .toLowerCase()
      .split(/[^\p{L}-]+/u)
      .some(isKin)
  );
}

function isKin(word: string): boolean {
  if (/^(?:girl|woman|lady|boy|man|guy|bloke|queen|king|hen|mare|landlady|bridesmaid)s?$/.test(word))
    return false;
  const one = word.replace(/s$/, "");
  return (
    FEMALE.has(one) ||
    MALE.has(one) ||
    /^(?:child|children|kid|bab(?:y|ies)|twin|sibling|spouse|partner|parent)$/.test(one)
  );
}
