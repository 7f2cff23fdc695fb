import { type ErasureSelection, mergeSelections, NO_SELECTION } from "../../domain/erasure-selection.ts";
import { checkText } from "../../domain/limits.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasurePlan, ErasureReceipt, PendingConfirmation, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { EraseProposal } from "../../ports/language/extractor.ts";
import type { DescribedSelection } from "../../ports/language/forget-request-reader.ts";
import { eraseSessionStates } from "../admin/session-states.ts";
import type { Forget } from "../api/writing-types.ts";
import { addDescriptions, countDroppedAttachments } from "../attachments/erase-attachments.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { selectAsked, toQuestion } from "./asked-content.ts";
import { executeErasure, executeRequest } from "./execute-erasure.ts";
import { isOfOwnMessage, pickItems, type RequestedErasure, selectProposal, toUnsure } from "./requests.ts";
import { addReplies, selectForErasure } from "./selection.ts";

/**
 * Erases the matching content: memories with all their versions, the words in every message, passages,
 * vectors and search index. Then blocks its return, scans every place again, and seals a receipt. Other words
 * stay. Once `signal` fires, an erasure that has not begun is not executed; one that has begun is finished.
 */
export async function forget(
  ports: Ports,
  scope: Scope,
  what: Forget,
  options: { signal?: AbortSignal; ifRevision?: number } = {},
): Promise<ErasureReceipt> {
  options.signal?.throwIfAborted();
  const checkUnchanged = ({ revision }: UserState): void => {
    if (options.ifRevision !== undefined && options.ifRevision !== revision)
      throw new MemoryError("conflict", "the memory has changed since this revision.");
  };
  if (typeof what !== "string") {
    const isNamed = (name: string): boolean => what !== null && typeof what === "object" && name in what;
    const isEverything = isNamed("everything");
    const isExact = !["everything", "topic", "attachments"].some(isNamed);
    const choose = (state: UserState) => {
      checkUnchanged(state);
      return selectForErasure(ports, state, what);
    };
    return withoutStates(
      ports,
      scope,
      await executeErasure(ports, scope, choose, { isEverything, isExact, signal: options.signal }),
      true,
    );
  }
  const request = await parseRequest(ports, scope, checkWords(what));
  let unsure: ErasureSelection = NO_SELECTION;
  let texts: UserState | undefined;
  const receipt = await executeErasure(
    ports,
    scope,
    async (state) => {
      checkUnchanged(state);
      const found = await selectProposal(ports, state, request.message, request.proposal);
      unsure = found.unsure;
      texts = state;
      return found.sure;
    },
    {
      namedWords: findNamed(ports, request.proposal.about),
      isEverything: request.proposal.everything === true,
      signal: options.signal,
    },
  );
  await withoutStates(ports, scope, receipt, false);
  const left = texts ? toUnsure(texts, what, unsure) : [];
  return left.length > 0 ? { ...receipt, unsure: left } : receipt;
}

/** An erasure without a match leaves the states of sessions, which may hold the words; they are deleted here. */
async function withoutStates(
  ports: Ports,
  scope: Scope,
  receipt: ErasureReceipt,
  isExact: boolean,
): Promise<ErasureReceipt> {
  if (receipt.verified.length === 0)
    await eraseSessionStates(ports, scope, { revision: receipt.revision, isExact });
  return receipt;
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
  const { memories, cuts, attachments } = await addDescriptions(state, await addReplies(state, found.sure));
  const unsure = typeof what === "string" ? toUnsure(state, what, found.unsure) : [];
  return {
    dryRun: true,
    memories: [...memories].map(({ id, text }) => ({ id, text })),
    messages: [...cuts].flatMap(([id, spans]) => {
      const message = state.messages.get(id);
      if (!message) return [];
      const dropped = countDroppedAttachments(message, spans, attachments?.get(id));
      return [
        {
          id,
          at: message.at,
          words: spans.map(({ start, end }) => message.content.slice(start, end)),
          ...(dropped > 0 ? { attachments: dropped } : {}),
        },
      ];
    }),
    ...(unsure.length > 0 ? { unsure } : {}),
  };
}

/** What the requests in a message did. */
interface ExecutedRequests {
  readonly lines: ReceiptLine[];
  readonly receipts: ErasureReceipt[];
  readonly revision: number;
  /** What they may mean too: the user is asked. */
  readonly waiting: readonly PendingConfirmation[];
}

/**
 * Executes the requests in a stored message; the request itself is erased together with its target. What it
 * may mean beside that stays until the user confirms it.
 */
export async function eraseRequested(
  ports: Ports,
  scope: Scope,
  requested: RequestedErasure,
  signal?: AbortSignal,
): Promise<ExecutedRequests> {
  signal?.throwIfAborted();
  const { message, proposals } = requested;
  const choose = (state: UserState) => selectRequested(ports, state, requested);
  const { receipt, asked } = await executeRequest(ports, scope, choose, {
    requestMessageId: message.id,
    requestSpans: proposals.filter((proposal) => !isOfOwnMessage(proposal)),
    isEverything: proposals.some(({ everything }) => everything === true),
    signal,
    namedWords: proposals.flatMap(({ about }) => findNamed(ports, about)),
  });
  const lines = receipt.ids.map((id) => ({
    id,
    action: "erased" as const,
    text: "",
    why: "the user asked for it",
  }));
  const waiting = asked ? [toQuestion(await ports.states.of(scope), asked)] : [];
  return { lines, receipts: [receipt], revision: receipt.revision, waiting };
}

async function selectRequested(
  ports: Pick<Ports, "forgetRequests" | "secret" | "store">,
  state: UserState,
  { message, proposals, isAgreed, hasRest, items }: RequestedErasure,
): Promise<DescribedSelection> {
  const pick = (meant: ErasureSelection): ErasureSelection => (items ? pickItems(meant, items) : meant);
  const found = await Promise.all(
    proposals.map(async (proposal) => {
      const { start, end } = proposal;
      // A request whose own words must not be kept erases its message.
      const ownSpan = isOfOwnMessage(proposal) ? { start: 0, end: message.content.length } : { start, end };
      const own = {
        memories: NO_SELECTION.memories,
        cuts: new Map([[message.id, [{ ...ownSpan, put: "" }]]]),
      };
      const { sure, unsure } = await selectProposal(ports, state, message, proposal, proposals);
      return isAgreed
        ? { sure: mergeSelections([own, pick(mergeSelections([sure, unsure]))]), unsure: NO_SELECTION }
        : { sure: mergeSelections([own, sure]), unsure };
    }),
  );
  const rest = hasRest ? pick(await selectAsked(ports, state, message.id)) : NO_SELECTION;
  return {
    sure: mergeSelections([...found.map(({ sure }) => sure), rest]),
    unsure: mergeSelections(found.map(({ unsure }) => unsure)),
  };
}

/** From this probability on, words are a request as they stand. */
const SURE_WORDS = 0.9;

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
  let likely: EraseProposal | undefined;
  for (const content of [what, `Forget ${what}`]) {
    const proposals = await ports.extractor.propose({
      messages: [{ ...message, content }],
      earlier: [],
      known: [],
    });
    const request = proposals.find((one) => one.propose === "erase" && !isOfOwnMessage(one));
    if (request?.propose !== "erase") continue;
    // A description may be likely as a request by itself, but is read best behind a verb.
    if ((request.confidence ?? 1) >= SURE_WORDS) return { message, proposal: request };
    likely ??= request;
  }
  if (likely) return { message, proposal: likely };
  return { message, proposal: plain };
}
