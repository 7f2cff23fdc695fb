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
  /** What texts say by their words alone, without a parser. */
  readonly phrases: PhraseReader;
}

/** The form of a query, judged by its words alone. */
export interface QueryStyle {
  /** It asks for the assistant's words: "What did you recommend?" */
  readonly isAfterAssistant: boolean;
  /** It asks for help or advice, for which standing preferences count. */
  readonly isRequest: boolean;
  /** It asks for one value that may have changed: "How many", "Where do I", "When is". */
  readonly isAfterValue: boolean;
  /** That value is a number or a time. */
  readonly isAfterNumber: boolean;
}

/** What a sentence says of something erased, besides its words. */
export interface ErasureTalk {
  /** It asks something, or asks for a confirmation. */
  readonly isQuestion: boolean;
  /** It says that something is gone, outdated or not to be kept. */
  readonly isOfErasure: boolean;
  /** It speaks of parts of a value: its ending, its last digits. */
  readonly isOfParts: boolean;
}

/** The answer to a question whether a request is to be carried out. */
export interface Confirmation {
  /** It names what to do: "yes, forget them". */
  readonly isExplicit: boolean;
  /** The places of the items that are meant, from 0; -1 is the last. Absent for all. */
  readonly items?: readonly number[];
}

/** Judges messages by their words alone, before anything else reads them. */
export interface MessageScanner {
  /** Whether a message may ask to forget something. It is true for other messages, too: "I forgot my keys". */
  mayAskToForget(message: string): boolean;
}

/** Judges texts of a language by their words alone, in microseconds, where a parser takes half a millisecond. */
export interface PhraseReader extends MessageScanner {
  /** The form of a query. */
  readQuery(query: string): QueryStyle;
  /** Whether a query may name a time span. False means that it need not be parsed for one. */
  mayNameTime(query: string): boolean;
  /** Whether a word, in lower case, refers to the speaker. */
  isSelfWord(word: string): boolean;
  /** Whether the speaker refers to themselves: "tell me more" does not, "tell me about me" does. */
  mentionsSelf(text: string): boolean;
  /** Whether a statement says that a value changed. */
  tellsChange(text: string): boolean;
  /** Whether a user states a standing preference about how to be treated: "Always …", "I prefer …". Stored with search indexes. */
  statesPreference(message: string): boolean;
  /** Whether a text contains a number, in digits or in words. */
  hasNumber(text: string): boolean;
  /** What a message asks of the assistant itself, of anyone's advice, or of the world. Memory alone cannot answer these. */
  readDemand(message: string): {
    readonly isForAssistant: boolean;
    readonly isAdvice: boolean;
    readonly isWorldly: boolean;
  };
  /** The confirmation that a message is. Undefined for any other message. */
  readConfirmation(message: string): Confirmation | undefined;
  /** What comes before a name: "called", "ask for". Erased names are stored as hashes behind each, so an entry must stay. */
  readonly naming: readonly string[];
  /** What a sentence says of something erased. */
  readErasureTalk(sentence: string): ErasureTalk;
  /** Whether a message asks for something erased: "finish that erased line". */
  namesErased(message: string): boolean;
}
