import type { Claim, Memory } from "../../domain/memory.ts";

/** What is known about a relation of claims, such as "live in". */
export interface RelationTraits {
  /** Whether a subject has one value at a time or many. */
  readonly holds: "one" | "many";
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
}

/** Which claims are meant: those with the subject, the relation and the value that are given, and that `fits` accepts. */
export interface ClaimPattern {
  readonly subject?: string;
  readonly relation?: string;
  readonly value?: string;
  readonly fits?: (claim: Claim) => boolean;
}

/** What the words of a language mean to a memory. */
export interface Vocabulary {
  /** The traits of a relation; for an unknown one, many values. */
  getRelation(relation: string): RelationTraits;
  /**
   * The claims that are not true any more once this one is: "love mushrooms" for "hate mushrooms", "single" for "married". Other
   * values of the same slot are not among them; `holds` says whether they end.
   */
  listExcluded(claim: Claim): readonly ClaimPattern[];
  /** The relations that answer a question about this one, starting with itself. */
  listAnsweringRelations(relation: string): readonly string[];
  /** The relations that answer a question about an attribute ("job"); none for an unknown noun. */
  listAttributeRelations(noun: string): readonly string[];
  /** Whether words identify something by themselves, and so are erased wherever they occur: not "yes" or "a lot". */
  isDistinctive(text: string): boolean;
  /** A key that memories share if they say the same about the same time. Undefined if a memory may not be compared. */
  toStatementKey(memory: Memory): string | undefined;
}
