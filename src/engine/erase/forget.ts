import { type ErasureSelection, mergeSelections } from "../../domain/erasure-selection.ts";
import { checkText } from "../../domain/limits.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasurePlan, ErasureReceipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { EraseProposal } from "../../ports/language/extractor.ts";
import type { Forget } from "../api.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { executeErasure } from "./execute-erasure.ts";
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
  const meant = typeof what === "string" ? await parseMeaning(ports, scope, checkWords(what)) : what;
  return executeErasure(ports, scope, (state) => selectForErasure(ports, state, meant), {
    namedWords: findNamed(ports, meant),
  });
}

/** Longer text names nothing; in UTF-8 bytes. */
const MAX_PHRASE_WORDS = 16_384;

function checkWords(what: string): string {
  return checkText(what, "what to forget", MAX_PHRASE_WORDS);
}

/** The name or thing that a request names, if it names exactly one. */
function findNamed({ forgetRequests }: Pick<Ports, "forgetRequests">, meant: Forget | undefined): string[] {
  const name = typeof meant === "string" ? forgetRequests.findName(meant) : undefined;
  return name === undefined ? [] : [name];
}

/** Previews what `forget` would erase. Erases nothing. */
export async function planForget(ports: Ports, scope: Scope, what: Forget): Promise<ErasurePlan> {
  const meant = typeof what === "string" ? await parseMeaning(ports, scope, checkWords(what)) : what;
  const state = await ports.states.of(scope);
  const { memories, cuts } = await addReplies(state, await selectForErasure(ports, state, meant));
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
  };
}

/** Executes the requests in a stored message; the request itself is erased together with its target. */
export async function eraseRequested(
  ports: Ports,
  scope: Scope,
  asked: { message: Message; proposals: readonly EraseProposal[] },
  signal?: AbortSignal,
): Promise<{ lines: ReceiptLine[]; receipts: ErasureReceipt[]; revision: number }> {
  signal?.throwIfAborted();
  const { message, proposals } = asked;
  const receipt = await executeErasure(
    ports,
    scope,
    (state) => selectRequested(ports, state, message, proposals),
    {
      requestMessageId: message.id,
      requestSpans: proposals.filter(
        (proposal) => findMeant({ messages: NO_MESSAGES }, message, proposal) !== undefined,
      ),
      namedWords: proposals.flatMap(({ about }) => findNamed(ports, about)),
    },
  );
  const lines = receipt.ids.map((id) => ({
    id,
    action: "erased" as const,
    text: "",
    why: "the user asked for it",
  }));
  return { lines, receipts: [receipt], revision: receipt.revision };
}

const NO_MESSAGES: UserState["messages"] = new Map();

async function selectRequested(
  ports: Pick<Ports, "forgetRequests">,
  state: UserState,
  message: Message,
  proposals: readonly EraseProposal[],
): Promise<ErasureSelection> {
  const asking = { message, spans: proposals };
  const selections = await Promise.all(
    proposals.map(async (proposal) => {
      const { start, end } = proposal;
      const meant = findMeant(state, message, proposal);
      // A request whose own words must not be kept erases its message.
      const ownSpan = meant === undefined ? { start: 0, end: message.content.length } : { start, end };
      const found =
        meant === undefined
          ? selectFromMessage(state, message.id)
          : await selectForErasure(ports, state, meant, asking);
      return mergeSelections([
        { memories: new Set(), cuts: new Map([[message.id, [{ ...ownSpan, put: "" }]]]) },
        found,
      ]);
    }),
  );
  return mergeSelections(selections);
}

/** The target of a request; undefined if it means its own message. */
function findMeant(
  state: Pick<UserState, "messages">,
  message: Message,
  { about, everything, session, topic, from, to }: EraseProposal,
): Forget | undefined {
  if (everything) return { everything: true };
  if (session)
    return message.session === undefined
      ? { from: findConversationStart(state, message) }
      : { session: message.session };
  if (topic !== undefined) return { topic };
  if (from !== undefined || to !== undefined) {
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  }
  return about;
}

/** A silence of an hour ends a conversation without a session. */
const SILENCE_MS = 3_600_000;

/** The start of the conversation that contains a message without a session. */
function findConversationStart({ messages }: Pick<UserState, "messages">, { at }: Message): string {
  const times = [...messages.values()].map((one) => one.at).filter((one) => one <= at);
  times.sort().reverse();
  let first = at;
  for (const time of times) {
    if (Date.parse(first) - Date.parse(time) > SILENCE_MS) break;
    first = time;
  }
  return first;
}

/** The memories that depend on one message alone. */
function selectFromMessage(state: UserState, message: string): ErasureSelection {
  const memories = [...state.memories.values()].filter(
    ({ sources }) => sources.length > 0 && sources.every((source) => source.message === message),
  );
  return { memories: new Set(memories), cuts: new Map() };
}

/**
 * A sentence such as "Forget that I ever mentioned Magnet" is parsed as a request; any other text is the
 * target itself.
 */
async function parseMeaning(
  ports: Pick<Ports, "extractor" | "clock" | "states">,
  scope: Scope,
  what: string,
): Promise<Forget> {
  if (!ports.extractor.local) return what;
  const at = ports.clock().toISOString();
  const message: Message = {
    id: "request",
    turn: 0,
    role: "user",
    content: what,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "pending",
    ...(scope.session === undefined ? {} : { session: scope.session }),
  };
  const proposals = await ports.extractor.propose({ messages: [message], earlier: [], known: [] });
  const request = proposals.find((proposal) => proposal.propose === "erase");
  if (request?.propose !== "erase") return parseTopicAlone(ports, message);
  return findMeant(await ports.states.of(scope), message, request) ?? what;
}

/** "my health", "everything about my beliefs": the topic, as after "forget"; else the words themselves. */
async function parseTopicAlone({ extractor }: Pick<Ports, "extractor">, message: Message): Promise<Forget> {
  const request = { ...message, content: `Forget ${message.content}` };
  const proposals = await extractor.propose({ messages: [request], earlier: [], known: [] });
  const [topic] = proposals.flatMap((proposal) =>
    proposal.propose === "erase" ? (proposal.topic ?? []) : [],
  );
  return topic === undefined ? message.content : { topic };
}
