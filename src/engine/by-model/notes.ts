import type { Memory } from "../../domain/memory.ts";
import type { Recall } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { buildPromptBlock, createBlockNonce, type PromptBlock, type PromptItem } from "../fence.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";

/** Tokens of all notes, and how many of the user's own wishes for answers are among them. */
const MAX_NOTE_TOKENS = 1500;
const MAX_WISHES = 8;

export interface NotesRequest {
  readonly recall: Recall;
  /** Ids of memories that an answer without the model rests on. */
  readonly used: readonly string[];
  readonly session: string | undefined;
  readonly maxTokens?: number;
}

type PromptNote = PromptItem & { readonly id: string };

/**
 * What a model is given to answer with: the user's wishes for how it is to answer, what an answer without it rests on, and
 * what was recalled; fenced, under numbers from 1 on. Ids do not leave this machine.
 */
export function buildNotes(
  ports: Pick<Ports, "secret">,
  scope: Scope,
  state: UserState,
  { recall, used, session, maxTokens = MAX_NOTE_TOKENS }: NotesRequest,
): PromptBlock<PromptNote> {
  const wishes = [...state.current.values()]
    .filter(({ kind, quarantined }) => kind === "instruction" && !quarantined)
    .slice(-MAX_WISHES);
  const items = new Map<string, PromptNote>(wishes.map((wish) => [wish.id, toNote(wish)]));
  for (const id of used) {
    const memory = state.memories.get(id);
    if (memory) items.set(id, toNote(memory));
  }
  for (const item of recall.items) items.set(item.id, item);
  return buildPromptBlock([...items.values()], {
    nonce: createBlockNonce(ports.secret, scope, session),
    numbered: true,
    maxTokens,
  });
}

/** A memory without its sources: its text says all, and who said it is of no matter. */
function toNote({ id, text, kind, status, at, validTo, quarantined }: Memory): PromptNote {
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
