import type { Memory } from "../../domain/memory.ts";
import type { Recall } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { type Fenceable, type Fenced, fence, fenceNonce } from "../fence.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";

/** Tokens of all notes, and how many of the user's own wishes for answers are among them. */
const MOST_TOKENS = 1500;
const MOST_WISHES = 8;

export interface NotesWanted {
  readonly recall: Recall;
  /** Ids of memories that an answer without the model rests on. */
  readonly used: readonly string[];
  readonly session: string | undefined;
  readonly maxTokens?: number;
}

type Note = Fenceable & { readonly id: string };

/**
 * What a model is given to answer with: the user's wishes for how it is to answer, what an answer without it rests on, and
 * what was recalled; fenced, under numbers from 1 on. Ids do not leave this machine.
 */
export function notesOf(
  ports: Pick<Ports, "secret">,
  scope: Scope,
  state: UserState,
  { recall, used, session, maxTokens = MOST_TOKENS }: NotesWanted,
): Fenced<Note> {
  const wishes = [...state.current.values()]
    .filter(({ kind, quarantined }) => kind === "instruction" && !quarantined)
    .slice(-MOST_WISHES);
  const items = new Map<string, Note>(wishes.map((wish) => [wish.id, plain(wish)]));
  for (const id of used) {
    const memory = state.memories.get(id);
    if (memory) items.set(id, plain(memory));
  }
  for (const item of recall.items) items.set(item.id, item);
  return fence([...items.values()], {
    nonce: fenceNonce(ports.secret, scope, session),
    numbered: true,
    maxTokens,
  });
}

/** A memory without its sources: its text says all, and who said it is of no matter. */
function plain({ id, text, kind, status, at, validTo, quarantined }: Memory): Note {
  return {
    id,
    text,
    type: "memory",
    kind,
    status,
    at,
    ...(validTo === undefined ? {} : { validTo }),
    ...(quarantined === undefined ? {} : { quarantined }),
  };
}
