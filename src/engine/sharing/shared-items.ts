import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Item, Recall } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { compileGrant, type Grant, type GrantedContent, type GrantTest } from "../../domain/sharing.ts";
import { neutralizeText } from "../../domain/text/prompt-safety.ts";
import { splitPassages } from "../../domain/text/split-text.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Ports } from "../ports.ts";
import { toSources } from "../user-state/lookups.ts";
import type { UserState } from "../user-state/user-state.ts";
import { findReadable } from "./grants.ts";

/** The most owners whose memories are searched, those of the newest grants first, and the most at once. */
const MAX_OWNERS = 50;
const OWNERS_AT_ONCE = 8;

/** Finds what one owner's memory has on a query, among what some grants cover. */
type OwnerSearch = (owner: Scope, grants: readonly Grant[]) => Promise<readonly Item[]>;

type SharedItemPorts = Pick<Ports, "store" | "states" | "clock" | "promptGuard" | "replies">;

/**
 * What other users let this one read on a query, best first. Each item is read from its owner's memory, at this moment: nothing
 * is kept. The grants are read again afterwards, so that a grant that ended meanwhile gives nothing.
 */
export async function findSharedItems(
  ports: SharedItemPorts,
  scope: Scope,
  search: OwnerSearch,
): Promise<Item[]> {
  const byOwner = groupByOwner(await findReadable(ports, scope));
  if (byOwner.size === 0) return [];
  const found: Item[] = [];
  const owners = [...byOwner];
  for (let from = 0; from < owners.length; from += OWNERS_AT_ONCE) {
    const batch = owners.slice(from, from + OWNERS_AT_ONCE).map(async ([owner, grants]) => {
      const scopeOfOwner = { project: scope.project, user: owner };
      return { owner: scopeOfOwner, items: await search(scopeOfOwner, grants), grants };
    });
    for (const { owner, ...answer } of await Promise.all(batch)) {
      if (answer.items.length > 0) found.push(...(await confirmItems(ports, scope, owner, answer)));
    }
  }
  return found.sort((one, other) => other.score - one.score);
}

function groupByOwner(grants: readonly Grant[]): Map<string, Grant[]> {
  // The newest first: ids of grants are in the order of time.
  const all = Map.groupBy(grants.toReversed(), ({ owner }) => owner);
  return new Map([...all].slice(0, MAX_OWNERS));
}

/** The items that a grant still covers, with the texts as the store has them now. */
async function confirmItems(
  ports: SharedItemPorts,
  scope: Scope,
  owner: Scope,
  { items, grants: granting }: { readonly items: readonly Item[]; readonly grants: readonly Grant[] },
): Promise<Item[]> {
  // A process that leaves recalls to others holds the owner's memories only if a grant needs them.
  const needsMarks = granting.some(({ what }) => what.messages && !what.sensitive);
  const sensitive = needsMarks ? collectSensitiveMessages(await ports.states.of(owner)) : undefined;
  const read = await readBodies(ports, owner, items);
  const bodies = {
    ...read,
    isSensitive: (message: string) =>
      !sensitive || sensitive.has(message) || isUnread(read.messages.get(message)),
  };
  const grants = (await findReadable(ports, scope)).filter((grant) => grant.owner === owner.user);
  const tests = await Promise.all(
    grants.map(async (grant) => ({ grant, test: await compileGrant(grant.what) })),
  );
  const now = ports.clock().toISOString();
  return items.flatMap((item) => {
    const covered =
      item.type === "memory" ? confirmMemory(item, bodies, tests, now) : confirmPassage(item, bodies, tests);
    // Another user wrote it: what contains instructions is left out.
    if (!covered || ports.promptGuard.findInjections(covered.text, "brought").length > 0) return [];
    return [covered];
  });
}

interface OwnerBodies extends Pick<Ports, "replies"> {
  readonly owner: string;
  readonly memories: ReadonlyMap<string, Memory>;
  readonly messages: ReadonlyMap<string, Message>;
}

interface MarkedBodies extends OwnerBodies {
  /** Whether something sensitive was learnt from a message, by its id; true where that is not known. */
  isSensitive(message: string): boolean;
}

/** The ids of the messages from which something sensitive was learnt. */
function collectSensitiveMessages({ memories }: Pick<UserState, "memories">): Set<string> {
  const found = new Set<string>();
  for (const { sensitive, sources } of memories.values())
    if (sensitive) for (const { message } of sources) found.add(message);
  return found;
}

/** Whether a message waits to be read: it is not known yet whether it says something sensitive. */
function isUnread(message: Message | undefined): boolean {
  return message?.digest === "pending";
}

type CompiledGrants = readonly { readonly grant: Grant; readonly test: GrantTest }[];

async function readBodies(
  { store, replies }: Pick<Ports, "store" | "replies">,
  owner: Scope,
  items: readonly Item[],
): Promise<OwnerBodies> {
  const ids = items.flatMap(({ id, type }) => (type === "memory" ? [id] : []));
  const { memories } = await store.read(owner, { messages: [], memories: ids });
  const wanted = [
    ...memories.flatMap(({ sources }) => sources.map(({ message }) => message)),
    ...items.flatMap(({ id, type }) => (type === "passage" ? [id.slice(0, id.lastIndexOf("#"))] : [])),
  ];
  const { messages } = await store.read(owner, { messages: [...new Set(wanted)], memories: [] });
  return {
    replies,
    owner: owner.user,
    memories: new Map(memories.map((memory) => [memory.id, memory])),
    messages: new Map(messages.map((message) => [message.id, message])),
  };
}

function confirmMemory(
  { id, score, why }: Item,
  bodies: MarkedBodies,
  grants: CompiledGrants,
  now: string,
): Item | undefined {
  const { owner, memories, messages } = bodies;
  const memory = memories.get(id);
  const covering = memory
    ? grants.filter(({ test }) => test.coversMemory(memory, (message) => messages.get(message), now))
    : [];
  const [first] = covering;
  if (!memory || !first) return undefined;
  const withWords = covering.find(({ grant }) => grant.what.messages);
  const { grant } = withWords ?? first;
  const { kind, at, when, validFrom, validTo } = memory;
  return {
    id,
    type: "memory",
    text: toOwnersText(bodies, memory.text, owner),
    kind,
    status: "current",
    score,
    at,
    ...(when === undefined ? {} : { when }),
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    sources: withWords ? showSources(memory.sources, withWords.grant, bodies) : [],
    owner,
    grant: grant.id,
    ...(why ? { why } : {}),
  };
}

function confirmPassage(
  { id, score, why }: Item,
  bodies: MarkedBodies,
  grants: CompiledGrants,
): Item | undefined {
  const { owner, messages } = bodies;
  const message = messages.get(id.slice(0, id.lastIndexOf("#")));
  const passage = message && splitPassages(message).find((one) => one.id === id);
  if (!message || !passage) return undefined;
  const { start, end } = passage;
  const text = message.content.slice(start, end);
  const isSensitive = bodies.isSensitive(message.id);
  const covering = grants.find(({ test }) => test.coversPassage(message, text, isSensitive));
  if (!covering || text === "") return undefined;
  const spans = [{ message: message.id, start, end, quote: text }];
  return {
    id,
    type: "passage",
    text,
    status: "current",
    score,
    at: message.at,
    sources: showSources(spans, covering.grant, bodies),
    owner,
    grant: covering.grant.id,
    ...(why ? { why } : {}),
  };
}

/**
 * Sources with their speaker: the reader is not the user whose words they are. Private messages are left out, and messages from
 * which something sensitive was learnt, unless the grant covers that.
 */
function showSources(
  spans: Memory["sources"],
  { what }: Grant,
  { owner, messages, isSensitive }: MarkedBodies,
): Item["sources"] {
  return toSources({ messages }, spans)
    .filter(({ message }) => messages.get(message)?.metadata?.private !== true)
    .filter(({ message }) => what.sensitive === true || !isSensitive(message))
    .map((source) =>
      source.role === "user" && source.name === undefined ? { ...source, name: owner } : source,
    );
}

/** A memory's sentence for another reader: "the user" in it is its owner. */
export function toOwnersText({ replies }: Pick<Ports, "replies">, text: string, owner: string): string {
  return replies.nameUser(text, toOwnerName(owner));
}

/** A user's id as a name in a sentence: on one line, without what could be read as markup. */
export function toOwnerName(owner: string): string {
  return neutralizeText(owner).replace(/\s+/g, " ").trim().slice(0, 60);
}

/** A recall with shared items among the user's own, each before the first that is less relevant. */
export function mergeItems({ items }: Pick<Recall, "items">, shared: readonly Item[], limit: number): Item[] {
  const merged = [...items];
  for (const item of shared) {
    const place = merged.findIndex(({ score }) => score < item.score);
    merged.splice(place === -1 ? merged.length : place, 0, item);
  }
  return merged.slice(0, limit);
}

/** Memories and messages tested between two yields. */
const SLICE = 20;

/**
 * The ids of an owner's memories and passages that at least one of some grants covers now (ISO 8601). The store's texts
 * decide, as for every filter.
 */
export async function findGrantedUnits(
  ports: Pick<Ports, "states">,
  owner: Scope,
  granted: readonly GrantedContent[],
  now: string,
): Promise<ReadonlySet<string>> {
  const tests = await Promise.all(granted.map(compileGrant));
  const state = await ports.states.of(owner);
  const { messages, current } = state;
  const messageOf = (id: string): Message | undefined => messages.get(id);
  const covered = new Set<string>();
  await forEachInSlices(
    current.values(),
    (memory) => {
      if (tests.some((test) => test.coversMemory(memory, messageOf, now))) covered.add(memory.id);
    },
    SLICE,
  );
  if (!granted.some((what) => what.messages)) return covered;
  const sensitive = collectSensitiveMessages(state);
  await forEachInSlices(
    messages.values(),
    (message) => {
      for (const { id, start, end } of splitPassages(message)) {
        const text = message.content.slice(start, end);
        const isSensitive = isUnread(message) || sensitive.has(message.id);
        if (tests.some((test) => test.coversPassage(message, text, isSensitive))) covered.add(id);
      }
    },
    SLICE,
  );
  return covered;
}
