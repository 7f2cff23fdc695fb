import type { ChangeSet, MemoryLink } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { MemoryError } from "../../errors.ts";

/** The message with its changed digest. */
export function applyDigestChange(
  message: Message,
  change: NonNullable<ChangeSet["digests"]>[number],
): Message {
  const { undone: before, heard: heardBefore, ...rest } = message;
  const undone = change.undone ?? before;
  const heard = change.digest === "pending" && (change.heard ?? heardBefore);
  return { ...rest, digest: change.digest, ...(heard ? { heard } : {}), ...(undone ? { undone } : {}) };
}

// Databases order texts by UTF-8 bytes, the store by UTF-16 code units, like JavaScript.

export function compareStrings(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The order of links. */
export function compareLinks(one: MemoryLink, other: MemoryLink): number {
  return (
    compareStrings(one.from, other.from) ||
    compareStrings(one.type, other.type) ||
    compareStrings(one.to, other.to)
  );
}

/** Whether the message still awaits extraction. */
export function isAwaitingExtraction({ digest, undone }: Message): boolean {
  return digest === "pending" && undone !== true;
}

/** The stored state that a change-set affects, as its parts are applied one after the other. */
export interface CommitState {
  /** Throws `conflict` if the id already exists. */
  addMessage(message: Message): void;
  /** Throws `conflict` if the message does not exist. */
  changeMessage(id: string, change: (message: Message) => Message): void;
  /** Throws `conflict` if the version is not the next one. */
  addVersion(memory: Memory): void;
  hasMemory(id: string): boolean;
  /** False if the memory did not exist. */
  dropMemory(id: string): boolean;
  /** The final messages: the new ones and the changed ones. */
  messages(): { readonly added: readonly Message[]; readonly changed: readonly Message[] };
}

/** The stored messages and the versions of memories that a change-set names, by the keys of their ids. */
interface StoredState {
  readonly messages: ReadonlyMap<string, Message>;
  readonly versions: ReadonlyMap<string, number>;
  /** The number of the user's messages. */
  readonly turns: number;
  /** The key of an id in the database. */
  readonly toKey: (id: string) => string;
}

export function createCommitState(stored: StoredState): CommitState {
  const { turns, toKey } = stored;
  const bodies = new Map(stored.messages);
  const versions = new Map(stored.versions);
  const added = new Set<string>();
  const changed = new Set<string>();
  let turn = turns;
  return {
    addMessage(message) {
      const key = toKey(message.id);
      if (bodies.has(key)) throw new MemoryError("conflict", "a message with this id already exists.");
      turn += 1;
      bodies.set(key, { ...message, turn });
      added.add(key);
    },
    changeMessage(id, change) {
      const key = toKey(id);
      const message = bodies.get(key);
      if (!message) throw new MemoryError("conflict", "a message to change does not exist.");
      bodies.set(key, change(message));
      if (!added.has(key)) changed.add(key);
    },
    addVersion({ id, version }) {
      const current = versions.get(toKey(id)) ?? 0;
      if (version !== current + 1) {
        throw new MemoryError(
          "conflict",
          `a memory's version ${version} cannot follow its version ${current}.`,
        );
      }
      versions.set(toKey(id), version);
    },
    hasMemory: (id) => versions.has(toKey(id)),
    dropMemory: (id) => versions.delete(toKey(id)),
    messages() {
      const listMessages = (of: Set<string>): Message[] => [...of].flatMap((key) => bodies.get(key) ?? []);
      return { added: listMessages(added), changed: listMessages(changed) };
    },
  };
}
