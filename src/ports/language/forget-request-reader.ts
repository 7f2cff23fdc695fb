import type { ErasedValue, ErasureSelection } from "../../domain/erasure-selection.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { TextCut } from "../../domain/text/cut-text.ts";
import type { TextSpan } from "../../domain/text/split-text.ts";
import type { ErasureDue } from "./extractor.ts";
import type { StoredContent } from "./stored-content.ts";

/** The message that asks to forget, and where. These words are not a source of what is meant. */
export interface ForgetRequestSource {
  readonly message: Message;
  readonly spans: readonly TextSpan[];
}

/** What a request to forget describes. */
export interface ForgetDescription {
  /** "Magnet", "my salary", a list of values. */
  readonly phrase: string;
  /** What stays, in the user's words: "the passport". */
  readonly except?: string;
  /** True for "everything about it": all that belongs to it, not one thing. */
  readonly isBroad?: boolean;
}

/** The content that a description means. */
export interface DescribedSelection {
  readonly sure: ErasureSelection;
  /** What it may mean beside that. It is asked back before it is erased. */
  readonly unsure: ErasureSelection;
  /** True if some of `unsure` is meant by all signs, though not by its exact words. */
  readonly isLikely?: boolean;
  /** True if all of `sure` is meant by two ways of reading, and nothing else may be: it may go although its request is only likely. */
  readonly isCertain?: boolean;
}

/** Finds the content that the words of a request to forget mean. It changes nothing. */
export interface ForgetRequestReader {
  /** The content that a request describes. Empty if nothing matches. */
  selectDescribed(
    content: StoredContent,
    description: ForgetDescription,
    source?: ForgetRequestSource,
  ): Promise<DescribedSelection>;
  /**
   * What a request that describes nothing means of what was said before it: "Lose those.", "don't keep the first thing I told you". Empty
   * if the words beside it in its own message are rather meant.
   */
  selectBefore(content: StoredContent, source: ForgetRequestSource): Promise<ErasureSelection>;
  /**
   * Takes what a request excepts out of what it means: phrases in the user's words, joined by "; ". What may be
   * excepted becomes unsure.
   */
  keepExcepted(
    content: StoredContent,
    found: DescribedSelection,
    except: string,
    source?: ForgetRequestSource,
  ): Promise<DescribedSelection>;
  /** The content of a topic or a relation. Throws `invalid_input` for an unknown topic. */
  selectTopic(content: StoredContent, name: string): Promise<ErasureSelection>;
  /** The memories that a phrase describes, without those that depend on them. */
  findMemories(content: StoredContent, phrase: string): Promise<ReadonlySet<Memory>>;
  /** Adds the sentences that the memories came from, and those that contain their values, to the cuts. */
  cutSentences(
    content: StoredContent,
    memories: ReadonlySet<Memory>,
    cuts: Map<string, TextCut[]>,
  ): Promise<void>;
  /** The values in a text that belong to one owner: codes, numbers, addresses. */
  findValues(text: string): readonly ErasedValue[];
  /** The one name or thing that a phrase names; undefined if it names none or describes something. */
  findName(phrase: string): string | undefined;
  /** A sentence for a request that is to be carried out later: what it means, and when. */
  describeDelayed(about: string, due: ErasureDue): string;
  /** Whether a text tells that an event has happened: "the trip is over". False for a question, a plan or a denial. */
  tellsEvent(text: string, event: string): boolean;
  /** Whether a text tells that what a request is about has been erased. */
  tellsErased(text: string, about: string): boolean;
}
