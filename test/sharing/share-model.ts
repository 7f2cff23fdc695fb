import type { NewGrant } from "../../src/engine/sharing/sharing-types.ts";

/** What a grant of the model covers. */
export type ModelContent = Omit<NewGrant, "user" | "group" | "until">;

/** A memory as its owner sees it. */
export interface ModelMemory {
  readonly id: string;
  readonly owner: string;
  /** A word that stands in this memory and in the message that it came from, and nowhere else. */
  readonly word: string;
  readonly kind: string;
  readonly isSensitive: boolean;
  /** The ids of the messages that it was read from. */
  readonly messages: readonly string[];
  /** The words of those messages that it quotes. */
  readonly quotes: string;
  text: string;
  tag: string;
  isPrivate: boolean;
  /** It is not current any more. */
  isGone: boolean;
  /** It does not exist any more. */
  isErased: boolean;
  readonly expires: number;
}

/** A message as its owner sees it. */
export interface ModelMessage {
  readonly id: string;
  readonly owner: string;
  /** Empty once it is erased. */
  content: string;
  /** The words that it had, which nobody may see again once they are erased. */
  readonly marks: readonly string[];
  readonly tag: string;
  readonly isPrivate: boolean;
}

export interface ModelGrant {
  readonly id: string;
  readonly owner: string;
  readonly user?: string;
  readonly group?: string;
  readonly what: ModelContent;
  readonly until: number;
  isOver: boolean;
  readonly declined: Set<string>;
}

interface ModelGroup {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  members: string[];
}

/** The words of a text that one memory or message alone has. */
export const findMarks = (text: string): string[] => text.match(/zq\d+x\d+[ms]/g) ?? [];

/** Who may see what, written from the documentation alone. */
export class ShareModel {
  now: number = Date.parse("2026-03-01T00:00:00Z");
  memories: ModelMemory[] = [];
  messages: ModelMessage[] = [];
  grants: ModelGrant[] = [];
  groups: ModelGroup[] = [];

  isReader(grant: ModelGrant, user: string): boolean {
    if (grant.owner === user) return false;
    if (grant.user !== undefined) return grant.user === user;
    return this.groups.some(({ id, members }) => id === grant.group && members.includes(user));
  }

  /** The grants by which a user reads another's memory now. */
  grantsTo(user: string, owner: string): ModelGrant[] {
    return this.grants.filter(
      (grant) =>
        grant.owner === owner &&
        this.isReader(grant, user) &&
        !grant.isOver &&
        grant.until > this.now &&
        !grant.declined.has(user),
    );
  }

  /** The memories of others that a user may read. */
  visibleTo(user: string): ModelMemory[] {
    return this.memories.filter((memory) =>
      this.grantsTo(user, memory.owner).some(({ what }) => this.covers(what, memory)),
    );
  }

  /** The messages of others whose words a user may read. */
  messagesVisibleTo(user: string): ModelMessage[] {
    return this.messages.filter((message) =>
      this.grantsTo(user, message.owner).some(({ what }) => this.coversWords(what, message)),
    );
  }

  /** The marks of others' words that a user may not see in any answer. */
  hiddenFrom(user: string): Set<string> {
    const all = [
      ...this.memories.filter(({ owner }) => owner !== user).map(({ word }) => word),
      ...this.messages.filter(({ owner }) => owner !== user).flatMap(({ marks }) => marks),
    ];
    const seen = [
      ...this.visibleTo(user).flatMap(({ text, word, quotes }) => [
        word,
        ...findMarks(text),
        ...findMarks(quotes),
      ]),
      ...this.messagesVisibleTo(user).flatMap(({ content }) => findMarks(content)),
    ];
    const hidden = new Set(all);
    for (const mark of seen) hidden.delete(mark);
    return hidden;
  }

  private covers(what: ModelContent, memory: ModelMemory): boolean {
    if (memory.isGone || memory.isErased || memory.isPrivate || memory.expires <= this.now) return false;
    if (what.ids) return what.ids.includes(memory.id);
    if (memory.isSensitive && what.sensitive !== true) return false;
    const kinds = what.kinds as readonly string[] | undefined;
    if (kinds ? !kinds.includes(memory.kind) : memory.kind === "instruction") return false;
    return matches(what, memory.text, memory.tag);
  }

  private coversWords(what: ModelContent, message: ModelMessage): boolean {
    if (what.messages !== true || what.ids || what.kinds || message.isPrivate) return false;
    if (what.sensitive !== true && this.isSensitive(message)) return false;
    return matches(what, message.content, message.tag);
  }

  /** Whether something sensitive was learnt from a message. */
  private isSensitive({ id }: ModelMessage): boolean {
    return this.memories.some(
      ({ isSensitive, isErased, messages }) => isSensitive && !isErased && messages.includes(id),
    );
  }
}

function matches({ about, where, whereText }: ModelContent, text: string, tag: string): boolean {
  if (about && !about.some((topic) => text.split(/\W+/).includes(topic))) return false;
  if (where && where.tag !== tag) return false;
  const { $contains, $not_contains } = (whereText ?? {}) as {
    readonly [operator: string]: string | undefined;
  };
  if ($contains !== undefined && !text.includes($contains)) return false;
  return $not_contains === undefined || !text.includes($not_contains);
}
