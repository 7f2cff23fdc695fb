import type { Claim, Memory } from "../../domain/memory.ts";

/** What is known about a relation of claims, such as "live in". */
interface RelationTraits {
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

/** Statements of a topic and a month, weightiest first. */
export interface ReflectionDraft {
  readonly topic: string;
  /** "2026-03". */
  readonly month: string;
  readonly statements: readonly string[];
  /** The number of statements there are, with those that are not quoted. */
  readonly total: number;
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
  /**
   * A key that memories share if they say the same in other words, and differ in no name, number, date, negation, person or
   * validity. Undefined if a memory may not be compared.
   */
  toMeaningKey(memory: Memory): string | undefined;
  /** The names of the topics that a memory is about ("work", "health"); none if it fits nowhere. */
  listTopics(memory: Memory): readonly string[];
  /** Sums up statements of a topic and a month in their own words. */
  writeReflection(draft: ReflectionDraft): string;
}
