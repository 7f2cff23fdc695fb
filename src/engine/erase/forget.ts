import { type ErasureSelection, mergeSelections, NO_SELECTION } from "../../domain/erasure-selection.ts";
import { checkText } from "../../domain/limits.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasurePlan, ErasureReceipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { EraseProposal } from "../../ports/language/extractor.ts";
import type { Forget } from "../api.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { executeErasure } from "./execute-erasure.ts";
import { isOfOwnMessage, pickItems, type RequestedErasure, selectProposal, toUnsure } from "./requests.ts";
import { addReplies, selectForErasure } from "./selection.ts";

/**
 * Erases the matching content: memories with all their versions, the words in every message, passages,
 * vectors and search index. Then blocks its return, scans every place again, and seals a receipt. Other words
 * stay.
 */
export async function forget(
  ports: Ports,
  scope: Scope,
  what: Forget,
  options: { signal?: AbortSignal } = {},
): Promise<ErasureReceipt> {
  options.signal?.throwIfAborted();
  if (typeof what !== "string")
    return executeErasure(ports, scope, (state) => selectForErasure(ports, state, what));
  const request = await parseRequest(ports, scope, checkWords(what));
  let unsure: ErasureSelection = NO_SELECTION;
  let texts: UserState | undefined;
  const receipt = await executeErasure(
    ports,
    scope,
    async (state) => {
      const found = await selectProposal(ports, state, request.message, request.proposal);
      unsure = found.unsure;
      texts = state;
      return found.sure;
    },
    { namedWords: findNamed(ports, request.proposal.about) },
  );
  const left = texts ? toUnsure(texts, what, unsure) : [];
  return left.length > 0 ? { ...receipt, unsure: left } : receipt;
}

/** Longer text names nothing; in UTF-8 bytes. */
const MAX_PHRASE_WORDS = 16_384;

function checkWords(what: string): string {
  return checkText(what, "what to forget", MAX_PHRASE_WORDS);
}

/** The name or thing that a request names, if it names exactly one. */
function findNamed({ forgetRequests }: Pick<Ports, "forgetRequests">, phrase: string | undefined): string[] {
  const name = phrase === undefined ? undefined : forgetRequests.findName(phrase);
  return name === undefined ? [] : [name];
}

/** Previews what `forget` would erase. Erases nothing. */
export async function planForget(ports: Ports, scope: Scope, what: Forget): Promise<ErasurePlan> {
  const state = await ports.states.of(scope);
  const request = typeof what === "string" ? await parseRequest(ports, scope, checkWords(what)) : undefined;
  const found = request
    ? await selectProposal(ports, state, request.message, request.proposal)
    : { sure: await selectForErasure(ports, state, what), unsure: NO_SELECTION };
  const { memories, cuts } = await addReplies(state, found.sure);
  const unsure = typeof what === "string" ? toUnsure(state, what, found.unsure) : [];
  return {
    dryRun: true,
    memories: [...memories].map(({ id, text }) => ({ id, text })),
    messages: [...cuts].flatMap(([id, spans]) => {
      const message = state.messages.get(id);
      if (!message) return [];
      return [
        { id, at: message.at, words: spans.map(({ start, end }) => message.content.slice(start, end)) },
      ];
    }),
    ...(unsure.length > 0 ? { unsure } : {}),
  };
}

/** Executes the requests in a stored message; the request itself is erased together with its target. */
export async function eraseRequested(
  ports: Ports,
  scope: Scope,
  asked: RequestedErasure,
  signal?: AbortSignal,
): Promise<{ lines: ReceiptLine[]; receipts: ErasureReceipt[]; revision: number }> {
  signal?.throwIfAborted();
  const { message, proposals } = asked;
  const receipt = await executeErasure(ports, scope, (state) => selectRequested(ports, state, asked), {
    requestMessageId: message.id,
    requestSpans: proposals.filter((proposal) => !isOfOwnMessage(proposal)),
    namedWords: proposals.flatMap(({ about }) => findNamed(ports, about)),
  });
  const lines = receipt.ids.map((id) => ({
    id,
    action: "erased" as const,
    text: "",
    why: "the user asked for it",
  }));
  return { lines, receipts: [receipt], revision: receipt.revision };
}

async function selectRequested(
  ports: Pick<Ports, "forgetRequests">,
  state: UserState,
  asked: RequestedErasure,
): Promise<ErasureSelection> {
  const selections = await Promise.all(
    asked.proposals.map(async (proposal) => {
      const { start, end } = proposal;
      const { message } = asked;
      // A request whose own words must not be kept erases its message.
      const ownSpan = isOfOwnMessage(proposal) ? { start: 0, end: message.content.length } : { start, end };
      const found = await selectProposal(ports, state, message, proposal, asked.proposals);
      const meant = asked.isAgreed ? mergeSelections([found.sure, found.unsure]) : found.sure;
      return mergeSelections([
        { memories: new Set(), cuts: new Map([[message.id, [{ ...ownSpan, put: "" }]]]) },
        asked.items ? pickItems(meant, asked.items) : meant,
      ]);
    }),
  );
  return mergeSelections(selections);
}

/**
 * A sentence such as "Forget that I ever mentioned Magnet" is parsed as a request; any other text is a
 * description of the target.
 */
async function parseRequest(
  ports: Pick<Ports, "extractor" | "clock">,
  scope: Scope,
  what: string,
): Promise<{ message: Message; proposal: EraseProposal }> {
  const at = ports.clock().toISOString();
  const message: Message = {
    id: "",
    turn: 0,
    role: "user",
    content: what,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "pending",
    ...(scope.session === undefined ? {} : { session: scope.session }),
  };
  const plain = { propose: "erase", message: "", start: 0, end: what.length, about: what } as const;
  if (!ports.extractor.local) return { message, proposal: plain };
  for (const content of [what, `Forget ${what}`]) {
    const proposals = await ports.extractor.propose({
      messages: [{ ...message, content }],
      earlier: [],
      known: [],
    });
    const request = proposals.find((one) => one.propose === "erase" && !isOfOwnMessage(one));
    if (request?.propose === "erase") return { message, proposal: request };
  }
  return { message, proposal: plain };
}
