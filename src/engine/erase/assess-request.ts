import { type ErasureSelection, mergeSelections } from "../../domain/erasure-selection.ts";
import type { Message } from "../../domain/message.ts";
import type { PendingConfirmation } from "../../domain/receipt.ts";
import type { EraseProposal } from "../../ports/language/extractor.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { isOfOwnMessage, selectProposal, toPreview } from "./requests.ts";

/** What is to be done with words that may be a request to forget. */
export interface AssessedRequest {
  readonly action: "erase" | "ask" | "ignore";
  /** What would go. Empty unless it is asked back. */
  readonly preview: Pick<PendingConfirmation, "memories" | "quotes">;
}

/** From these probabilities on, a request is carried out, or asked back. */
const SURE = 0.98;
const LIKELY = 0.7;
/** A request that means its own message has no target that speaks for it. */
const LIKELY_OWN = 0.52;
/** What a target that is found, or not, says of whether the words are a request; in log-odds. */
const FOUND = 1.6;
const NOT_FOUND = -1.5;
const NO_PREVIEW = { memories: [], quotes: [] };

/**
 * Decides on a request by the probability of its words and by what they mean. Sure words with a sure target are
 * carried out; likely words, or an unsure target, are asked back; all others are ignored.
 */
export async function assessRequest(
  ports: Pick<Ports, "forgetRequests">,
  state: UserState,
  message: Message,
  proposal: EraseProposal,
  all: readonly EraseProposal[],
): Promise<AssessedRequest> {
  const { confidence } = proposal;
  const isCertain = confidence === undefined;
  // Everything is confirmed by its size, and a scope needs no search.
  if (isCertain && (proposal.about === undefined || proposal.everything)) return act("erase");
  if (isOfOwnMessage(proposal)) return assessOwn(message, confidence ?? 1);
  // The turn before is always found: it does not speak for the request.
  if (proposal.about === undefined && !isCertain && confidence < LIKELY_OWN) return act("ignore");
  const { sure, unsure } = await selectProposal(ports, state, message, proposal, all);
  if (!isAny(sure) && !isAny(unsure)) return act(isCertain ? "erase" : "ignore");
  const action = actionOf(confidence ?? 1, isAny(sure));
  return action === "ask" ? act("ask", toPreview(state, mergeSelections([sure, unsure]))) : act(action);
}

/** What is done with a request whose target is found, sure or not. */
function actionOf(confidence: number, isSure: boolean): AssessedRequest["action"] {
  if (isSure && confidence >= SURE) return "erase";
  return shift(confidence, isSure ? FOUND : NOT_FOUND) >= LIKELY ? "ask" : "ignore";
}

function assessOwn({ id, at, content }: Message, confidence: number): AssessedRequest {
  if (confidence >= SURE) return act("erase");
  if (confidence < LIKELY_OWN) return act("ignore");
  return act("ask", { memories: [], quotes: [{ message: id, at, quote: content }] });
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
