import type { Message } from "../../../domain/message.ts";
import { hasSameWords } from "../../../domain/search/search-terms.ts";
import { hasCredential } from "../../../domain/text/credentials.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import { runInSlices } from "../../../domain/time-slicing.ts";
import type { CallOptions } from "../../../ports/call-options.ts";
import type { AddProposal, EraseProposal, Extractor, Proposal } from "../../../ports/language/extractor.ts";
import { findEnglishSpans } from "../detect-language.ts";
import { toCanonicalRelation } from "../relations/relations.ts";
import { attributeToNamed } from "./claims/name-claims.ts";
import { opensWithOrder } from "./forgetting/erase-forms.ts";
import { erasuresOf } from "./forgetting/erasures.ts";
import { LIKELY_REQUEST } from "./forgetting/request-sentences.ts";
import { isOfItself } from "./forgetting/stated-requests.ts";
import type { RulesReading } from "./known-memory.ts";
import { isInPlay, isTextWork, ownSpans } from "./no-facts/borrowed.ts";
import { readStatements } from "./reader.ts";
import { closeHoles, hasHole, withoutAsides, withoutHoles } from "./words/holes.ts";

/** How much of a message is read, so that no message can take seconds. */
const MOST_SENTENCES = 120;
const LONGEST_SENTENCE = 1200;

/** Has another reader put right what was read of some sentences of a message. */
type RefineProposals = (
  message: Message,
  spans: readonly TextSpan[],
  proposals: readonly Proposal[],
) => Proposal[];

const keepAll: RefineProposals = (_message, _spans, proposals) => [...proposals];

export interface RulesExtractor extends Extractor {
  propose(reading: RulesReading, options?: CallOptions): Promise<Proposal[]>;
}

/**
 * Understands English statements about oneself and one's people, changes, corrections and requests to forget, by
 * grammar, without a model. What is not English, and what anybody but the user says, is left alone.
 */
export function rulesExtractor(refine: RefineProposals = keepAll): RulesExtractor {
  return {
    name: "rules",
    local: true,
    async propose(reading, options) {
      const proposals: Proposal[] = [];
      for (const message of reading.messages) {
        options?.signal?.throwIfAborted();
        proposals.push(...(await wholeProposals(message, reading, refine)));
      }
      return proposals;
    },
  };
}

/** What is read from a message that words were taken out of is read around them. */
async function wholeProposals(
  message: Message,
  reading: RulesReading,
  refine: RefineProposals,
): Promise<Proposal[]> {
  if (!hasHole(message.content)) return proposalsOf(message, reading, refine);
  const closed = { ...message, content: closeHoles(message.content) };
  return withoutHoles(await proposalsOf(closed, reading, refine));
}

/** Milliseconds after which a message lets others be read before its next sentence. Most messages take less. */
const SLICE_MS = 25;

async function proposalsOf(
  message: Message,
  reading: RulesReading,
  refine: RefineProposals,
): Promise<Proposal[]> {
  const { asking, stating } = spansToRead(message, reading);
  const erasures = erasuresOf(message, asking, stating ? reading : undefined);
  if (!stating) return erasures;
  // What may be no request is read as a statement too.
  const sure = erasures.filter(({ confidence = 1, due }) => due || confidence >= LIKELY_REQUEST);
  if (sure.some(isOfItself)) return erasures;
  const rest = stating.filter(({ start }) => !sure.some((one) => one.start === start));
  const content = withoutAsides(message.content);
  // The same message where nothing changed: what is remembered of it goes by the message.
  const plain = content === message.content ? message : { ...message, content };
  const stated = await runInSlices(readStatements(plain, reading, rest), SLICE_MS);
  const read = attributeToNamed(withoutDoubles(stated));
  const statements = refine(plain, rest, read);
  return [...erasures, ...keepable(statements)];
}

/** The requests to forget in a message, without what else it says. */
export function findErasures(message: Message, reading: RulesReading): EraseProposal[] {
  const { asking, stating } = spansToRead(message, reading);
  return erasuresOf(message, asking, stating ? reading : undefined);
}

/** The sentences that are read for requests to forget, and those that are read for statements, if any are. */
export function spansToRead(
  message: Message,
  reading: RulesReading,
): { asking: readonly TextSpan[]; stating?: readonly TextSpan[] } {
  if (!isOfUser(message) || message.content.trim() === "") return { asking: [] };
  const text = message.content.slice(0, 40_000);
  const sentences = splitSentences(text);
  const english = isFigure(message, reading) ? sentences : findEnglishSpans(text, sentences);
  const isForeign = english.length === 0;
  // A request can be all names: "Delete Pier 9 Lodge, 555-0100 and Ivo."
  if (isForeign && !opensWithOrder(message.content)) return { asking: [] };
  if (isForeign || isTextWork(message.content))
    return { asking: splitSentences(message.content.slice(0, 400)) };
  if (isInPlay(message.content, reading.earlier)) return { asking: [] };
  const spans = readableSpans(text, english, reading.earlier, namesOfUser(reading));
  return { asking: spans, stating: spans };
}

/** The sentences of a message that are the user's own words, and not too long or too many. */
export function readableSpans(
  text: string,
  sentences: readonly TextSpan[],
  earlier: readonly Message[],
  names: readonly string[] = [],
): TextSpan[] {
  const all = ownSpans(text, sentences, earlier, names);
  return all.filter(({ start, end }) => end - start <= LONGEST_SENTENCE).slice(0, MOST_SENTENCES);
}

function namesOfUser({ known }: RulesReading): string[] {
  return known.flatMap(({ claim, status }) =>
    status === "current" && claim?.subject === "user" && /\bbe called$/.test(claim.relation)
      ? claim.value
      : [],
  );
}

/** Nobody but the user makes, changes or ends what is known of them. */
function isOfUser({ role, origin }: Message): boolean {
  return role === "user" && ["user_message", "import", "api"].includes(origin);
}

/** "34", to "How old are you?": an answer without a word. */
function isFigure({ content }: Message, { earlier }: RulesReading): boolean {
  return earlier.at(-1)?.role === "assistant" && /^[\d.,:/\s€$£%+-]{1,20}$/.test(content);
}

/** Nothing that looks like a credential leaves here, wherever it stood, and no part of a sentence or of a pair of brackets. */
function keepable(proposals: readonly Proposal[]): Proposal[] {
  return proposals
    .map(withoutOpenBracket)
    .filter(
      (proposal) =>
        proposal.propose !== "add" || !(hasCredential(proposal.text) || CUT_SENTENCE.test(proposal.text)),
    );
}

/** "two cats (Miso": a bracket that is not closed is left out with what it opened. */
function withoutOpenBracket(one: Proposal): Proposal {
  if (one.propose !== "add" || !/\([^()]*$/.test(one.text)) return one;
  const close = (text: string): string => text.replace(/\s*\((?:\d{1,3}(?=\s)|[^()]*?(?=[.!?]?$))/, "");
  const claim = one.claim && { ...one.claim, value: close(one.claim.value) };
  return { ...one, text: close(one.text), ...(claim ? { claim } : {}) };
}

/** "Dr Sato is the user's guide from.", "Is called Tom.": words are missing, so that it was misread. */
const CUT_SENTENCE =
  /\s(?:to|at|for|until|by) on \d|\s(?:from|of|for|at|by|and|or|the|an?|than|because|(?<!\sto \w+ |\sto \w+ \w+ )(?:to|with))[.!?]*$|^(?:is|are|was|were|am|has|have|had|does|did)\s/i;

/** What a message tells twice is told once: of two that claim the same, the one that says more; else the first. */
function withoutDoubles(proposals: readonly Proposal[]): Proposal[] {
  const kept: Proposal[] = [];
  for (const one of proposals) {
    const at = kept.findIndex((other) => isSame(other, one));
    if (at < 0) kept.push(one);
    else if (saysMore(one, kept[at])) kept[at] = one;
  }
  return kept;
}

function isSame(one: Proposal, other: Proposal): boolean {
  if (one.propose !== "add" || other.propose !== "add" || !one.claim || !other.claim) return false;
  return (
    one.claim.subject === other.claim.subject &&
    toCanonicalRelation(one.claim.relation) === toCanonicalRelation(other.claim.relation) &&
    hasSameWords(one.claim.value, other.claim.value) &&
    one.when === other.when &&
    agree(one, other)
  );
}

/** One of them says nothing more about it, or both say the same. */
function agree({ claim }: AddProposal, other: AddProposal): boolean {
  const [a = "", b = ""] = [claim?.qualifier, other.claim?.qualifier];
  return a === "" || b === "" || hasSameWords(a, b);
}

function saysMore(one: Proposal, other: Proposal | undefined): boolean {
  if (one.propose !== "add" || other?.propose !== "add") return false;
  return (one.claim?.qualifier ?? "").length > (other.claim?.qualifier ?? "").length && !other.replaces;
}
