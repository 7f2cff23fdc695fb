import type { Kind } from "../../../domain/memory.ts";

/** One relation: the verb phrase of a claim in its base form ("live in"), and what is known about it. */
export interface RelationRow {
  readonly relation: string;
  /** `one`: a new value takes the place of the old one ("live in"). `many`: values stand beside each other ("use"). */
  readonly holds: "one" | "many";
  readonly kind: Kind;
  /** Health, beliefs, money. */
  readonly sensitive?: true;
  /** Other ways to say the same, in their base form: they are stored as this one, so that a new value finds the old. */
  readonly also?: readonly string[];
  /** Other relations that answer a question for this one, best first ("Where do I live?": "move to" too). */
  readonly answeredBy?: readonly string[];
  readonly example: RelationExample;
}

/** A sentence and a question that hold the row to its word: the tests of the rules run every one. */
export interface RelationExample {
  /** "I live in Porto." */
  readonly says: string;
  /** The claim it must give, "user | live in | Porto"; the value is left out where there is none. */
  readonly gives: string;
  readonly asks: string;
  /** What the answer must hold. */
  readonly answer: string;
}

/** Relations that belong together, and the nouns that ask after them. */
export interface RelationArea {
  readonly relations: readonly RelationRow[];
  /** A noun asked after ("What's my job?") and the relations of the person that answer it, best first. */
  readonly nouns: Readonly<Record<string, readonly string[]>>;
}
