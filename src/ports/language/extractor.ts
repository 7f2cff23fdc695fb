import type { Claim, Kind, Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { CallOptions } from "../call-options.ts";
import type { CircuitState } from "./model-calls.ts";

/** Reads messages and proposes what to remember, change or erase. It never decides: `engine/decide.ts` does. */
export interface Extractor {
  /** "rules", "model". */
  readonly name: string;
  /** True where it needs no network; then it runs before the commit, else the messages wait. */
  readonly local: boolean;
  /** Proposals in the order in which the words stand. Nothing worth keeping gives none. */
  propose(input: Reading, options?: CallOptions): Promise<Proposal[]>;
  /** False for a message that has nothing for it, whatever it may hold: it is not asked for that one. */
  wants?(message: Message, earlier: readonly Message[]): boolean;
  /**
   * Of one that asks a server: how long its user must have paused before what they said is read together, in ms. It is read
   * sooner where a dozen messages wait, and after five times as long in a conversation without a pause.
   */
  readonly lingerMs?: number;
  /** Of one that asks a server: whether that is asked now. */
  circuit?(): CircuitState;
}

export interface Reading {
  /** What to read, oldest first. */
  readonly messages: readonly Message[];
  /** The turns before them in the same session, oldest first: what "it", "her" and "no, Tuesday" refer to. */
  readonly earlier: readonly Message[];
  /** Current memories that the messages can mean, oldest first, so that a change can name what it changes. */
  readonly known: readonly Memory[];
  /** Some of the memories that ended last, newest first, so that "I'm back on X" can take one up again; asked for seldom. */
  readonly ended?: () => readonly Memory[];
  /** Is told of a message that could not be read, and why: the model refused it, or gave no answer that can be used. */
  readonly unread?: (message: string, why: "refused" | "unusable") => void;
}

/** Where the words stand: `message.content.slice(start, end)`. A proposal without such a place is refused. */
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
  /** `one`: a new value takes the place of the old one. */
  readonly holds: "one" | "many";
  /** True where the words say that what was stored before was never true ("I meant", "sorry, not Monday"). */
  readonly corrects?: boolean;
  /** What this takes the place of, where the words name it. */
  readonly replaces?: ProposalTarget;
  readonly confidence: number;
  readonly importance: number;
  /** What its confidence and importance come from, in words for a person, without the user's own. */
  readonly why?: string;
  readonly when?: string;
  readonly validFrom?: string;
  readonly validTo?: string;
  readonly expiresAt?: string;
  readonly sensitive?: boolean;
}

/** The world changed (`supersede`), or it was never so (`retract`), and nothing takes its place. */
export interface EndProposal extends ProposalSpan {
  readonly propose: "supersede" | "retract";
  readonly target: ProposalTarget;
  /** When it ended, where the words say so. */
  readonly validTo?: string;
}

/** A request to forget. */
export interface EraseProposal extends ProposalSpan {
  readonly propose: "erase";
  /** What to forget, in the user's words ("Magnet", "my salary"); absent where the message itself is meant. */
  readonly about?: string;
  /** True for "forget everything you know about me". */
  readonly everything?: boolean;
  /** True for "forget this conversation". */
  readonly session?: boolean;
  /** A topic by its name ("health"): "forget what I told you about my health". */
  readonly topic?: string;
  /** What was said from (inclusive) to (exclusive), ISO 8601: "forget everything I told you yesterday". */
  readonly from?: string;
  readonly to?: string;
}

/** Names memories: by id, or by what their claims must equal (compared as `sameWords` does). */
export interface ProposalTarget {
  readonly ids?: readonly string[];
  readonly subject?: string;
  readonly relation?: string;
  readonly value?: string;
}

export type Proposal = AddProposal | EndProposal | EraseProposal;
