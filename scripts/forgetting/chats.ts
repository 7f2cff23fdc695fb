// The chats of public data, for the scripts that fit and count requests to forget. Nobody asks to forget in them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beamChats } from "../../bench/quality/beam.ts";
import { talksIn } from "../../bench/quality/locomo.ts";
import { haystacks } from "../../bench/quality/longmemeval.ts";
import { realtalkTalks } from "../../bench/quality/realtalk.ts";
import type { Message } from "../../src/domain/message.ts";

/** Which chats are taken, by their numbers from 1. */
export type Half = "odd" | "even" | "all";

/** One chat of a set, with its number from 1. */
export interface NumberedChat {
  readonly set: string;
  readonly number: number;
  readonly messages: readonly Message[];
}

interface Said {
  readonly id: string;
  readonly session?: string;
  readonly at?: string;
  readonly role?: string;
  readonly name?: string;
  readonly content: string;
}

/**
 * The chats of LongMemEval, BEAM, LoCoMo and REALTALK that a folder holds. A session that several chats share is part
 * of the first with an odd number, or of the first of all; so the halves share no message.
 */
export function readChats(data: string, half: Half): NumberedChat[] {
  const sets: readonly (readonly [name: string, folder: string, read: () => (readonly Said[])[]])[] = [
    ["longmemeval", "longmemeval_s", () => haystacks(data).map(({ messages }) => messages as Said[])],
    ["beam", "beam", () => beamChats(data).map(({ messages }) => messages as Said[])],
    ["locomo", "locomo", () => talksIn(data).map(({ turns }) => turns.map(toSaid))],
    ["realtalk", "realtalk", () => realtalkTalks(data).map(({ turns }) => turns.map(toSaid))],
  ];
  return sets
    .filter(([, folder]) => existsSync(join(data, folder)))
    .flatMap(([set, , read]) => {
      const chats = read().map((said, i) => ({ set, number: i + 1, said }));
      const shared = set === "longmemeval" ? ownersOf(chats) : undefined;
      return chats
        .filter(({ number }) => half === "all" || (number % 2 === 1) === (half === "odd"))
        .map(({ number, said }) => ({
          set,
          number,
          messages: said
            .filter(({ session, content }) => content.trim() !== "" && isOwn(shared, session, number))
            .map(toMessage),
        }));
    });
}

function isOwn(
  owners: ReadonlyMap<string, number> | undefined,
  session: string | undefined,
  number: number,
): boolean {
  return owners === undefined || owners.get(session ?? "") === number;
}

/** Each session's chat. */
function ownersOf(chats: readonly { number: number; said: readonly Said[] }[]): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  const oddFirst = chats.toSorted((one, other) => (other.number % 2) - (one.number % 2));
  for (const { number, said } of oddFirst)
    for (const { session = "" } of said) if (!owners.has(session)) owners.set(session, number);
  return owners;
}

function toSaid({
  speaker,
  text,
  ...turn
}: {
  id: string;
  session: string;
  speaker: string;
  text: string;
}): Said {
  return { ...turn, role: "user", name: speaker, content: text.trim() };
}

function toMessage(
  { role = "user", at = "2026-01-01T00:00:00.000Z", ...said }: Said,
  place: number,
): Message {
  return {
    ...said,
    id: String(place),
    turn: place + 1,
    role: role === "assistant" ? "assistant" : "user",
    origin: role === "assistant" ? "assistant_message" : "user_message",
    at,
    storedAt: at,
    digest: "pending",
  };
}

/** The last turns of the same session that the extractor sees beside a message. */
const EARLIER_TURNS = 12;

/** Each message of the user with the turns before it, as the extractor sees them. */
export function userTurns({ messages }: NumberedChat): { message: Message; earlier: readonly Message[] }[] {
  const tails = new Map<string, Message[]>();
  return messages.flatMap((message) => {
    const tail = tails.get(message.session ?? "") ?? [];
    tails.set(message.session ?? "", [...tail, message].slice(-EARLIER_TURNS));
    return message.role === "user" ? [{ message, earlier: tail }] : [];
  });
}
