import { createHash, createHmac, createSecretKey, randomBytes } from "node:crypto";
import { type Scope, scopeKey } from "../../../domain/scope.ts";
import { fenceNonce } from "../../../engine/fence.ts";
import type { Said } from "../asked/said.ts";
import { type Lately, lately } from "./lately.ts";
import { bytesOfProfile, type Profiled } from "./profile-block.ts";

/** What is held of a conversation while it goes on, so that what its requests begin with keeps its bytes. */
export interface Conversation {
  /** The key of the user's scope, and of the conversation among all. */
  readonly user: string;
  readonly place: string;
  /** What its messages are stored under: the session that the client named, or one of its own. */
  readonly session: string;
  /** Of its fences. */
  readonly nonce: string;
  /** The user's revision that this is up to; -1 before its first request. */
  revision: number;
  /** How often words of the user were erased meanwhile: what was read before the last time is not kept. */
  erasures: number;
  /** Ids of memories that were written since the profile was made. */
  readonly touched: Set<string>;
  profile?: Profiled;
  /** What was recalled for the newest turn: while the model is at work on it with tools, it stays the same. */
  recalled?: { readonly turn: string; readonly block: string; readonly id: string };
}

export interface Conversations {
  /** The conversation that a request belongs to; begins one where there is none yet. */
  of(scope: Scope, place: ConversationPlace): Conversation;
  /** To be called where a conversation has got texts: those of the ones used longest ago go where all are too large. */
  measure(conversation: Conversation): void;
  /** Drops what is held of memories: of one user's, or of all users' where none is named. */
  forget(user?: string): void;
  /** A later request may go on from this answer. */
  goesOn(scope: Scope, answer: string, conversation: Conversation): void;
  /**
   * The id under which a turn is stored. A turn that comes again (the client tries again, or asks for another answer) has
   * the same id, and so is stored once; the same words said anew are another turn.
   */
  idOf(scope: Scope, conversation: Conversation, turn: string, isFirst: boolean): string;
}

export interface ConversationPlace {
  readonly session?: string | undefined;
  /** The earlier answer that the upstream is told to go on from. */
  readonly kept?: string | undefined;
  readonly said: readonly Said[];
  /** The turn it begins with, where this request is its first. */
  readonly opening?: string | undefined;
}

/** What a user began last. */
interface Opening {
  readonly session: string;
  readonly turn: string;
  readonly id: string;
}

const HOUR_MS = 3_600_000;
const RETRY_MS = 600_000;
const MOST_HELD = 2000;
const MOST_BEGUN = 5000;
/** Of the texts of all conversations, about. */
const MOST_BYTES = 8_000_000;
/** More than any profile is made from. */
const MOST_TOUCHED = 2000;
/** Of an id that is held beside its letters. */
const ID_BYTES = 60;

/**
 * Held in this process, for an hour after the last request: as long as providers keep a prompt in their caches. Without
 * it (after a restart, in another process) a conversation goes on with its profile of that moment.
 */
export function conversations(mostBytes: number = MOST_BYTES): Conversations {
  const held = lately<Conversation>({ most: MOST_HELD, idleMs: HOUR_MS });
  const last = lately<Opening>({ most: MOST_BEGUN, idleMs: RETRY_MS });
  // Apart from the others: a conversation that loses its texts keeps its session.
  const withTexts = lately<Conversation>({
    most: MOST_HELD,
    idleMs: HOUR_MS,
    mostBytes,
    sizeOf: bytesOf,
    onDrop: dropTexts,
  });
  const key = createSecretKey(randomBytes(32));
  const nonces = { sign: (text: string) => createHmac("sha256", key).update(text).digest("hex") };
  const begun = (scope: Scope, id: string, session: string | undefined): Conversation => {
    const named = session ?? `chat-${hashOf(id).slice(0, 8)}-${randomBytes(6).toString("hex")}`;
    const nonce = fenceNonce(nonces, scope, named);
    return {
      user: scopeKey(scope),
      place: placeIn(scope, named),
      session: named,
      nonce,
      revision: -1,
      erasures: 0,
      touched: new Set(),
    };
  };
  return {
    of(scope, { session, kept, said, opening }) {
      const first = said.find(({ role }) => role === "user")?.text ?? "";
      const id = session === undefined ? (kept ?? JSON.stringify(["first", first])) : `session ${session}`;
      const place = placeIn(scope, id);
      const known = held.get(place);
      // Two conversations may begin with the same words; only one that is tried again is the same.
      const isAnother =
        session === undefined && opening !== undefined && last.get(scopeKey(scope))?.turn !== opening;
      if (known && !isAnother) return known;
      const conversation = begun(scope, id, session);
      held.set(place, conversation);
      return conversation;
    },
    measure(conversation) {
      if (conversation.touched.size > MOST_TOUCHED) dropTexts(conversation);
      withTexts.set(conversation.place, conversation);
    },
    forget(user) {
      for (const conversation of [...held.values(), ...withTexts.values()]) {
        if (user !== undefined && conversation.user !== user) continue;
        conversation.erasures += 1;
        dropTexts(conversation);
      }
    },
    goesOn: (scope, answer, conversation) => held.set(placeIn(scope, answer), conversation),
    idOf(scope, { session }, turn, isFirst) {
      if (!isFirst) return `chat-${hashOf(JSON.stringify([session, turn]))}`;
      return firstId(last, scopeKey(scope), session, turn);
    },
  };
}

/** What is held of memories; the next request begins with the profile of its moment. */
export function dropTexts(conversation: Conversation): void {
  delete conversation.profile;
  delete conversation.recalled;
  conversation.touched.clear();
}

function bytesOf({ profile, recalled, touched }: Conversation): number {
  return bytesOfProfile(profile) + 2 * (recalled?.block.length ?? 0) + touched.size * ID_BYTES;
}

/**
 * The first words of a conversation do not tell it from another one that begins alike. They are the same turn where the
 * user has begun nothing else since, and that was a moment ago.
 */
function firstId(last: Lately<Opening>, user: string, session: string, turn: string): string {
  const before = last.get(user);
  if (before?.turn === turn && before.session === session) return before.id;
  const id = `chat-${hashOf(JSON.stringify([session, turn, randomBytes(16).toString("hex")]))}`;
  last.set(user, { session, turn, id });
  return id;
}

/** Turns by all that was said up to them: the same words at another place of a conversation are another turn. */
export function* turnsOf(kept: string | undefined, said: readonly Said[]): Generator<void, string[], void> {
  let chain = hashOf(kept ?? "");
  const turns: string[] = [];
  for (const { role, text } of said) {
    yield;
    if (role !== "other") chain = hashOf(JSON.stringify([chain, role, text.trim()]));
    turns.push(chain);
  }
  return turns;
}

function placeIn(scope: Scope, id: string): string {
  return JSON.stringify([scopeKey(scope), hashOf(id)]);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 32);
}
