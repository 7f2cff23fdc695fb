import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { maskCredentials } from "../../domain/text/credentials.ts";
import { isMemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Extractor, Proposal, Reading } from "../../ports/language/extractor.ts";
import type { Completion, LanguageModel, Prompt } from "../../ports/language/language-model.ts";
import {
  ANSWER_SHAPE,
  CANARIES,
  findItems,
  INSTRUCTIONS,
  type ShownPrompt,
  toProposals,
} from "./proposals.ts";
import { selectRelevantMemories } from "./relevant-memories.ts";
import { formatTurn, mayHoldFacts, type ShownTurn, splitIntoRequests, toContextTurns } from "./turns.ts";

export interface ModelExtractorOptions {
  /** Most known memories shown in one request (20). */
  readonly known?: number;
  /** Most tokens of one answer (3,000). */
  readonly maxTokens?: number;
  /** How long a user must have paused before what they said is read in one request, in ms (120,000). */
  readonly lingerMs?: number;
}

/**
 * Understands what is said by asking a model: one request for a batch of turns, with the nearest memories under small
 * numbers. What it answers is checked item by item; nothing of it is stored but what the user's own words hold.
 */
export function modelExtractor(model: LanguageModel, options: ModelExtractorOptions = {}): Extractor {
  const { known: most = 20, maxTokens = 3_000, lingerMs = 120_000 } = options;
  return {
    name: "model",
    local: false,
    lingerMs,
    wants: mayHoldFacts,
    ...(model.circuit ? { circuit: model.circuit } : {}),
    async propose(reading, call = {}) {
      const proposals: Proposal[] = [];
      for (const turns of splitIntoRequests(orderMessages(reading), createReadCheck(reading))) {
        call.signal?.throwIfAborted();
        const texts = turns.map(({ text }) => text);
        const known = selectRelevantMemories(reading.known, texts, most);
        proposals.push(...(await requestProposals({ model, maxTokens, reading, known }, turns, call)));
      }
      return proposals;
    },
  };
}

/** Turns before these, as context. */
const EARLIER_TURNS = 4;

/** What is read, and what stands before and between, in the order in which it was said. */
function orderMessages({ messages, earlier }: Reading): Message[] {
  const first = Math.min(...messages.map(({ turn }) => turn));
  const before = earlier.filter(({ turn }) => turn < first).slice(-EARLIER_TURNS);
  const between = earlier.filter(({ turn }) => turn > first);
  return [...before, ...[...between, ...messages].sort((one, other) => one.turn - other.turn)];
}

/** Only what the user says is read, and of that what may tell something. */
function createReadCheck(reading: Reading): (message: Message) => boolean {
  const all = orderMessages(reading);
  const asked = new Set(reading.messages);
  const wanted = new Set(
    all.filter((message, i) => asked.has(message) && mayHoldFacts(message, all.slice(0, i))),
  );
  return (message) => wanted.has(message);
}

interface ModelExtractionRequest {
  readonly model: LanguageModel;
  readonly maxTokens: number;
  readonly reading: Reading;
  readonly known: readonly Memory[];
}

/** Asks for the facts of some turns; where the answer cannot be used whole, for those of fewer turns at a time. */
async function requestProposals(
  asking: ModelExtractionRequest,
  turns: readonly ShownTurn[],
  call: CallOptions,
): Promise<Proposal[]> {
  const { model, reading, known } = asking;
  let completion: Completion | undefined;
  try {
    completion = await model.complete(buildPrompt(asking, turns), call);
  } catch (error) {
    // Too long, or filtered: with fewer turns it may be taken.
    if (!isMemoryError(error) || error.code !== "invalid_input") throw error;
  }
  const items = completion && completion.finish !== "refused" ? findItems(completion.value) : undefined;
  const isCut = completion?.finish === "length";
  const read = turns.flatMap(({ isRead }, i) => (isRead ? [i] : []));
  if ((!items || isCut) && read.length > 1) {
    const middle = read[Math.floor(read.length / 2)];
    return [
      ...(await requestProposals(asking, turns.slice(0, middle), call)),
      ...(await requestProposals(
        asking,
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
  const said = [...turns, ...known].map(({ text }) => text).join("\n");
  return { turns, known, spokenText: said, canaries: CANARIES };
}

/** What changes least stands first. */
function buildPrompt({ maxTokens, known }: ModelExtractionRequest, turns: readonly ShownTurn[]): Prompt {
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
      { role: "system", content: INSTRUCTIONS },
      { role: "user", content: lines.join("\n") },
    ],
    shape: ANSWER_SHAPE,
    maxTokens,
    units: turns.filter(({ isRead }) => isRead).length,
  };
}
