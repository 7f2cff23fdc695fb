import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { hasCredential, maskCredentials } from "../../domain/text/credentials.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Extractor, Proposal, Reading } from "../../ports/language/extractor.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language/language-model.ts";
import { CANARIES, createModelRequest, findItems, type ShownPrompt, toProposals } from "./proposals.ts";
import { formatTurn, mayHoldFacts, type ShownTurn, splitIntoRequests, toContextTurns } from "./turns.ts";

/** Options of `modelExtractor`. */
export interface ModelExtractorOptions {
  /** The most known memories shown in one request (default: 20). */
  readonly known?: number;
  /** The most tokens of one answer (default: 3,000). */
  readonly maxTokens?: number;
  /** How long a user must pause before their messages are read in one request, in ms (default: 120,000). */
  readonly lingerMs?: number;
  /** Whether the model also names associations with known memories (default: false). */
  readonly links?: boolean;
}

/**
 * Extracts facts with a language model: one request for a batch of turns, together with the most relevant memories, which are
 * numbered. Each item of the answer is checked; nothing is stored that the user's own words do not contain.
 */
export function modelExtractor(model: LanguageModel, options: ModelExtractorOptions = {}): Extractor {
  const { known: most = 20, maxTokens = 3_000, lingerMs = 120_000, links = false } = options;
  const wording = createModelRequest({ links });
  return {
    name: "model",
    local: false,
    lingerMs,
    filter: { accepts: mayHoldFacts },
    ...(model.circuit ? { circuit: model.circuit } : {}),
    async propose(reading, call = {}) {
      const proposals: Proposal[] = [];
      for (const turns of splitIntoRequests(orderMessages(reading), createReadCheck(reading))) {
        call.signal?.throwIfAborted();
        const texts = turns.map(({ text }) => text);
        const known = selectRelevantMemories(reading.known, texts, most);
        proposals.push(
          ...(await requestProposals({ model, maxTokens, reading, known, wording }, turns, call)),
        );
      }
      return proposals;
    },
  };
}

/** The number of earlier turns shown as context. */
const EARLIER_TURNS = 4;

/** The messages to read, with those before and between them, in chronological order. */
function orderMessages({ messages, earlier }: Reading): Message[] {
  const first = Math.min(...messages.map(({ turn }) => turn));
  const before = earlier.filter(({ turn }) => turn < first).slice(-EARLIER_TURNS);
  const between = earlier.filter(({ turn }) => turn > first);
  return [...before, ...[...between, ...messages].sort((one, other) => one.turn - other.turn)];
}

/** Only messages of the user are read, and only those that may contain facts. */
function createReadCheck(reading: Reading): (message: Message) => boolean {
  const ordered = orderMessages(reading);
  const requested = new Set(reading.messages);
  const wanted = new Set(
    ordered.filter((message, i) => requested.has(message) && mayHoldFacts(message, ordered.slice(0, i))),
  );
  return (message) => wanted.has(message);
}

interface ModelExtractionRequest {
  readonly model: LanguageModel;
  readonly maxTokens: number;
  readonly reading: Reading;
  readonly known: readonly Memory[];
  readonly wording: ReturnType<typeof createModelRequest>;
}

/** Requests the facts of some turns. If the answer is unusable or incomplete, it splits the turns and tries again. */
async function requestProposals(
  request: ModelExtractionRequest,
  turns: readonly ShownTurn[],
  call: CallOptions,
): Promise<Proposal[]> {
  const { model, reading, known } = request;
  let completion: Completion | undefined;
  try {
    completion = await model.complete(buildPrompt(request, turns), call);
  } catch (error) {
    // Too long or filtered: fewer turns may be accepted.
    if (!isMemoryError(error) || error.code !== "invalid_input") throw error;
  }
  const items = completion && completion.finish !== "refused" ? findItems(completion.value) : undefined;
  const isCut = completion?.finish === "length";
  const readTurns = turns.flatMap(({ isRead }, i) => (isRead ? [i] : []));
  if ((!items || isCut) && readTurns.length > 1) {
    const middle = readTurns[Math.floor(readTurns.length / 2)];
    return [
      ...(await requestProposals(request, turns.slice(0, middle), call)),
      ...(await requestProposals(
        request,
        [...toContextTurns(turns.slice(0, middle)), ...turns.slice(middle)],
        call,
      )),
    ];
  }
  if (!items) {
    const [turn] = turns.filter(({ isRead }) => isRead);
    if (turn) reading.unread?.(turn.message.id, getUnreadReason(completion));
    return [];
  }
  return toProposals(items, toShownPrompt(turns, known));
}

function getUnreadReason(completion: Completion | undefined): "refused" | "unusable" {
  return !completion || completion.finish === "refused" ? "refused" : "unusable";
}

function toShownPrompt(turns: readonly ShownTurn[], known: readonly Memory[]): ShownPrompt {
  const spokenText = [...turns, ...known].map(({ text }) => text).join("\n");
  return { turns, known, spokenText, canaries: CANARIES };
}

/** Parts that change least come first. */
function buildPrompt(
  { maxTokens, known, wording }: ModelExtractionRequest,
  turns: readonly ShownTurn[],
): Prompt {
  const lines = [
    "Known:",
    ...(known.length === 0
      ? ["(nothing)"]
      : known.map(({ text }, i) => `${i + 1}. ${maskCredentials(text)}`)),
    "",
    "Turns:",
    ...turns.map((turn, i) => formatTurn({ ...turn, text: maskCredentials(turn.text) }, i + 1)),
  ];
  return {
    purpose: "understand",
    turns: [
      { role: "system", content: wording.instructions },
      { role: "user", content: lines.join("\n") },
    ],
    shape: wording.shape,
    maxTokens,
    units: turns.filter(({ isRead }) => isRead).length,
  };
}

/**
 * The memories that the texts are most likely about, at most `most`: those that share their rarest words, and then the newest.
 * They are in the order of storage, so that prompts differ little from call to call.
 */
function selectRelevantMemories(known: readonly Memory[], texts: readonly string[], most: number): Memory[] {
  const candidates = known.filter(({ text, quarantined }) => !quarantined && !hasCredential(text));
  if (candidates.length <= most) return candidates;
  const wanted = new Set(extractTerms(texts.join("\n")));
  const terms = candidates.map(({ text }) => new Set(extractTerms(text)));
  const documentCounts = new Map<string, number>();
  for (const each of terms)
    for (const term of each) documentCounts.set(term, (documentCounts.get(term) ?? 0) + 1);
  const weights = terms.map((each) => {
    let weight = 0;
    for (const term of each)
      if (wanted.has(term)) weight += Math.log(1 + candidates.length / (documentCounts.get(term) ?? 1));
    return weight;
  });
  const best = candidates
    .map((memory, i) => ({ memory, i, weight: weights[i] ?? 0 }))
    .sort((one, other) => other.weight - one.weight || other.i - one.i)
    .slice(0, most);
  return best.sort((one, other) => one.i - other.i).map(({ memory }) => memory);
}
