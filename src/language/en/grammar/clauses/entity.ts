import type { Token } from "../words/token.ts";

/** Somebody or something that was spoken of. */
export interface Entity {
  /** As in claims: `user`, `user/sister`, `Yusuf`. */
  readonly path: string;
  /** For a sentence: "The user", "The user's sister Petra". */
  readonly display: string;
  /** A name given with it: "my sister NADIA". */
  readonly name?: string;
  readonly gender?: "female" | "male";
  /** What a name is mostly, where nothing tells it of the one who bears it. */
  readonly leaning?: "female" | "male";
  readonly animate: boolean;
  readonly plural: boolean;
}

/** Who was spoken of so far, and who "she" is. */
export interface Discourse {
  /** `user`, or the name of the one who speaks. */
  readonly speaker: Entity;
  /** Who or what a noun phrase names; undefined for what is nobody's ("a man", "nothing"). */
  resolve(tokens: readonly Token[], from: number, to: number): Entity | undefined;
  /** Notes who was spoken of. Aside: in passing, so that a pronoun hardly means them. */
  mention(entity: Entity, isAside?: boolean): void;
  /** The last one spoken of that a pronoun can mean; undefined where it means something that is nobody's. */
  meantBy(pronoun: string): Entity | undefined;
  /** Of whom the sentence before in the message was told: a clause without a subject can be theirs as well. */
  told: ToldSubject;
  /** Everybody spoken of, those first whom a pronoun hardly means. */
  spokenOf(): readonly Entity[];
}

/** Whom a sentence was told of: `other` is somebody else, who is not always known. */
export interface ToldSubject {
  readonly of: "speaker" | "thing" | "other";
  readonly entity?: Entity;
}
