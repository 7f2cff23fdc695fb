import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { knownFor } from "../known.ts";
import { memoryDraft } from "../memory-draft.ts";
import type { UserState } from "../user-state.ts";

/** Messages that a model reads together, and what it is shown with them. */
export interface Batch {
  /** Of one session, oldest first. */
  readonly messages: readonly Message[];
  /** The turns before and between them. */
  readonly earlier: readonly Message[];
  readonly known: readonly Memory[];
  /** Where the search for the next batch begins: the place of its first message among all turns. */
  readonly place: number;
}

/** So many waiting messages, characters of them, and turns of the session from the first to the last. */
const MOST_MESSAGES = 24;
const MOST_CHARACTERS = 12_000;
const MOST_TURNS = 60;
/** Turns of the session before them, and how far back they are looked for. */
const BEFORE = 4;
const LOOKED_AT = 200;

/** Whether a message waits for a model. */
export function waitsForModel({ digest, heard, undone, content }: Message): boolean {
  return digest === "pending" && heard === true && !undone && content !== "";
}

/** The oldest messages that wait for a model, of one session; none where none waits but those left out. */
export function nextBatch(state: UserState, from: number, leftOut: ReadonlySet<string>): Batch | undefined {
  const waits = (one: Message): boolean => waitsForModel(one) && !leftOut.has(one.id);
  const place = firstPlace(state, from, waits);
  const first = turnAt(state, place);
  if (!first) return undefined;
  const together = following(state, place, first.session, waits);
  const messages = together.filter(waits);
  const last = messages.at(-1)?.turn ?? 0;
  const between = together.filter((one) => !waits(one) && one.turn < last);
  const earlier = [...preceding(state, place, first.session), ...between];
  return { messages, earlier, known: knownTo(state, messages), place };
}

function turnAt({ block, messages }: UserState, place: number): Message | undefined {
  return messages.get(block.turns.ids.at(place) ?? "");
}

function firstPlace(state: UserState, from: number, waits: (one: Message) => boolean): number {
  const { count } = state.block.turns;
  for (let place = from; place < count; place += 1) {
    const one = turnAt(state, place);
    if (one && waits(one)) return place;
  }
  return count;
}

/** The turns of the session from the first on, as many as go into one batch. */
function following(
  state: UserState,
  place: number,
  session: string | undefined,
  waits: (one: Message) => boolean,
): Message[] {
  const turns: Message[] = [];
  let waiting = 0;
  let characters = 0;
  for (let i = place; i < Math.min(state.block.turns.count, place + MOST_TURNS); i += 1) {
    const one = turnAt(state, i);
    if (!one || one.session !== session || one.undone) continue;
    if (waits(one)) {
      waiting += 1;
      characters += one.content.length;
      if (waiting > MOST_MESSAGES || (waiting > 1 && characters > MOST_CHARACTERS)) break;
    }
    turns.push(one);
  }
  return turns;
}

function preceding(state: UserState, place: number, session: string | undefined): Message[] {
  const turns: Message[] = [];
  for (let i = place - 1; i >= Math.max(0, place - LOOKED_AT) && turns.length < BEFORE; i -= 1) {
    const one = turnAt(state, i);
    if (one && one.session === session && !one.undone) turns.unshift(one);
  }
  return turns;
}

/** What the messages may be about. */
function knownTo(state: UserState, messages: readonly Message[]): readonly Memory[] {
  const [first] = messages;
  if (!first) return [];
  const all = { ...first, content: messages.map(({ content }) => content).join("\n") };
  return knownFor(state, memoryDraft(state, first.at), all, []);
}
