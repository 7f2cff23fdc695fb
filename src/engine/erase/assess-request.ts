import { type ErasureSelection, mergeSelections } from "../../domain/erasure-selection.ts";
import type { Message } from "../../domain/message.ts";
import type { PendingConfirmation } from "../../domain/receipt.ts";
import type { EraseProposal } from "../../ports/language/extractor.ts";
import type { DescribedSelection } from "../../ports/language/forget-request-reader.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { isOfOwnMessage, selectProposal, toPreview } from "./requests.ts";

/** What is to be done with words that may be a request to forget; `report` says that nothing was found. */
export interface AssessedRequest {
  readonly action: "erase" | "ask" | "report" | "ignore";
  /** What would go. Empty unless it is asked back, or a part of a scope. */
  readonly preview: Pick<PendingConfirmation, "memories" | "quotes">;
}

/** From these probabilities on, a request is carried out, or asked back. */
const SURE = 0.98;
const LIKELY = 0.7;
/** From this probability on, a request of which nothing is found is reported; below it, it was likely none. */
const REPORTED = 0.8;
/** A request that means its own message has no target that speaks for it. */
const LIKELY_OWN = 0.52;
/** What a target that is found, or not, says of whether the words are a request; in log-odds. */
const FOUND = 1.6;
const LIKELY_FOUND = 1;
const MAYBE_FOUND = 0;
/** "Forget everything about the old paper" is asked back where it would take words out of more messages than these. */
const MOST_AT_ONCE = 4;
const NO_PREVIEW = { memories: [], quotes: [] };

/** Whether the words alone make a request likely. One without a probability is certain. */
export function isLikelyRequest({ confidence = 1 }: EraseProposal): boolean {
  return confidence >= LIKELY;
}

/**
 * Decides on a request by the probability of its words and by what they mean. Sure words with a sure target are
 * carried out; likely words, or an unsure target, are asked back. Likely words without a target are reported, all others ignored.
 */
export async function assessRequest(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  message: Message,
  proposal: EraseProposal,
  all: readonly EraseProposal[],
): Promise<AssessedRequest> {
  const { confidence } = proposal;
  if (proposal.due) return assessLater(ports, state, message, proposal, all);
  const isCertain = confidence === undefined;
  const isScope = proposal.about === undefined || proposal.everything === true;
  // Everything is confirmed by its size, and a scope needs no search.
  if (isCertain && isScope && proposal.except === undefined) return act("erase");
  if (isOfOwnMessage(proposal)) return assessOwn(ports, state, message, proposal, all);
  // The turn before is always found: it does not speak for the request.
  if (proposal.about === undefined && !isCertain && confidence < LIKELY_OWN) return act("ignore");
  const found = await selectProposal(ports, state, message, proposal, all);
  const { sure, unsure } = found;
  if (!isAny(sure) && !isAny(unsure)) return act(isCertain ? "erase" : withoutTarget(confidence));
  const action = actionOf(confidence ?? 1, mayGoUnasked(proposal, sure), found);
  if (action === "ask") return act("ask", toPreview(state, mergeSelections([sure, unsure])));
  return act(action, isScope ? toPreview(state, sure) : NO_PREVIEW);
}

/** A request for later can be seen and taken back until then, so that a sure target is enough. */
async function assessLater(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  message: Message,
  proposal: EraseProposal,
  all: readonly EraseProposal[],
): Promise<AssessedRequest> {
  const { about, messages, everything } = proposal;
  if (about === undefined) return act(messages || everything ? "erase" : "ignore");
  const { sure, unsure } = await selectProposal(ports, state, message, proposal, all);
  if (isAny(sure)) return act("erase");
  return isAny(unsure) ? act("ask", toPreview(state, unsure)) : act(withoutTarget(proposal.confidence ?? 1));
}

/** What is done with a request whose target is found, sure or not. A certain target speaks for the request that means it. */
function actionOf(
  confidence: number,
  isSure: boolean,
  { isLikely, isCertain }: DescribedSelection,
): AssessedRequest["action"] {
  if (isSure && (isCertain ? shift(confidence, FOUND) : confidence) >= SURE) return "erase";
  const by = isSure ? FOUND : isLikely ? LIKELY_FOUND : MAYBE_FOUND;
  return shift(confidence, by) >= LIKELY ? "ask" : withoutTarget(confidence);
}

/** Whether a sure target is found, and no words such as "everything about" take words out of many messages. */
function mayGoUnasked({ isBroad }: EraseProposal, sure: ErasureSelection): boolean {
  return isAny(sure) && !(isBroad === true && sure.cuts.size > MOST_AT_ONCE);
}

/** What is done where nothing is found: a request that is likely by its words alone is never passed over in silence. */
function withoutTarget(confidence: number): AssessedRequest["action"] {
  return confidence >= REPORTED ? "report" : "ignore";
}

/** Words that are not to be kept: those of the message itself, unless something said before is meant. */
async function assessOwn(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  message: Message,
  proposal: EraseProposal,
  all: readonly EraseProposal[],
): Promise<AssessedRequest> {
  const { confidence = 1 } = proposal;
  if (confidence >= SURE) return act("erase");
  if (confidence < LIKELY_OWN) return act("ignore");
  const { unsure } = await selectProposal(ports, state, message, proposal, all);
  if (!isAny(unsure) && shift(confidence, FOUND) >= SURE) return act("erase");
  const { memories, quotes } = toPreview(state, unsure);
  const { id, at, content } = message;
  return act("ask", { memories, quotes: [...quotes, { message: id, at, quote: content }] });
}

function act(
  action: AssessedRequest["action"],
  preview: AssessedRequest["preview"] = NO_PREVIEW,
): AssessedRequest {
  return { action, preview };
}

function isAny({ memories, cuts }: ErasureSelection): boolean {
  return memories.size + cuts.size > 0;
}

function shift(probability: number, by: number): number {
  const odds = Math.log(probability / (1 - probability)) + by;
  return 1 / (1 + Math.exp(-odds));
}
