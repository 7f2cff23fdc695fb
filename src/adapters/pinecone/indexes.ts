import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace } from "../../ports/vector-index.ts";
import {
  callRemote,
  pollUntil,
  type RemoteFault,
  type RemoteService,
} from "../shared/model-calls/remote-call.ts";
import { toScopeHash, toShortHash } from "../shared/vector-request.ts";
import type { PineconeClient, PineconeCloud, PineconeIndex, PineconeIndexModel } from "./records.ts";

/** The tag of indexes that this adapter created, and may delete. */
const OWNER_TAG = "keepsake";

/**
 * The index for a space, created if it does not exist. Entries of other spaces are deleted. Throws `invalid_input` if an index of
 * another kind has the name.
 */
export async function prepareIndex(
  config: PineconeConfig,
  space: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<PineconeIndex> {
  const index = config.client.index({ host: await waitForHost(config, space, signal) });
  await dropOtherSpaces(config, index, space, signal);
  return index;
}

/** Deletes all entries in every index with this name. */
export async function clearAll(config: PineconeConfig, signal: AbortSignal | undefined): Promise<void> {
  for (const { host, status } of await listOwnIndexes(config, signal)) {
    // An index being created is empty, and one being deleted takes its entries with it.
    if (!status.ready) continue;
    await dropNamespaces(config, config.client.index({ host }), `${config.name}.`, signal);
  }
}

async function waitForHost(
  config: PineconeConfig,
  space: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { client, remote, cloud, region } = config;
  const name = toIndexName(config.name, space);
  const found: { host?: string } = {};
  const isReady = await pollUntil(config.createMs, signal, async () => {
    const ours = await listOwnIndexes(config, signal);
    for (const other of ours) if (other.name !== name) await evictIndex(config, other, signal);
    const model = ours.find((one) => one.name === name);
    if (model) {
      if (model.status.state !== "Terminating") checkIndexKind(model, space);
      found.host = model.host;
      return model.status.ready;
    }
    const tags = { [OWNER_TAG]: config.name };
    const kind = { dimension: space.dimensions, metric: "cosine" as const, suppressConflicts: true as const };
    const spec = { serverless: { cloud, region } };
    await callRemote(remote, signal, () => client.createIndex({ name, ...kind, spec, tags }));
    return false;
  });
  if (isReady && found.host !== undefined) return found.host;
  throw new MemoryError("unavailable", `Pinecone has not yet created the index "${name}". Try again later.`);
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

/** Deletes an index of another dimension if this adapter created it; otherwise deletes only its own namespaces. */
async function evictIndex(
  config: PineconeConfig,
  model: PineconeIndexModel,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!model.status.ready) return;
  if (model.tags?.[OWNER_TAG] === config.name) {
    await callRemote(config.remote, signal, () => config.client.deleteIndex(model.name).catch(ignoreGone));
  } else {
    await dropNamespaces(config, config.client.index({ host: model.host }), `${config.name}.`, signal);
  }
}

function checkIndexKind(model: PineconeIndexModel, { dimensions }: VectorIndexSpace): void {
  if (getIndexKind(model) === `${dimensions} cosine`) return;
  throw invalid(
    `The index "${model.name}" at Pinecone does not have ${dimensions} dimensions and cosine similarity. Delete it, or choose another name.`,
  );
}

/** The client computes these when they are read, and throws for an index without vectors. */
function getIndexKind(model: PineconeIndexModel): string {
  try {
    return `${model.dimension} ${model.metric}`;
  } catch {
    return "unknown";
  }
}

/** Each space that was ever used has a marker record. Deletes the entries of all spaces but the current one. */
async function dropOtherSpaces(
  config: PineconeConfig,
  index: PineconeIndex,
  space: VectorIndexSpace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { remote } = config;
  const marks = index.namespace(`${config.name}.spaces`);
  const listMarks = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const page of listRecordKeys(config, marks, signal)) keys.push(...page);
    return keys;
  };
  const currentName = toSpaceName(space);
  const spaceNames = await listMarks();
  for (const other of spaceNames) {
    if (other === currentName) continue;
    await dropNamespaces(config, index, toNamespacePrefix(config.name, other), signal);
    await callRemote(remote, signal, () => marks.deleteMany({ ids: [other] }).catch(ignoreGone));
  }
  if (spaceNames.includes(currentName)) return;
  const values = Array.from({ length: space.dimensions }, (_one, i) => (i === 0 ? 1 : 0));
  await callRemote(remote, signal, () =>
    marks.upsert({ records: [{ id: currentName, values, metadata: {} }] }),
  );
  await waitUntilVisible(config, signal, async () => (await listMarks()).includes(currentName));
}

/** How long after its deletion a namespace that is still listed is deleted again, in ms. */
const DROP_AGAIN_MS = 2000;

async function dropNamespaces(
  config: PineconeConfig,
  index: PineconeIndex,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const droppedAt = new Map<string, number>();
  await waitUntilVisible(config, signal, async () => {
    const remaining = await listNamespaces(config, index, prefix, signal);
    for (const name of remaining) {
      // A deleted namespace is still listed for a while. Later, another process has written to it again.
      if (performance.now() - (droppedAt.get(name) ?? Number.NEGATIVE_INFINITY) < DROP_AGAIN_MS) continue;
      await callRemote(config.remote, signal, () => index.namespace(name).deleteAll().catch(ignoreGone));
      droppedAt.set(name, performance.now());
    }
    return remaining.length === 0 || config.settleMs === 0;
  });
}

/** The namespaces that contain entries. */
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

/** Waits until reads show a write. Throws `unavailable` if they do not in time. */
export async function waitUntilVisible(
  { settleMs }: PineconeConfig,
  signal: AbortSignal | undefined,
  isShown: () => Promise<boolean>,
): Promise<void> {
  if (await pollUntil(settleMs, signal, isShown)) return;
  if (settleMs === 0) return;
  throw new MemoryError(
    "unavailable",
    `Pinecone accepted a change but does not show it after ${settleMs} ms. Try again later.`,
  );
}

export function ignoreGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

/** The settings of the index, and how to call Pinecone. */
export interface PineconeConfig {
  readonly client: PineconeClient;
  readonly remote: RemoteService;
  /** The prefix of indexes and namespaces. */
  readonly name: string;
  readonly cloud: PineconeCloud;
  readonly region: string;
  /** How long a write may take to become visible, in ms; 0 to skip the check. */
  readonly settleMs: number;
  /** How long a new index may take to become ready, in ms. */
  readonly createMs: number;
}

/** A ready index and its current space. */
export interface PreparedPineconeIndex {
  readonly index: PineconeIndex;
  readonly space: VectorIndexSpace;
}

/** Pinecone's page size limit. */
const PAGE_RECORDS = 100;

/** One index for each number of dimensions, because an index accepts only one. */
const toIndexName = (name: string, { dimensions }: VectorIndexSpace): string => `${name}-${dimensions}`;

/** A namespace for each user of each space, so that the server itself separates users. */
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

/** The client uses one name for 400 and 403; these words occur in messages of the second. */
const NOT_ALLOWED = /quota|limit reached|forbidden|permission|not allowed|deletion protection|upgrade/i;

/**
 * Translates an error of Pinecone's client by its name, because errors have no status. Its message is not repeated, because it
 * quotes the request. The client retries 5xx by itself, and 429 never.
 */
export function toPineconeFault(error: unknown): RemoteFault {
  const { name, message } = error instanceof Error ? error : new Error();
  const passes = TRANSIENT_ERRORS[name];
  if (passes !== undefined) return { passes };
  if (name === "PineconeUnmappedHttpError") return toFaultByStatus(/Status: (\d{3})\./.exec(message)?.[1]);
  if (name === "PineconeAuthorizationError") {
    return { stays: new MemoryError("forbidden", "Pinecone rejects the key. Check PINECONE_API_KEY.") };
  }
  if (name === "PineconePaymentRequiredError") {
    return { stays: new MemoryError("unavailable", "Pinecone requires a payment. Check its billing.") };
  }
  if (name === "PineconeNotFoundError") {
    return { stays: new MemoryError("unavailable", "Pinecone no longer has the index. Rebuild it.") };
  }
  if (name === "PineconeBadRequestError" && NOT_ALLOWED.test(message)) {
    return {
      stays: new MemoryError(
        "forbidden",
        "Pinecone does not allow this. Check the limits of the plan, the index protection, and the permissions of the key.",
      ),
    };
  }
  return name.startsWith("Pinecone")
    ? { stays: invalid(`Pinecone rejects the request (${name}).`) }
    : { passes: "gave an invalid answer" };
}

function toFaultByStatus(status: string | undefined): RemoteFault {
  const code = Number(status);
  if (code === 408 || code === 425 || code === 429 || code >= 500) return { passes: `answered ${code}` };
  return {
    stays: new MemoryError("unavailable", `Pinecone answered ${code}. Check that the address is Pinecone's.`),
  };
}

/** Whether there was nothing to delete: no such namespace, or another request was faster. */
const isGone = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "PineconeNotFoundError" || error.name === "PineconeFailedPreconditionError");
