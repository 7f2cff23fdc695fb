import type { ChangeSet } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { MemoryError } from "../../errors.ts";
import { parseBody } from "../shared/stored-body.ts";
import { toIndexKey } from "./names.ts";
import type { Row } from "./pool.ts";
import { createStatement, type SqlStatement } from "./statement.ts";

/** What a change-set meets, as it is while its parts are applied one after the other. */
export interface CommitState {
  /** `conflict` where its id is there already. */
  addMessage(message: Message): void;
  /** `conflict` where it is not there. */
  changeMessage(id: string, change: (message: Message) => Message): void;
  /** `conflict` where its version is not the next one. */
  addVersion(memory: Memory): void;
  hasMemory(id: string): boolean;
  /** False where it was not there. */
  dropMemory(id: string): boolean;
  /** Messages as they end up: those that are new, and those that were changed. */
  messages(): { readonly added: readonly Message[]; readonly changed: readonly Message[] };
}

const SELECT_MESSAGES = "SELECT id, body FROM messages WHERE person = $1 AND id = ANY ($2)";
const SELECT_HEADS = "SELECT id, version FROM heads WHERE person = $1 AND id = ANY ($2)";

/** Two statements whose rows `heldOf` takes. */
export function buildStateQueries(person: number, changes: ChangeSet): readonly SqlStatement[] {
  const { messages = [], digests = [], memories = [], links = [], erase } = changes;
  const met = [...messages, ...digests, ...(erase?.messages ?? [])].map(({ id }) => id);
  const named = [
    ...memories.map(({ id }) => id),
    ...links.flatMap(({ from, to }) => [from, to]),
    ...(erase?.memories ?? []),
  ];
  return [
    createStatement(SELECT_MESSAGES, person, toUniqueKeys(met)),
    createStatement(SELECT_HEADS, person, toUniqueKeys(named)),
  ];
}

function toUniqueKeys(ids: readonly string[]): string[] {
  return [...new Set(ids.map(toIndexKey))];
}

export function createCommitState(
  [messages = [], heads = []]: readonly (readonly Row[])[],
  turns: number,
): CommitState {
  const bodies = new Map(messages.map((row) => [row.id ?? "", parseBody<Message>(row)]));
  const versions = new Map(heads.map((row) => [row.id ?? "", Number(row.version)]));
  const added = new Set<string>();
  const changed = new Set<string>();
  let turn = turns;
  return {
    addMessage(message) {
      const key = toIndexKey(message.id);
      if (bodies.has(key)) throw new MemoryError("conflict", "a message with this id is there already.");
      turn += 1;
      bodies.set(key, { ...message, turn });
      added.add(key);
    },
    changeMessage(id, change) {
      const key = toIndexKey(id);
      const message = bodies.get(key);
      if (!message) throw new MemoryError("conflict", "a message to change is not there.");
      bodies.set(key, change(message));
      if (!added.has(key)) changed.add(key);
    },
    addVersion({ id, version }) {
      const held = versions.get(toIndexKey(id)) ?? 0;
      if (version !== held + 1) {
        throw new MemoryError("conflict", `a memory's version ${version} cannot follow its version ${held}.`);
      }
      versions.set(toIndexKey(id), version);
    },
    hasMemory: (id) => versions.has(toIndexKey(id)),
    dropMemory: (id) => versions.delete(toIndexKey(id)),
    messages() {
      const all = (of: Set<string>): Message[] => [...of].flatMap((key) => bodies.get(key) ?? []);
      return { added: all(added), changed: all(changed) };
    },
  };
}

/** A message whose digest changed. */
export function applyDigestChange(
  message: Message,
  change: NonNullable<ChangeSet["digests"]>[number],
): Message {
  const { undone: before, heard: heardBefore, ...rest } = message;
  const undone = change.undone ?? before;
  const heard = change.digest === "pending" && (change.heard ?? heardBefore);
  return { ...rest, digest: change.digest, ...(heard ? { heard } : {}), ...(undone ? { undone } : {}) };
}
