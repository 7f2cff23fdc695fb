import { listFilteredMetadata, type Metadata, matchesFilter, type Where } from "./filters/metadata-filter.ts";
import { compileTextFilter, type WhereText } from "./filters/text-filter.ts";
import { expandKinds, isCurrentAt, type Kind, type KindGroup, type Memory } from "./memory.ts";
import type { Message } from "./message.ts";
import { toWordKey } from "./search/search-terms.ts";

/**
 * What a grant covers: everything, or the memories that pass each of the conditions. Only current memories are covered,
 * never one that is marked `private: true` in its metadata or, unless its own says `private: false`, in that of a message.
 */
export interface GrantedContent {
  /** All memories, with no other condition. */
  readonly everything?: true;
  /** Memories of these kinds or groups of kinds. Without it: all but instructions. */
  readonly kinds?: readonly (Kind | KindGroup)[];
  /** Memories whose text contains one of these words or phrases, whatever their case and endings. */
  readonly about?: readonly string[];
  /** Memories whose metadata, or that of their messages, matches. */
  readonly where?: Where;
  /** Memories whose text matches. */
  readonly whereText?: WhereText;
  /** These memories. */
  readonly ids?: readonly string[];
  /** Also sensitive memories: health, beliefs, money, secrets. Those named by `ids` need no such mark. */
  readonly sensitive?: true;
  /**
   * Also the words of the owner's messages: the sources of memories, and passages. Those of a message from which something
   * sensitive was learnt only together with `sensitive`.
   */
  readonly messages?: true;
}

/** A permission to read some of a user's memories. One version; each change makes the next. */
export interface Grant {
  /** Always `grant`. */
  readonly type: "grant";
  /** A UUIDv7. */
  readonly id: string;
  /** The project of owner and readers. */
  readonly project: string;
  /** Whose memories they are. */
  readonly owner: string;
  /** The user who may read them, or the id of a group. */
  readonly reader: { readonly user: string } | { readonly group: string };
  /** What it covers. */
  readonly what: GrantedContent;
  /** When it was given (ISO 8601). */
  readonly at: string;
  /** It ends at this time, exclusive (ISO 8601). */
  readonly until?: string;
  /** When its owner withdrew it (ISO 8601). */
  readonly withdrawnAt?: string;
  /** Readers who declined it. */
  readonly declinedBy: readonly string[];
  /** 1 for the first version. */
  readonly version: number;
}

/** A named set of users, such as a household or a team. One version; each change makes the next. */
export interface UserGroup {
  /** Always `group`. */
  readonly type: "group";
  /** A UUIDv7. */
  readonly id: string;
  /** The project of its members. */
  readonly project: string;
  /** Who made it, and alone may change it. */
  readonly owner: string;
  /** The name, unique among the groups of its owner. */
  readonly name: string;
  /** The users in it; the owner need not be one. */
  readonly members: readonly string[];
  /** When it was made (ISO 8601). */
  readonly at: string;
  /** 1 for the first version. */
  readonly version: number;
}

/** What the store of grants keeps. */
export type Share = Grant | UserGroup;

/** Names whom a share concerns: a user, or a group. */
export const toUserParty = (user: string): string => `user:${user}`;
export const toGroupParty = (group: string): string => `group:${group}`;

/** Everyone whom a share concerns: the owner, and its readers or members. */
export function listParties(share: Share): string[] {
  const others =
    share.type === "group"
      ? share.members.map(toUserParty)
      : ["user" in share.reader ? toUserParty(share.reader.user) : toGroupParty(share.reader.group)];
  return [...new Set([toUserParty(share.owner), ...others])];
}

/** Whether a user reads by this grant, as far as it does not depend on the time. */
export function isReader(grant: Grant, user: string, groups: readonly UserGroup[]): boolean {
  if (grant.owner === user) return false;
  const { reader } = grant;
  if ("user" in reader) return reader.user === user;
  return groups.some(({ id, members }) => id === reader.group && members.includes(user));
}

/** Whether a grant lets a reader read now (ISO 8601). */
export function isInForce(grant: Grant, reader: string, now: string): boolean {
  const hasEnded = grant.until !== undefined && grant.until <= now;
  return grant.withdrawnAt === undefined && !hasEnded && !grant.declinedBy.includes(reader);
}

/** Whether metadata keeps a memory or a message out of every grant. */
const isMarkedPrivate = (metadata: Metadata | undefined): boolean => metadata?.private === true;

/** Whether no grant covers a memory: by its own mark, true or false; without one, by that of a message. */
function isPrivate({ metadata }: Memory, sources: readonly Message[]): boolean {
  if (typeof metadata?.private === "boolean") return metadata.private;
  return sources.some((source) => isMarkedPrivate(source.metadata));
}

/** Tests what a grant covers, by the memories and messages as they are. */
export interface GrantTest {
  /** Whether it covers a memory at this time (ISO 8601). `messageOf` gives the messages that still exist. */
  coversMemory(memory: Memory, messageOf: (id: string) => Message | undefined, now: string): boolean;
  /** Whether it covers a passage of a message; `isSensitive`: something sensitive was learnt from the message. */
  coversPassage(message: Message, text: string, isSensitive: boolean): boolean;
}

/** Compiles what a grant covers. Throws `invalid_input` for a wrong text filter. */
export async function compileGrant(what: GrantedContent): Promise<GrantTest> {
  const { kinds, about, where, whereText, sensitive, messages } = what;
  const kindSet = kinds && expandKinds(kinds);
  const ids = what.ids && new Set(what.ids);
  const phrases = about?.map((words) => ` ${toWordKey(words)} `);
  const matches = whereText && (await compileTextFilter(whereText));
  const hasWords = (text: string): boolean => {
    if (matches && !matches(text)) return false;
    if (!phrases) return true;
    const words = ` ${toWordKey(text)} `;
    return phrases.some((phrase) => words.includes(phrase));
  };
  const hasMetadata = ({ metadata }: Memory, sources: readonly Message[]): boolean => {
    if (!where) return true;
    // As in `where` of a recall.
    const ofMessages = sources.map((source) => source.metadata);
    return listFilteredMetadata(metadata, ofMessages).some((one) => matchesFilter(where, one));
  };
  const isOfKind = ({ id, kind, sensitive: isSensitive }: Memory): boolean => {
    if (ids) return ids.has(id) && (kindSet === undefined || kindSet.has(kind));
    if (isSensitive && sensitive !== true) return false;
    return kindSet ? kindSet.has(kind) : kind !== "instruction";
  };
  return {
    coversMemory(memory, messageOf, now) {
      if (!isCurrentAt(memory, now) || isOver(memory, now) || !isOfKind(memory)) return false;
      const sources = memory.sources.flatMap(({ message }) => messageOf(message) ?? []);
      if (isPrivate(memory, sources)) return false;
      return hasMetadata(memory, sources) && hasWords(memory.text);
    },
    coversPassage(message, text, isSensitiveMessage) {
      if (messages !== true || ids || kindSet || message.undone || message.role !== "user") return false;
      if (isSensitiveMessage && sensitive !== true) return false;
      if (isMarkedPrivate(message.metadata)) return false;
      return (!where || matchesFilter(where, message.metadata ?? {})) && hasWords(text);
    },
  };
}

/** Whether a statement has ended; an event that has ended is still true. */
const isOver = ({ kind, validTo }: Memory, now: string): boolean =>
  kind !== "event" && validTo !== undefined && validTo <= now;

/** The words in a grant that its owner chose: an erasure searches them. */
export function listGrantTexts({ what }: Grant): string[] {
  return [...(what.about ?? []), ...collectStrings(what.where), ...collectStrings(what.whereText)];
}

function collectStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value).filter((name) => !name.startsWith("$"));
  return [...names, ...Object.values(value).flatMap(collectStrings)];
}
