import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace } from "../../ports/vector-index.ts";
import { callRemote, pollUntil, type RemoteFault, type RemoteService } from "../shared/remote-call.ts";
import { toScopeHash, toShortHash } from "../shared/vector-request.ts";
import type { PineconeClient, PineconeCloud, PineconeIndex, PineconeIndexModel } from "./records.ts";

/** The tag of indexes that this adapter made, and may drop. */
const OWNER_TAG = "keepsake";

/**
 * The index for a space, made where it is missing. What was put for other spaces is gone afterwards. `invalid_input` where the
 * name is taken by an index of another kind.
 */
export async function prepareIndex(
  place: PineconeConfig,
  space: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<PineconeIndex> {
  const index = place.client.index({ host: await waitForHost(place, space, signal) });
  await dropOtherSpaces(place, index, space, signal);
  return index;
}

/** Takes away all that was ever put, in every index of this name. */
export async function clearAll(place: PineconeConfig, signal: AbortSignal | undefined): Promise<void> {
  for (const { host, status } of await listOwnIndexes(place, signal)) {
    // One that is being made holds nothing, and one that is going takes all with it.
    if (!status.ready) continue;
    await dropNamespaces(place, place.client.index({ host }), `${place.name}.`, signal);
  }
}

async function waitForHost(
  place: PineconeConfig,
  space: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { client, remote, cloud, region } = place;
  const name = toIndexName(place.name, space);
  const found: { host?: string } = {};
  const isReady = await pollUntil(place.createMs, signal, async () => {
    const ours = await listOwnIndexes(place, signal);
    for (const other of ours) if (other.name !== name) await evictIndex(place, other, signal);
    const model = ours.find((one) => one.name === name);
    if (model) {
      if (model.status.state !== "Terminating") checkIndexKind(model, space);
      found.host = model.host;
      return model.status.ready;
    }
    const tags = { [OWNER_TAG]: place.name };
    const kind = { dimension: space.dimensions, metric: "cosine" as const, suppressConflicts: true as const };
    const spec = { serverless: { cloud, region } };
    await callRemote(remote, signal, () => client.createIndex({ name, ...kind, spec, tags }));
    return false;
  });
  if (isReady && found.host !== undefined) return found.host;
  throw new MemoryError("unavailable", `Pinecone takes long to make the index "${name}". Try again later.`);
}

async function listOwnIndexes(
  { client, remote, name }: PineconeConfig,
  signal: AbortSignal | undefined,
): Promise<PineconeIndexModel[]> {
  const { indexes = [] } = await callRemote(remote, signal, () => client.listIndexes());
  return indexes.filter(
    (one) => one.name.startsWith(`${name}-`) && /^\d+$/.test(one.name.slice(name.length + 1)),
  );
}

/** An index of another number of dimensions: dropped where we made it, else emptied of what is ours. */
async function evictIndex(
  place: PineconeConfig,
  model: PineconeIndexModel,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!model.status.ready) return;
  if (model.tags?.[OWNER_TAG] === place.name) {
    await callRemote(place.remote, signal, () => place.client.deleteIndex(model.name).catch(ignoreGone));
  } else {
    await dropNamespaces(place, place.client.index({ host: model.host }), `${place.name}.`, signal);
  }
}

function checkIndexKind(model: PineconeIndexModel, { dimensions }: VectorIndexSpace): void {
  if (getIndexKind(model) === `${dimensions} cosine`) return;
  throw invalid(
    `The index "${model.name}" at Pinecone is none of ${dimensions} dimensions and cosine similarity. Drop it, or give another name.`,
  );
}

/** The client works these out when they are read, and throws for an index without vectors. */
function getIndexKind(model: PineconeIndexModel): string {
  try {
    return `${model.dimension} ${model.metric}`;
  } catch {
    return "unknown";
  }
}

/** The spaces that were ever put are known by one record each; what belongs to others than the present one goes. */
async function dropOtherSpaces(
  place: PineconeConfig,
  index: PineconeIndex,
  space: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { remote } = place;
  const marks = index.namespace(`${place.name}.spaces`);
  const known = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const page of listRecordKeys(place, marks, signal)) keys.push(...page);
    return keys;
  };
  const own = toSpaceName(space);
  const all = await known();
  for (const other of all) {
    if (other === own) continue;
    await dropNamespaces(place, index, toNamespacePrefix(place.name, other), signal);
    await callRemote(remote, signal, () => marks.deleteMany({ ids: [other] }).catch(ignoreGone));
  }
  if (all.includes(own)) return;
  const values = Array.from({ length: space.dimensions }, (_one, i) => (i === 0 ? 1 : 0));
  await callRemote(remote, signal, () => marks.upsert({ records: [{ id: own, values, metadata: {} }] }));
  await waitUntilVisible(place, signal, async () => (await known()).includes(own));
}

async function dropNamespaces(
  place: PineconeConfig,
  index: PineconeIndex,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const dropped = new Set<string>();
  await waitUntilVisible(place, signal, async () => {
    const left = await listNamespaces(place, index, prefix, signal);
    for (const name of left) {
      // Once is enough: a namespace is listed for a while after it went.
      if (dropped.has(name)) continue;
      await callRemote(place.remote, signal, () => index.namespace(name).deleteAll().catch(ignoreGone));
      dropped.add(name);
    }
    return left.length === 0 || place.settleMs === 0;
  });
}

/** The namespaces that hold anything. */
async function listNamespaces(
  { remote }: PineconeConfig,
  index: PineconeIndex,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const names: string[] = [];
  let next: string | undefined;
  do {
    const token = next === undefined ? {} : { paginationToken: next };
    const page = await callRemote(remote, signal, () =>
      index.listNamespaces({ prefix, limit: PAGE_RECORDS, ...token }),
    );
    next = page.pagination?.next;
    for (const { name, recordCount } of page.namespaces ?? []) {
      if (name?.startsWith(prefix) && Number(recordCount ?? 1) > 0) names.push(name);
    }
  } while (next);
  return names;
}

/** Waits until reads show what was written; `unavailable` where they do not in time. */
export async function waitUntilVisible(
  { settleMs }: PineconeConfig,
  signal: AbortSignal | undefined,
  isShown: () => Promise<boolean>,
): Promise<void> {
  if (await pollUntil(settleMs, signal, isShown)) return;
  if (settleMs === 0) return;
  throw new MemoryError(
    "unavailable",
    `Pinecone has taken a change in and does not show it after ${settleMs} ms. Try again later.`,
  );
}

export function ignoreGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

/** Where in Pinecone a follower keeps its entries, and how it asks. */
export interface PineconeConfig {
  readonly client: PineconeClient;
  readonly remote: RemoteService;
  /** Names of indexes and namespaces begin with it. */
  readonly name: string;
  readonly cloud: PineconeCloud;
  readonly region: string;
  /** So long a write may take until reads show it, in ms; 0 where nobody looks. */
  readonly settleMs: number;
  /** So long a new index may take until it is ready, in ms. */
  readonly createMs: number;
}

/** An index that is ready, and the space that it holds now. */
export interface PreparedPineconeIndex {
  readonly index: PineconeIndex;
  readonly space: VectorIndexSpace;
}

/** Pinecone lists that many at most. */
const PAGE_RECORDS = 100;

/** One index for each number of dimensions, for an index takes no others. */
const toIndexName = (name: string, { dimensions }: VectorIndexSpace): string => `${name}-${dimensions}`;

/** A namespace for each user of each space: its walls are the server's own. */
export const toNamespaceName = (
  name: string,
  space: VectorIndexSpace,
  user: { readonly project: string; readonly user: string },
): string => `${toNamespacePrefix(name, toSpaceName(space))}${toScopeHash(user)}`;

const toNamespacePrefix = (name: string, space: string): string => `${name}.${space}.`;

const toSpaceName = ({ fingerprint, dimensions }: VectorIndexSpace): string =>
  toShortHash(JSON.stringify([fingerprint, dimensions])).slice(0, 16);

/** The keys of all records of a namespace, page by page. */
export async function* listRecordKeys(
  { remote }: PineconeConfig,
  namespace: PineconeIndex,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[], void, void> {
  let next: string | undefined;
  do {
    const token = next === undefined ? {} : { paginationToken: next };
    const page = await callRemote(remote, signal, () =>
      namespace.listPaginated({ limit: PAGE_RECORDS, ...token }),
    );
    next = page.pagination?.next;
    const keys = (page.vectors ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]));
    if (keys.length > 0) yield keys;
  } while (next);
}

const TRANSIENT_ERRORS: { readonly [name: string]: string } = {
  PineconeConnectionError: "cannot be reached",
  PineconeMaxRetriesExceededError: "answered 5xx several times",
  PineconeInternalServerError: "answered 500",
  PineconeUnavailableError: "answered 503",
  PineconeConflictError: "answered 409",
};

/** The client gives 400 and 403 one name; these words stand in answers of the second kind. */
const NOT_ALLOWED = /quota|limit reached|forbidden|permission|not allowed|deletion protection|upgrade/i;

/**
 * What an error of Pinecone's client means, by its name: errors carry no status. Its words are not repeated, for they quote what
 * was sent. The client tries 5xx again by itself and 429 never.
 */
export function toPineconeFault(error: unknown): RemoteFault {
  const { name, message } = error instanceof Error ? error : new Error();
  const passes = TRANSIENT_ERRORS[name];
  if (passes !== undefined) return { passes };
  if (name === "PineconeUnmappedHttpError") return toFaultByStatus(/Status: (\d{3})\./.exec(message)?.[1]);
  if (name === "PineconeAuthorizationError") {
    return { stays: new MemoryError("forbidden", "Pinecone refuses the key. Check PINECONE_API_KEY.") };
  }
  if (name === "PineconePaymentRequiredError") {
    return { stays: new MemoryError("unavailable", "Pinecone wants to be paid. Look at its billing.") };
  }
  if (name === "PineconeNotFoundError") {
    return { stays: new MemoryError("unavailable", "Pinecone no longer has the index. Build it anew.") };
  }
  if (name === "PineconeBadRequestError" && NOT_ALLOWED.test(message)) {
    return {
      stays: new MemoryError(
        "forbidden",
        "Pinecone does not allow it: a limit of the plan, a protected index, or what this key may do.",
      ),
    };
  }
  return name.startsWith("Pinecone")
    ? { stays: invalid(`Pinecone refuses what it was sent (${name}).`) }
    : { passes: "gave an answer that is none" };
}

function toFaultByStatus(status: string | undefined): RemoteFault {
  const code = Number(status);
  if (code === 408 || code === 425 || code === 429 || code >= 500) return { passes: `answered ${code}` };
  return { stays: new MemoryError("unavailable", `Pinecone answers ${code}. Is it Pinecone?`) };
}

/** Whether an error says that there was nothing to delete: no such namespace, or another request was quicker. */
const isGone = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "PineconeNotFoundError" || error.name === "PineconeFailedPreconditionError");
