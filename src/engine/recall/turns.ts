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

export function turnsOf(): GrowingTurns {
  const messages: Message[] = [];
  const previous: number[] = [];
  const next: number[] = [];
  const session: number[] = [];
  const byUser: number[] = [];
  const asks: number[] = [];
  const sessionTurns: number[] = [];
  const assistantTurns: number[] = [];
  const place = new Map<string, number>();
  const speaker: number[] = [];
  const names = new Map<string, number>();
  /** Session id -> its number and last turn; the key without an id is for messages outside any session. */
  const open = new Map<string | undefined, { session: number; last: number }>();

  /** The session that a message goes on with, or a new one. */
  const sessionOf = (message: Message): { session: number; last: number } => {
    const kept = open.get(message.session);
    const last = kept && messages[kept.last];
    if (kept && last && (message.session !== undefined || isSoonAfter(last, message))) return kept;
    assistantTurns.push(0);
    return { session: sessionTurns.push(0) - 1, last: -1 };
  };

  const numberOf = (name: string | undefined): number => {
    if (name === undefined) return -1;
    const known = names.get(name) ?? names.size;
    names.set(name, known);
    return known;
  };

  const append = (message: Message): void => {
    const at = messages.length;
    const { session: number, last } = sessionOf(message);
    open.set(message.session, { session: number, last: at });
    messages.push(message);
    place.set(message.id, at);
    previous.push(last);
    if (last >= 0) next[last] = at;
    next.push(-1);
    session.push(number);
    sessionTurns[number] = (sessionTurns[number] ?? 0) + 1;
    if (message.role === "assistant") assistantTurns[number] = (assistantTurns[number] ?? 0) + 1;
    byUser.push(message.role === "user" ? 1 : 0);
    asks.push(asksAtEnd(message.content));
    speaker.push(numberOf(message.name));
  };

  return {
    messages,
    previous,
    next,
    session,
    byUser,
    asks,
    place,
    sessionTurns,
    assistantTurns,
    speaker,
    names,
    follow(all) {
      let at = 0;
      for (const message of all.values()) {
        if (at >= messages.length) append(message);
        else if (messages[at] !== message) {
          messages[at] = message;
          asks[at] = asksAtEnd(message.content);
        }
        at += 1;
      }
    },
  };
}

function isSoonAfter(one: Message, other: Message): boolean {
  return Math.abs(Date.parse(other.at) - Date.parse(one.at)) <= PAUSE_MS;
}

/** A question mark in the last sentence or the one before, for people add "Just curious!" after a question. */
function asksAtEnd(content: string): number {
  return /[?？][^.!?。！？\n]*[.!]?\s*$/u.test(content.slice(-200)) ? 1 : 0;
}
