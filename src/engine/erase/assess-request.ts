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
const SURE = 0.95;
const LIKELY = 0.45;
/** A request that means its own message has no target that speaks for it. */
const LIKELY_OWN = 0.45;
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
  if (isOfOwnMessage(proposal)) {
    if (isCertain || confidence >= SURE) return act("erase");
    const quote = { message: message.id, at: message.at, quote: message.content };
    return confidence >= LIKELY_OWN ? act("ask", { memories: [], quotes: [quote] }) : act("ignore");
  }
  const { sure, unsure } = await selectProposal(ports, state, message, proposal, all);
  const isSure = isAny(sure);
  if (!isSure && !isAny(unsure)) return act(isCertain ? "erase" : "ignore");
  if (isSure && (confidence ?? 1) >= SURE) return act("erase");
  const probability = isCertain ? 1 : shift(confidence, isSure ? FOUND : NOT_FOUND);
  if (probability < LIKELY) return act("ignore");
  return act("ask", toPreview(state, mergeSelections([sure, unsure])));
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
