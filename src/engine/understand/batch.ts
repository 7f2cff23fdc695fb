import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { findKnownMemories } from "../known.ts";
import { createMemoryDraft } from "../memory-draft.ts";
import type { UserState } from "../user-state.ts";

/** Messages that a model reads together, and what it is shown with them. */
export interface ModelBatch {
  /** Of one session, oldest first. */
  readonly messages: readonly Message[];
  /** The turns before and between them. */
  readonly earlier: readonly Message[];
  readonly known: readonly Memory[];
  /** Where the search for the next batch begins: the place of its first message among all turns. */
  readonly place: number;
}

/** So many waiting messages, characters of them, and turns of the session from the first to the last. */
const MAX_MESSAGES = 24;
const MAX_CHARACTERS = 12_000;
const MAX_TURNS = 60;
/** Turns of the session before them, and how far back they are looked for. */
const EARLIER_TURNS = 4;
const MAX_LOOKBACK = 200;

/** Whether a message waits for a model. */
export function isWaitingForModel({ digest, heard, undone, content }: Message): boolean {
  return digest === "pending" && heard === true && !undone && content !== "";
}

/** The oldest messages that wait for a model, of one session; none where none waits but those left out. */
export function findNextBatch(
  state: UserState,
  from: number,
  leftOut: ReadonlySet<string>,
): ModelBatch | undefined {
  const waits = (one: Message): boolean => isWaitingForModel(one) && !leftOut.has(one.id);
  const place = findFirstTurn(state, from, waits);
  const first = messageAtTurn(state, place);
  if (!first) return undefined;
  const together = collectFollowing(state, place, first.session, waits);
  const messages = together.filter(waits);
  const last = messages.at(-1)?.turn ?? 0;
  const between = together.filter((one) => !waits(one) && one.turn < last);
  const earlier = [...collectPreceding(state, place, first.session), ...between];
  return { messages, earlier, known: findKnownForBatch(state, messages), place };
}

function messageAtTurn({ searchIndex: block, messages }: UserState, place: number): Message | undefined {
  return messages.get(block.turns.ids.at(place) ?? "");
}

function findFirstTurn(state: UserState, from: number, waits: (one: Message) => boolean): number {
  const { count } = state.searchIndex.turns;
  for (let place = from; place < count; place += 1) {
    const one = messageAtTurn(state, place);
    if (one && waits(one)) return place;
  }
  return count;
}

/** The turns of the session from the first on, as many as go into one batch. */
function collectFollowing(
  state: UserState,
  place: number,
  session: string | undefined,
  waits: (one: Message) => boolean,
): Message[] {
  const turns: Message[] = [];
  let waiting = 0;
  let characters = 0;
  for (let i = place; i < Math.min(state.searchIndex.turns.count, place + MAX_TURNS); i += 1) {
    const one = messageAtTurn(state, i);
    if (!one || one.session !== session || one.undone) continue;
    if (waits(one)) {
      waiting += 1;
      characters += one.content.length;
      if (waiting > MAX_MESSAGES || (waiting > 1 && characters > MAX_CHARACTERS)) break;
    }
    turns.push(one);
  }
  return turns;
}

function collectPreceding(state: UserState, place: number, session: string | undefined): Message[] {
  const turns: Message[] = [];
  for (let i = place - 1; i >= Math.max(0, place - MAX_LOOKBACK) && turns.length < EARLIER_TURNS; i -= 1) {
    const one = messageAtTurn(state, i);
    if (one && one.session === session && !one.undone) turns.unshift(one);
  }
  return turns;
}

/** What the messages may be about. */
function findKnownForBatch(state: UserState, messages: readonly Message[]): readonly Memory[] {
  const [first] = messages;
  if (!first) return [];
  const all = { ...first, content: messages.map(({ content }) => content).join("\n") };
  return findKnownMemories(state, createMemoryDraft(state, first.at), all, []);
}
