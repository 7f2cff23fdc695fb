import type { Kind } from "../../../domain/memory.ts";

/** A relation: the verb phrase of a claim in its base form ("live in"), and its properties. */
export interface RelationRow {
  readonly relation: string;
  /**
   * `one`: a new value replaces the old one ("live in"). `many`: several values are current at once ("use").
   */
  readonly holds: "one" | "many";
  readonly kind: Kind;
  /** Health, beliefs, money. */
  readonly sensitive?: true;
  /** Synonyms in their base form. They are stored as this relation, so that a new value finds the old one. */
  readonly also?: readonly string[];
  /**
   * Other relations that answer a question about this one, best first ("Where do I live?": also "move to").
   */
  readonly answeredBy?: readonly string[];
  readonly example: RelationExample;
}

/** A sentence and a question that test the row; the rule tests run each of them. */
interface RelationExample {
  /** "I live in Porto." */
  readonly says: string;
  /** The expected claim, "user | live in | Porto"; without a value if there is none. */
  readonly gives: string;
  readonly asks: string;
  /** What the answer must contain. */
  readonly answer: string;
}

/** Related relations, and the nouns that ask for them. */
export interface RelationArea {
  readonly relations: readonly RelationRow[];
  /** A noun in a question ("What's my job?") and the relations of the person that answer it, best first. */
  readonly nouns: Readonly<Record<string, readonly string[]>>;
}
