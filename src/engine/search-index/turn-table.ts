import type { Message } from "../../domain/message.ts";
import type { PhraseReader } from "../../ports/language/vocabulary.ts";
import { bytesOfColumns, createIdColumn, ensureCapacity, type IdColumn, type NameTable } from "./columns.ts";

/** Number of surrounding turns on each side. */
export const WINDOW_RADIUS = 2;

/** Messages without a session belong together if at most this much time is between two of them. */
const SESSION_GAP_MS = 3_600_000;

/** Properties of a turn, as bits of `flags`. */
export const TURN_FLAGS = {
  byUser: 1,
  byAssistant: 2,
  /** Asks something at its end, so that the next turn answers. */
  asks: 4,
  undone: 8,
  /** The previous turn in the session asks something. */
  answers: 16,
  /** The user says it to an assistant, who speaks in this session too. */
  own: 32,
  /** Has, or has had, more than one passage. */
  pieces: 64,
  /** The user states a standing preference: "Always …", "I prefer …". */
  wishes: 128,
} as const;

/** What is read of the words of a turn. */
export type TurnPhrases = Pick<PhraseReader, "statesPreference">;

type F64 = Float64Array<ArrayBuffer>;
type I32 = Int32Array<ArrayBuffer>;

/** One position per message: its turn minus 1. */
interface TurnColumns {
  /** Milliseconds since 1970. */
  at: F64;
  storedAt: F64;
  /** The number of its session in `sessions`. */
  session: I32;
  /**
   * The session id as given, as a number of a name; -1 without one. The same for the agent and the speaker.
   */
  sessionId: I32;
  agent: I32;
  speaker: I32;
  /** The previous and next turn in the same session, or -1. */
  previous: I32;
  next: I32;
  /** The slot of its first passage, or -1. */
  passage: I32;
  /** The first of the sources in it, or -1. */
  sources: I32;
  /** Number of surrounding turns in its session, itself included: up to two on each side. */
  window: Uint8Array<ArrayBuffer>;
  flags: Uint8Array<ArrayBuffer>;
  [name: string]: F64 | I32 | Uint8Array<ArrayBuffer>;
}

interface SessionColumns {
  /** Its id as given, as a number of a name; -1 for turns outside any session. */
  id: I32;
  last: I32;
  turns: I32;
  /** Number of its turns by an assistant, and under a name. */
  assistantTurns: I32;
  named: I32;
  [name: string]: I32;
}

/** A user's messages as a chain of turns, for signals from their neighbours. */
export interface TurnTable {
  count: number;
  /** All bits that any turn has, or has had. */
  seen: number;
  readonly columns: TurnColumns;
  /** By turn. */
  readonly ids: IdColumn;
  sessionCount: number;
  readonly sessions: SessionColumns;
  /** The open session under the number of its id. */
  readonly open: Map<number, number>;
  /** Turns by message id; built on first use. */
  byId: Map<string, number> | undefined;
}

export function createTurnTable(): TurnTable {
  const f64 = (): F64 => new Float64Array(0);
  const i32 = (): I32 => new Int32Array(0);
  return {
    count: 0,
    seen: 0,
    columns: {
      at: f64(),
      storedAt: f64(),
      session: i32(),
      sessionId: i32(),
      agent: i32(),
      speaker: i32(),
      previous: i32(),
      next: i32(),
      passage: i32(),
      sources: i32(),
      window: new Uint8Array(0),
      flags: new Uint8Array(0),
    },
    ids: createIdColumn(),
    sessionCount: 0,
    sessions: { id: i32(), last: i32(), turns: i32(), assistantTurns: i32(), named: i32() },
    open: new Map(),
    byId: undefined,
  };
}

/** The turn of a message, or -1. */
export function turnOf(turns: TurnTable, message: string): number {
  turns.byId ??= new Map(turns.ids.all().map((id, turn) => [id, turn]));
  return turns.byId.get(message) ?? -1;
}

/** Adds a message at the end, or updates an existing one. */
export function putTurn(turns: TurnTable, names: NameTable, message: Message, phrases: TurnPhrases): void {
  const turn = message.turn - 1;
  if (turn >= turns.count) appendTurn(turns, names, message);
  const { flags, next } = turns.columns;
  const asks = endsWithQuestion(message.content);
  const keptFlags = (flags[turn] as number) & (TURN_FLAGS.answers | TURN_FLAGS.own | TURN_FLAGS.pieces);
  const speaks =
    message.role === "user" ? TURN_FLAGS.byUser : message.role === "assistant" ? TURN_FLAGS.byAssistant : 0;
  const isWish = message.role === "user" && phrases.statesPreference(message.content);
  const says = (asks ? TURN_FLAGS.asks : 0) | (isWish ? TURN_FLAGS.wishes : 0);
  flags[turn] = keptFlags | speaks | says | (message.undone ? TURN_FLAGS.undone : 0);
  const after = next[turn] as number;
  if (after >= 0) setAnswers(flags, after, asks);
  turns.seen |= (flags[turn] as number) | (asks ? TURN_FLAGS.answers : 0);
}

function appendTurn(turns: TurnTable, names: NameTable, message: Message): void {
  const turn = turns.count;
  turns.count = turn + 1;
  ensureCapacity(turns.columns, turns.count);
  const { columns, sessions } = turns;
  turns.ids.add(message.id);
  turns.byId?.set(message.id, turn);
  const at = Date.parse(message.at);
  const sessionId = names.numberOf(message.session);
  const { session, last } = findOrAddSession(turns, sessionId, at);
  columns.at[turn] = at;
  columns.storedAt[turn] = Date.parse(message.storedAt);
  columns.session[turn] = session;
  columns.sessionId[turn] = sessionId;
  columns.agent[turn] = names.numberOf(message.agent);
  columns.speaker[turn] = names.numberOf(message.name);
  columns.previous[turn] = last;
  columns.next[turn] = -1;
  columns.passage[turn] = -1;
  columns.sources[turn] = -1;
  columns.flags[turn] = 0;
  columns.window[turn] = 1;
  if (last >= 0) {
    columns.next[last] = turn;
    setAnswers(columns.flags, turn, ((columns.flags[last] as number) & TURN_FLAGS.asks) !== 0);
  }
  for (
    let near = last, i = 0;
    near >= 0 && i < WINDOW_RADIUS;
    near = columns.previous[near] as number, i += 1
  ) {
    columns.window[turn] = (columns.window[turn] as number) + 1;
    columns.window[near] = (columns.window[near] as number) + 1;
  }
  sessions.last[session] = turn;
  sessions.turns[session] = (sessions.turns[session] as number) + 1;
  if (message.role === "assistant") {
    if (sessions.assistantTurns[session] === 0) markSpokenToAssistant(turns, last);
    sessions.assistantTurns[session] = (sessions.assistantTurns[session] as number) + 1;
  } else if (message.role === "user" && (sessions.assistantTurns[session] as number) > 0) {
    columns.flags[turn] = (columns.flags[turn] as number) | TURN_FLAGS.own;
  }
  if (message.name !== undefined) sessions.named[session] = (sessions.named[session] as number) + 1;
}

/** Called when an assistant first speaks in a session: the user's earlier turns were addressed to it. */
function markSpokenToAssistant(turns: TurnTable, last: number): void {
  const { flags, previous } = turns.columns;
  for (let turn = last; turn >= 0; turn = previous[turn] as number) {
    if (((flags[turn] as number) & TURN_FLAGS.byUser) !== 0)
      flags[turn] = (flags[turn] as number) | TURN_FLAGS.own;
  }
  turns.seen |= TURN_FLAGS.own;
}

function setAnswers(flags: Uint8Array, turn: number, answers: boolean): void {
  const others = (flags[turn] as number) & ~TURN_FLAGS.answers;
  flags[turn] = answers ? others | TURN_FLAGS.answers : others;
}

/** The session that a message continues and its last turn, or a new session. */
function findOrAddSession(
  turns: TurnTable,
  sessionId: number,
  at: number,
): { session: number; last: number } {
  const { sessions, columns, open } = turns;
  const openSession = open.get(sessionId);
  if (openSession !== undefined) {
    const last = sessions.last[openSession] as number;
    if (sessionId >= 0 || Math.abs(at - (columns.at[last] as number)) <= SESSION_GAP_MS)
      return { session: openSession, last };
  }
  const session = turns.sessionCount;
  turns.sessionCount = session + 1;
  ensureCapacity(sessions, turns.sessionCount);
  sessions.id[session] = sessionId;
  open.set(sessionId, session);
  return { session, last: -1 };
}

export function bytesOfTurns({ columns, sessions, ids }: TurnTable): number {
  // An id of 36 letters takes 56 bytes, and its entry 8.
  return bytesOfColumns(columns) + bytesOfColumns(sessions) + ids.count * 64;
}

/** A question mark in one of the last two sentences, because people add "Just curious!" after a question. */
function endsWithQuestion(content: string): boolean {
  return /[?？][^.!?。！？\n]*[.!]?\s*$/u.test(content.slice(-200));
}
