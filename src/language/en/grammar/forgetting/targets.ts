import type { Claim } from "../../../../domain/memory.ts";
import { spellOutSigns, splitWords, stem } from "../../../../domain/search/search-terms.ts";
import type { ProposalTarget } from "../../../../ports/language/extractor.ts";
import { listAnsweringRelations } from "../../relations/relations.ts";
import type { Context } from "../context.ts";
import type { KnownMemory } from "../known-memory.ts";

/** Words that name no thing by themselves in "cancelled my X subscription". */
const GENERIC = new Set(
  "a an the my our your his her its their this that some any one old new own job jobs work working subscription subscriptions membership account habit lesson lessons class delivery deliveries order orders plan licence license pass class classes course courses app apps position role gig completely altogether entirely for good of at in on with to from and or by it them him been being really just notice resignation letter spot place deal contract"
    .split(" ")
    .map(stem),
);

/** The telling words of a text, stemmed. */
export function telling(text: string): string[] {
  const all = splitWords(spellOutSigns(text)).map(stem);
  const telling = all.filter((word) => !GENERIC.has(word));
  return telling.length > 0 ? telling : all.filter((word) => word.length > 4 && !LIGHT.has(word));
}

/** Words that name nothing even where they stand alone. */
const LIGHT = new Set(
  "completely altogether entirely really subscription membership position lesson lessons class classes course courses working account"
    .split(" ")
    .map(stem)
    .filter((word) => word !== "account"),
);

/** A claim that holds now: stored, or made by this message. */
export interface Held {
  readonly memory?: KnownMemory;
  readonly claim: Claim;
}

export function held(context: Context): Held[] {
  const stored = context.known.flatMap((memory) =>
    memory.status === "current" && memory.claim ? [{ memory, claim: memory.claim }] : [],
  );
  const made = context.made.flatMap((proposal) =>
    proposal.propose === "add" && proposal.claim ? [{ claim: proposal.claim }] : [],
  );
  return [...stored, ...made];
}

/** What the words of a change or an end name. */
export interface NamedTarget {
  /** What is named: "the Canon", "my job at Aldi". */
  readonly named: string;
  /** Of whom; all of the speaker's where it is left out. */
  readonly subject?: string;
  /** Who is called what is not meant. */
  readonly isNoName?: boolean;
  /** The relation that ends, where the words say which ("stopped learning Welsh"). */
  readonly relation?: string;
}

/** The claims that words mean, best first: those whose value, circumstance or thing holds what is named. */
export function meant(context: Context, wanted: NamedTarget): Held[] {
  const asked = telling(wanted.named);
  if (asked.length === 0) return [];
  const scored = held(context)
    .filter(({ claim, memory }) => belongs(claim, wanted, context) && memory?.kind !== "event")
    .filter(({ claim }) => !wanted.isNoName || claim.relation !== "be called")
    .map((one) => ({ one, score: scoreOf(one.claim, asked) + (fits(one.claim, wanted.relation) ? 0.3 : 0) }))
    .filter(
      ({ score, one }) => score >= 1 && (wanted.relation === undefined || fits(one.claim, wanted.relation)),
    );
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score >= best - 0.35)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

function belongs(claim: Claim, wanted: NamedTarget, context: Context): boolean {
  const root = wanted.subject ?? context.discourse.speaker.path;
  return claim.subject === root || (wanted.subject === undefined && claim.subject.startsWith(`${root}/`));
}

function fits(claim: Claim, relation: string | undefined): boolean {
  if (relation === undefined) return false;
  if (claim.relation === relation) return true;
  const [head] = relation.split(" ");
  const [other] = claim.relation.split(" ");
  return (
    (head === other && head !== "be") ||
    listAnsweringRelations(relation).includes(claim.relation) ||
    listAnsweringRelations(claim.relation).includes(relation)
  );
}

/** 2 where all that is asked stands in the value, 1.5 where the value stands in it, 1.2 in circumstance or thing. */
function scoreOf(claim: Claim, asked: readonly string[]): number {
  const { value, around } = wordsOf(claim);
  if (value.length > 0 && asked.every((word) => value.includes(word))) return 2;
  if (value.length > 0 && value.every((word) => asked.includes(word))) return 1.5;
  return asked.every((word) => around.includes(word)) ? 1.2 : 0;
}

/** The telling words of a claim's value, and of all of it. */
interface ClaimWords {
  readonly value: readonly string[];
  readonly around: readonly string[];
}

/** A message is compared with the same claims several times. */
const CLAIM_WORDS = new WeakMap<Claim, ClaimWords>();

function wordsOf(claim: Claim): ClaimWords {
  const known = CLAIM_WORDS.get(claim);
  if (known) return known;
  const value = telling(claim.value);
  const around = [
    ...telling(claim.qualifier ?? ""),
    ...telling(claim.subject.replace(/^user\//, "").replaceAll("/", " ")),
    ...value,
  ];
  const words = { value, around };
  CLAIM_WORDS.set(claim, words);
  return words;
}

/** Names claims for a proposal: by id where they are stored, else by what they say. */
export function targetOf(found: readonly Held[]): ProposalTarget | undefined {
  const ids = found.flatMap(({ memory }) => (memory ? [memory.id] : []));
  if (ids.length > 0) return { ids };
  const [first] = found;
  return first && { subject: first.claim.subject, relation: first.claim.relation, value: first.claim.value };
}
