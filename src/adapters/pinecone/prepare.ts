import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace } from "../../ports/follower.ts";
import { callRemote, pollUntil } from "../shared/remote.ts";
import type { PineconeIndex, PineconeIndexModel } from "./client.ts";
import {
  listRecordKeys,
  PAGE_RECORDS,
  type PineconeConfig,
  toIndexName,
  toNamespacePrefix,
  toSpaceName,
} from "./place.ts";
import { isGone } from "./troubles.ts";

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
