import { createHash } from "node:crypto";
import { invalid } from "../../errors.ts";
import { checkKey, checkNamespace, matchesConditions, matchesItemFilter } from "./item-filters.ts";

/** Fields of a stored item, for filters and for the way back. */
interface ItemMetadata {
  readonly [field: string]: string | readonly string[];
}

/** A memory that holds an item. */
interface ItemMemory {
  readonly id: string;
  readonly text: string;
  readonly at: string;
  readonly storedAt: string;
  readonly metadata?: { readonly [field: string]: unknown };
}

type ItemWhere = { readonly [field: string]: string | { readonly $exists: true } };

/** The calls of a user's memory that the store uses. */
interface ItemScope {
  list(options: { readonly where: ItemWhere; readonly limit: number }): AsyncIterable<ItemMemory>;
  add(memory: { text: string; kind: "context"; metadata: ItemMetadata }): Promise<unknown>;
  update(id: string, changes: { text: string; metadata: ItemMetadata }): Promise<unknown>;
  forget(what: { readonly ids: readonly string[] }): Promise<unknown>;
  recall(
    query: string,
    options: {
      readonly where: ItemWhere;
      readonly types: readonly ["memory"];
      readonly limit: number;
      readonly shared: false;
    },
  ): Promise<{ readonly items: readonly { readonly id: string; readonly score: number }[] }>;
}

/** The calls of a memory that the store uses. `createMemory` gives them. */
export interface ItemMemories {
  scope(scope: { readonly user: string; readonly project: string }): ItemScope;
  users(project: string): Promise<readonly string[]>;
}

/** Options of the store. */
export interface LangGraphStoreOptions {
  /** The place of the user's name in a namespace (default 0): 1 for `["memories", "ana"]`. */
  readonly userAt?: number;
  /** The user who gets items whose namespace has no such place (default "langgraph-shared"). */
  readonly sharedUser?: string;
  /** The project (default "default"). */
  readonly project?: string;
}

/** The value of an item: anything that JSON can hold. */
export type ItemValue = Record<string, unknown>;

/** An item of the store. */
export interface LangGraphItem {
  value: ItemValue;
  key: string;
  namespace: string[];
  createdAt: Date;
  updatedAt: Date;
}

/** An item that a search found. `score` is 0 to 1, and absent without a query. */
export interface FoundLangGraphItem extends LangGraphItem {
  score?: number;
}

interface PutOperation {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: ItemValue | null;
  readonly index?: false | readonly string[];
}

interface SearchOperation {
  readonly namespacePrefix: readonly string[];
  readonly filter?: ItemValue;
  readonly limit?: number;
  readonly offset?: number;
  readonly query?: string;
}

interface NamespacesOperation {
  readonly matchConditions?: readonly { readonly matchType: string; readonly path: readonly string[] }[];
  readonly maxDepth?: number;
  readonly limit?: number;
  readonly offset?: number;
}

/** An operation of a batch. */
export type StoreOperation =
  | PutOperation
  | Omit<PutOperation, "value">
  | SearchOperation
  | NamespacesOperation;

/** A store for `compile({ store })` of LangGraph: its `BaseStore`. */
export interface LangGraphStore {
  /** Gives an item, or null. */
  get(namespace: string[], key: string): Promise<LangGraphItem | null>;
  /**
   * Stores an item, or a new version of it. With `index: false`, no search with a query finds it. Otherwise all of its value is
   * searched, whatever fields `index` names.
   */
  put(namespace: string[], key: string, value: ItemValue, index?: false | string[]): Promise<void>;
  /** Erases an item with all its versions. */
  delete(namespace: string[], key: string): Promise<void>;
  /** Finds items under a namespace: the newest first, or those that are relevant to `query`, best first. */
  search(
    namespacePrefix: string[],
    options?: { filter?: ItemValue; limit?: number; offset?: number; query?: string },
  ): Promise<FoundLangGraphItem[]>;
  /** Lists the namespaces that have items, by the alphabet. */
  listNamespaces(options?: {
    prefix?: string[];
    suffix?: string[];
    maxDepth?: number;
    limit?: number;
    offset?: number;
  }): Promise<string[][]>;
  /**
   * Runs operations: first those that read, then those that write. Gives what each gives, in their order, in the types that
   * the caller names.
   */
  batch<Results extends readonly unknown[]>(operations: readonly StoreOperation[]): Promise<Results>;
  start(): void;
  stop(): void;
}

const SHARED_USER = "langgraph-shared";
const MAX_FOUND = 1000;
const PAGE_SIZE = 1000;

/**
 * Makes a memory the long-term store of LangGraph. Each item is a memory of the user whom its namespace names, so erasing
 * all of that user erases it too. `delete` erases.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { toLangGraphStore } from "keepsake/adapters/langgraph";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const store = toLangGraphStore(memory, { userAt: 1 });
 * await store.put(["memories", "ana"], "food", { text: "Ana likes pizza with anchovies." });
 * const [found] = await store.search(["memories", "ana"], { query: "What pizza does Ana like?" });
 * console.log(found?.key, found?.value);
 * await store.delete(["memories", "ana"], "food");
 * console.log(await store.get(["memories", "ana"], "food"));
 * ```
 *
 * ```text
 * food { text: 'Ana likes pizza with anchovies.' }
 * null
 * ```
 */
export function toLangGraphStore(memory: ItemMemories, options: LangGraphStoreOptions = {}): LangGraphStore {
  const items = { memory, userAt: 0, sharedUser: SHARED_USER, project: "default", ...options };
  let lastWrite: Promise<unknown> = Promise.resolve();
  const write = (put: PutOperation): Promise<void> => {
    const written = lastWrite.then(() => writeItem(items, put));
    lastWrite = written.catch(() => {});
    return written;
  };
  const run = async (operations: readonly StoreOperation[]): Promise<unknown[]> => {
    const writes = new Map<string, PutOperation>();
    const results: unknown[] = [];
    for (const operation of operations) {
      if ("value" in operation) {
        checkNamespace(operation.namespace, "read");
        checkKey(operation.key);
        // Of several writes of an item in a batch, the last one counts.
        writes.set(JSON.stringify([operation.namespace, operation.key]), operation);
        results.push(undefined);
      } else if ("namespacePrefix" in operation) results.push(await searchItems(items, operation));
      else if ("namespace" in operation) results.push(await readItem(items, operation));
      else results.push(await listNamespaces(items, operation));
    }
    for (const operation of writes.values()) await write(operation);
    return results;
  };
  return {
    get: (namespace, key) => readItem(items, { namespace, key }),
    async put(namespace, key, value, index) {
      checkNamespace(namespace, "write");
      await run([{ namespace, key, value, ...(index === undefined ? {} : { index }) }]);
    },
    async delete(namespace, key) {
      await run([{ namespace, key, value: null }]);
    },
    search: (namespacePrefix, wanted = {}) => searchItems(items, { namespacePrefix, ...wanted }),
    listNamespaces({ prefix, suffix, limit = 100, ...wanted } = {}) {
      const matchConditions = [
        ...(prefix ? [{ matchType: "prefix", path: prefix }] : []),
        ...(suffix ? [{ matchType: "suffix", path: suffix }] : []),
      ];
      return listNamespaces(items, { matchConditions, limit, ...wanted });
    },
    batch: <Results extends readonly unknown[]>(operations: readonly StoreOperation[]) =>
      run(operations) as Promise<readonly unknown[]> as Promise<Results>,
    start() {},
    stop() {},
  };
}

type StoredItems = { readonly memory: ItemMemories } & Required<LangGraphStoreOptions>;

/** The users whose memories may have items under a namespace. */
async function findUsers(
  { memory, userAt, project, sharedUser }: StoredItems,
  namespace: readonly string[],
): Promise<ItemScope[]> {
  const user = namespace[userAt];
  const users = user === undefined ? [...new Set([...(await memory.users(project)), sharedUser])] : [user];
  return users.map((one) => memory.scope({ user: one, project }));
}

function scopeOf(
  { memory, userAt, project, sharedUser }: StoredItems,
  namespace: readonly string[],
): ItemScope {
  return memory.scope({ user: namespace[userAt] ?? sharedUser, project });
}

type ItemName = Pick<PutOperation, "namespace" | "key">;

/** An id of a name, so that a filter of metadata finds it whatever its length is. */
const toId = (name: unknown): string => createHash("sha256").update(JSON.stringify(name)).digest("base64url");

async function findMemories(scope: ItemScope, where: ItemWhere): Promise<ItemMemory[]> {
  const memories: ItemMemory[] = [];
  for await (const memory of scope.list({ where, limit: PAGE_SIZE })) memories.push(memory);
  return memories;
}

async function writeItem(items: StoredItems, { namespace, key, value, index }: PutOperation): Promise<void> {
  const scope = scopeOf(items, namespace);
  const name = [namespace, key];
  const [known, ...others] = await findMemories(scope, { langgraph_item: toId(name) });
  if (value === null) {
    const ids = [known, ...others].flatMap((one) => one?.id ?? []);
    if (ids.length > 0) await scope.forget({ ids });
    return;
  }
  const text = `${JSON.stringify(name)}\n${toJson(value)}`;
  // Every prefix is there, so that a filter of metadata finds what lies under it.
  const prefixes = Array.from({ length: namespace.length + 1 }, (_, i) => toId(namespace.slice(0, i)));
  const metadata = {
    langgraph_item: toId(name),
    langgraph_under: prefixes,
    langgraph_index: index === false ? "none" : "all",
  };
  if (known) await scope.update(known.id, { text, metadata });
  else await scope.add({ text, kind: "context", metadata });
}

function toJson(value: ItemValue): string {
  if (typeof value !== "object" || Array.isArray(value))
    throw invalid("The value of an item must be an object.");
  // No store accepts this character in a text.
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

/** Reads an item. Undefined for a memory that was edited by hand, so that it is none any more. */
function parseItem({ text, at, storedAt }: ItemMemory): LangGraphItem | undefined {
  const end = text.indexOf("\n");
  try {
    const [namespace, key] = JSON.parse(text.slice(0, end)) as [string[], string];
    const value = JSON.parse(text.slice(end + 1)) as ItemValue;
    return { value, key, namespace, createdAt: new Date(at), updatedAt: new Date(storedAt) };
  } catch {
    return undefined;
  }
}

async function readItem(items: StoredItems, { namespace, key }: ItemName): Promise<LangGraphItem | null> {
  checkNamespace(namespace, "read");
  checkKey(key);
  const [memory] = await findMemories(scopeOf(items, namespace), { langgraph_item: toId([namespace, key]) });
  return (memory && parseItem(memory)) ?? null;
}

async function searchItems(items: StoredItems, wanted: SearchOperation): Promise<FoundLangGraphItem[]> {
  const { namespacePrefix, filter = {}, limit = 10, offset = 0, query = "" } = wanted;
  checkNamespace(namespacePrefix, "read");
  const where = { langgraph_under: toId(namespacePrefix) };
  const found: FoundLangGraphItem[] = [];
  for (const scope of await findUsers(items, namespacePrefix)) {
    const memories = await findMemories(scope, where);
    const scores = query.trim() === "" ? undefined : await scoreMemories(scope, query, where);
    for (const memory of memories) {
      const item = parseItem(memory);
      const score = scores?.get(memory.id);
      const isMissed = scores && (score === undefined || memory.metadata?.langgraph_index === "none");
      if (!item || isMissed || !matchesItemFilter(item.value, filter)) continue;
      found.push(score === undefined ? item : { ...item, score });
    }
  }
  found.sort((one, other) => (other.score ?? 0) - (one.score ?? 0) || +other.updatedAt - +one.updatedAt);
  return found.slice(offset, offset + limit);
}

/** The scores of the memories that are relevant to a query, by id. */
async function scoreMemories(
  scope: ItemScope,
  query: string,
  where: ItemWhere,
): Promise<Map<string, number>> {
  const { items } = await scope.recall(query, { where, types: ["memory"], limit: MAX_FOUND, shared: false });
  return new Map(items.map(({ id, score }) => [id, score]));
}

async function listNamespaces(items: StoredItems, wanted: NamespacesOperation): Promise<string[][]> {
  const { matchConditions = [], maxDepth, limit = Number.POSITIVE_INFINITY, offset = 0 } = wanted;
  const prefix = matchConditions.find(({ matchType }) => matchType === "prefix")?.path ?? [];
  const known = new Map<string, string[]>();
  // A prefix with "*" before the user's place may mean every user.
  const place = prefix.includes("*") ? [] : prefix;
  for (const scope of await findUsers(items, place)) {
    for (const memory of await findMemories(scope, { langgraph_under: toId(place) })) {
      const namespace = parseItem(memory)?.namespace ?? [];
      if (namespace.length === 0 || !matchesConditions(namespace, matchConditions)) continue;
      const shown = namespace.slice(0, maxDepth);
      known.set(shown.join(":"), shown);
    }
  }
  const sorted = [...known].sort(([one], [other]) => one.localeCompare(other));
  return sorted.slice(offset, offset + limit).map(([, namespace]) => namespace);
}
