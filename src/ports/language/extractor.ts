import type { AssociationType } from "../../domain/change-set.ts";
import type { Claim, Kind, Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { CallOptions } from "../call-options.ts";
import type { CircuitMonitor } from "./model-calls.ts";

/**
 * Reads messages and proposes what to remember, change or erase. It decides nothing: `engine/ingest/decide.ts` does, and for requests
 * to forget `engine/erase/assess-request.ts`.
 */
export interface Extractor {
  /** "rules", "model". */
  readonly name: string;
  /** True if it needs no network; it then runs before the commit. Otherwise the messages wait. */
  readonly local: boolean;
  /** Returns proposals in the order of their words in the text. Empty if nothing is worth keeping. */
  propose(input: Reading, options?: CallOptions): Promise<Proposal[]>;
  /** Says which messages it need not read. Absent if it reads all. */
  readonly filter?: MessageFilter;
  /**
   * For an extractor on a server: how long a user must pause before messages are read together, in ms. They
   * are read sooner if a dozen messages wait, and after five times as long in a conversation without a pause.
   */
  readonly lingerMs?: number;
  /** The circuit breaker of its server. Absent for an extractor without one. */
  readonly circuit?: CircuitMonitor;
}

/** Selects the messages that an extractor reads. */
export interface MessageFilter {
  /**
   * Returns false for a message that cannot contain anything for the extractor. The message is then skipped. `earlier`: the
   * preceding turns of the same session, oldest first.
   */
  accepts(message: Message, earlier: readonly Message[]): boolean;
}

/** What an extractor reads, with its context. */
export interface Reading {
  /** The messages to read, oldest first. */
  readonly messages: readonly Message[];
  /** The preceding turns of the same session, oldest first: the context for "it", "her" and "no, Tuesday". */
  readonly earlier: readonly Message[];
  /** Current memories that the messages may refer to, oldest first, so that a change can name its target. */
  readonly known: readonly Memory[];
  /**
   * Some of the memories that ended last, newest first, so that "I'm back on X" can revive one. Rarely
   * called.
   */
  readonly ended?: () => readonly Memory[];
  /**
   * Called for a message that could not be read, with the reason: the model refused it or gave no usable
   * answer.
   */
  readonly unread?: (message: string, why: "refused" | "unusable") => void;
}

/** The position of the words: `message.content.slice(start, end)`. A proposal without one is refused. */
interface ProposalSpan {
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

export interface AddProposal extends ProposalSpan {
  readonly propose: "add";
  readonly text: string;
  readonly kind: Kind;
  readonly claim?: Claim;
  /** `one`: a new value replaces the old one. */
  readonly holds: "one" | "many";
  /** True if the words say that the stored value was never true ("I meant", "sorry, not Monday"). */
  readonly corrects?: boolean;
  /** What this replaces, if the words name it. */
  readonly replaces?: ProposalTarget;
  readonly confidence: number;
  readonly importance: number;
  /** The reasons for its confidence and importance, in plain words, without the user's own. */
  readonly why?: string;
  readonly when?: string;
  readonly validFrom?: string;
  readonly validTo?: string;
  readonly expiresAt?: string;
  readonly sensitive?: boolean;
  /** Associations of the statement with known memories. Unknown ids are left out. */
  readonly links?: readonly ProposedLink[];
}

/** An association of a new statement with a memory. */
export interface ProposedLink {
  /** The id of the memory. */
  readonly to: string;
  readonly type: AssociationType;
  /** 0 to 1. */
  readonly strength: number;
}

/** The world changed (`supersede`) or the statement was never true (`retract`), and nothing replaces it. */
export interface EndProposal extends ProposalSpan {
  readonly propose: "supersede" | "retract";
  readonly target: ProposalTarget;
  /** When it ended, if the words say so. */
  readonly validTo?: string;
}

/** A request to forget. */
export interface EraseProposal extends ProposalSpan {
  readonly propose: "erase";
  /**
   * The probability that the words are a request, 0 to 1. A likely request is asked back before it is carried
   * out. Absent: certain.
   */
  readonly confidence?: number;
  /** What to forget, in the user's words ("Magnet", "my salary"). Absent if the message itself is meant. */
  readonly about?: string;
  /** What stays, in the user's words: "the passport" of "forget the visa date but keep the passport". */
  readonly except?: string;
  /** True for "everything about it": all that belongs to it, not one thing. */
  readonly isBroad?: boolean;
  /** True for "don't store …": where nothing of it is stored yet, the message itself tells it. */
  readonly isProspective?: boolean;
  /** Ids of messages meant as a whole: "scratch my last message". */
  readonly messages?: readonly string[];
  /** True for "forget everything you know about me". */
  readonly everything?: boolean;
  /** True for "forget this conversation". */
  readonly session?: boolean;
  /** A topic by its name ("health"): "forget what I told you about my health". */
  readonly topic?: string;
  /**
   * The period of the statements, from (inclusive) to (exclusive), ISO 8601: "forget everything I told you
   * yesterday". With `about`: what was said about it in that period.
   */
  readonly from?: string;
  readonly to?: string;
  /** When it is to be carried out. Absent: now. */
  readonly due?: ErasureDue;
}

/** When a request to forget is to be carried out. One of the two is set. */
export interface ErasureDue {
  /** The time from which on it is due (ISO 8601): "after Tuesday", "in two hours". */
  readonly at?: string;
  /** What must be told first, in the user's words: "the trip is over". */
  readonly event?: string;
}

/** Names memories by id, or by the claim fields that they must match (letter case is ignored, and a value may be part of the claim's). */
export interface ProposalTarget {
  readonly ids?: readonly string[];
  readonly subject?: string;
  readonly relation?: string;
  readonly value?: string;
}

/** What an extractor proposes: to add, to end, or to erase. */
export type Proposal = AddProposal | EndProposal | EraseProposal;
