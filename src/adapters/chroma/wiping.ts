import type { ChromaRequester } from "./asking.ts";
import type { ChromaClientLike, ChromaCollectionLike } from "./client.ts";

interface WipeOptions {
  /** Whether documents are to be written over, too. */
  readonly withTexts: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Nobody's ids: those of memories are UUIDs, those of passages have a "#" in them. */
const UNUSED_IDS = ["-", "--"];

/**
 * Takes entries away so that their vectors are gone from the disk as well. What Chroma deletes it only marks: the vector
 * stays in the file of its index, and the whole file stays when the collection is deleted. So each vector is
 * written over by one that means nothing before its entry is deleted. Nothing where the collection itself is not there.
 */
export async function wipeEntries(
  asking: ChromaRequester,
  collection: ChromaCollectionLike,
  ids: readonly string[],
  { withTexts, signal }: WipeOptions,
): Promise<true | undefined> {
  const found = await asking.requestInOrder(
    collection.name,
    () => collection.get({ ids: [...ids], include: [] }),
    signal,
  );
  if (!found) return undefined;
  const there = found.ids;
  if (there.length === 0) return true;
  const dimensions = Number(collection.metadata?.dimensions);
  const blank = {
    ids: [...there],
    embeddings: there.map(() => createNoise(dimensions)),
    metadatas: there.map(() => ({ type: "", owner: "", at: 0, kind: "", session: "" })),
    ...(withTexts ? { documents: there.map(() => "-") } : {}),
  };
  await asking.requestInOrder(collection.name, () => collection.update(blank), signal);
  // The last that was deleted keeps its name in Chroma's log until something else is.
  for (const those of [[...there], UNUSED_IDS]) {
    await asking.requestInOrder(collection.name, () => collection.delete({ ids: [...those] }), signal);
  }
  return true;
}

/** Takes a collection away with all that it holds, so many entries at a time. What was broken off goes on where it stopped. */
export async function wipeCollection(
  asking: ChromaRequester,
  client: ChromaClientLike,
  collection: ChromaCollectionLike,
  { limit, ...how }: WipeOptions & { readonly limit: number },
): Promise<void> {
  for (;;) {
    const page = await asking.requestInOrder(
      collection.name,
      () => collection.get({ limit, include: [] }),
      how.signal,
    );
    if (!page || page.ids.length === 0) break;
    await wipeEntries(asking, collection, page.ids, how);
  }
  await asking.requestInOrder(
    collection.name,
    () => client.deleteCollection({ name: collection.name }),
    how.signal,
  );
}

/** Any direction: equal ones would crowd one corner of the index and slow it down. */
function createNoise(dimensions: number): number[] {
  const parts = Array.from({ length: dimensions }, () => Math.random() - 0.5);
  const length = Math.hypot(...parts) || 1;
  return parts.map((part) => part / length);
}
