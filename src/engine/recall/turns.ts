import type { Message } from "../../domain/message.ts";

/**
 * The messages of a user as a chain of turns, for what their neighbours tell about them. Arrays stand side by side,
 * one place per turn; a place is a turn's number here, from 0, in the order in which messages were stored.
 */
export interface Turns {
  readonly messages: readonly Message[];
  /** The turn before and after in the same session, or -1. */
  readonly previous: readonly number[];
  readonly next: readonly number[];
  /** How many turns are around it in its session, itself included: up to two on each side. */
  readonly window: readonly number[];
  /** The number of its session. */
  readonly session: readonly number[];
  /** 1 where the user speaks. */
  readonly byUser: readonly number[];
  /** 1 where the message asks something at its end, so that the next one answers. */
  readonly asks: readonly number[];
  readonly place: ReadonlyMap<string, number>;
  /** By session: how many turns, and how many of them by an assistant. */
  readonly sessionTurns: readonly number[];
  readonly assistantTurns: readonly number[];
  /** Who speaks: the number of their name, or -1 where there is none. */
  readonly speaker: readonly number[];
  /** Name -> its number, from 0. */
  readonly names: ReadonlyMap<string, number>;
}

export interface GrowingTurns extends Turns {
  /** Takes in what is new: messages at the end, and new states of those that are there. */
  follow(messages: ReadonlyMap<string, Message>): void;
}

/** How many turns on each side of one are around it. */
export const REACH = 2;

/** Messages without a session belong together while no more than this lies between two of them. */
const PAUSE_MS = 3_600_000;

/** The columns while they grow. */
interface Columns {
  readonly messages: Message[];
  readonly previous: number[];
  readonly next: number[];
  readonly window: number[];
  readonly session: number[];
  readonly byUser: number[];
  readonly asks: number[];
  readonly speaker: number[];
  readonly place: Map<string, number>;
  readonly sessionTurns: number[];
  readonly assistantTurns: number[];
  readonly names: Map<string, number>;
}

/** A session that can go on: its number, and its last turn (-1 where it is new). */
interface Open {
  readonly session: number;
  readonly last: number;
}

export function turnsOf(): GrowingTurns {
  const columns: Columns = {
    messages: [],
    previous: [],
    next: [],
    window: [],
    session: [],
    byUser: [],
    asks: [],
    speaker: [],
    place: new Map(),
    sessionTurns: [],
    assistantTurns: [],
    names: new Map(),
  };
  /** By session id; the one without an id is for messages outside any session. */
  const open = new Map<string | undefined, Open>();
  return {
    ...columns,
    follow(all) {
      const { messages, asks } = columns;
      let at = 0;
      for (const message of all.values()) {
        if (at >= messages.length) {
          const goesOn = sessionOf(columns, open.get(message.session), message);
          append(columns, goesOn, message);
          open.set(message.session, { session: goesOn.session, last: at });
        } else if (messages[at] !== message) {
          messages[at] = message;
          asks[at] = asksAtEnd(message.content);
        }
        at += 1;
      }
    },
  };
}

/** The session that a message goes on with, or a new one. */
function sessionOf(columns: Columns, open: Open | undefined, message: Message): Open {
  const last = open && columns.messages[open.last];
  if (open && last && (message.session !== undefined || isSoonAfter(last, message))) return open;
  columns.assistantTurns.push(0);
  return { session: columns.sessionTurns.push(0) - 1, last: -1 };
}

function append(columns: Columns, { session, last }: Open, message: Message): void {
  const { previous, next, window, sessionTurns, assistantTurns } = columns;
  const at = columns.messages.push(message) - 1;
  columns.place.set(message.id, at);
  previous.push(last);
  next.push(-1);
  if (last >= 0) next[last] = at;
  window.push(1);
  for (let near = last, i = 0; near >= 0 && i < REACH; near = previous[near] ?? -1, i += 1) {
    window[at] = (window[at] ?? 0) + 1;
    window[near] = (window[near] ?? 0) + 1;
  }
  columns.session.push(session);
  sessionTurns[session] = (sessionTurns[session] ?? 0) + 1;
  if (message.role === "assistant") assistantTurns[session] = (assistantTurns[session] ?? 0) + 1;
  columns.byUser.push(message.role === "user" ? 1 : 0);
  columns.asks.push(asksAtEnd(message.content));
  columns.speaker.push(numberOf(columns.names, message.name));
}

function numberOf(names: Map<string, number>, name: string | undefined): number {
  if (name === undefined) return -1;
  const number = names.get(name) ?? names.size;
  names.set(name, number);
  return number;
}

function isSoonAfter(one: Message, other: Message): boolean {
  return Math.abs(Date.parse(other.at) - Date.parse(one.at)) <= PAUSE_MS;
}

/** A question mark in the last sentence or the one before, for people add "Just curious!" after a question. */
function asksAtEnd(content: string): number {
  return /[?？][^.!?。！？\n]*[.!]?\s*$/u.test(content.slice(-200)) ? 1 : 0;
}
