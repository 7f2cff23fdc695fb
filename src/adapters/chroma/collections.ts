import { createHash } from "node:crypto";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace, VectorIndexUser } from "../../ports/follower.ts";
import type { ChromaRequester } from "./asking.ts";
import type { ChromaClientLike, ChromaCollectionLike, ChromaHnsw } from "./client.ts";

/**
 * A collection for each user. One for all, asked with a filter, is ten times slower at 100,000 entries, and its index,
 * which is approximate, loses what the filter leaves over.
 */
export interface ChromaCollections {
  /**
   * A user's; nothing where there is none, unless it is to be made. `unavailable` where it would be the first of a server that
   * came back empty: whoever fills it must know.
   */
  of(user: VectorIndexUser, make: boolean, signal?: AbortSignal): Promise<ChromaCollectionLike | undefined>;
  /** Forgets what is known of one: the server says that it is not there. */
  forget(user: VectorIndexUser): void;
  /** Makes the collection by which a server is known that was prepared for this space. */
  mark(space: VectorIndexSpace, signal?: AbortSignal): Promise<void>;
  /** `unavailable` where that is gone. */
  checkMark(signal?: AbortSignal): Promise<void>;
  /** Those that we made; of other spaces alone, where one is named. */
  ours(except?: VectorIndexSpace, signal?: AbortSignal): Promise<ChromaCollectionLike[]>;
}

/**
 * `sync_threshold` 2 has Chroma bring its index to the disk with each request, and empty its log behind it. With the 1,000 that
 * Chroma has of itself, the vectors that an erasure writes over would stay in the file until so much else has come.
 */
const HNSW: ChromaHnsw = {
  space: "cosine",
  ef_construction: 100,
  ef_search: 500,
  max_neighbors: 16,
  sync_threshold: 2,
  batch_size: 2,
};
const MARK_FIELD = "keepsake";
/** So many handles are kept; the others are asked for again. */
const MOST_KEPT = 2000;
const PAGE = 500;

export function createChromaCollections(
  client: ChromaClientLike,
  asking: ChromaRequester,
  prefix: string,
  space: () => VectorIndexSpace,
): ChromaCollections {
  const kept = new Map<string, ChromaCollectionLike>();
  const nameOf = (user: VectorIndexUser): string =>
    `${prefix}-${hashToDigits(toSpaceKey(space()), 8)}-${hashToDigits(toScopeKey(user), 40)}`;
  const markOf = (of: VectorIndexSpace): string => `${prefix}-${hashToDigits(toSpaceKey(of), 8)}-prepared`;

  const keep = (name: string, one: ChromaCollectionLike): ChromaCollectionLike => {
    const [oldest] = kept.keys();
    if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(name, one);
    return one;
  };

  const made = (name: string, of: VectorIndexSpace, signal?: AbortSignal) => {
    const metadata = { [MARK_FIELD]: prefix, dimensions: of.dimensions };
    const wanted = { name, embeddingFunction: null, configuration: { hnsw: HNSW }, metadata };
    return asking.requestInOrder(name, () => client.getOrCreateCollection(wanted), signal);
  };
  const checkMark = async (signal?: AbortSignal): Promise<void> => {
    if (await asking.request(() => client.getCollection({ name: markOf(space()) }), signal)) return;
    throw new MemoryError("unavailable", "Chroma has lost what it was given. It is filled again.");
  };

  return {
    forget: (user) => void kept.delete(nameOf(user)),
    async of(user, make, signal) {
      const name = nameOf(user);
      const known = kept.get(name);
      if (known) return known;
      if (make) await checkMark(signal);
      const found = await (make
        ? made(name, space(), signal)
        : asking.request(() => client.getCollection({ name }), signal));
      return found && keep(name, checkCollection(found, prefix));
    },
    async mark(of, signal) {
      const found = await made(markOf(of), of, signal);
      if (found) checkCollection(found, prefix);
    },
    checkMark,
    async ours(except, signal) {
      const all: ChromaCollectionLike[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const page =
          (await asking.request(() => client.listCollections({ limit: PAGE, offset }), signal)) ?? [];
        all.push(...page.filter((one) => one.metadata?.[MARK_FIELD] === prefix));
        if (page.length < PAGE) break;
      }
      const other = except && hashToDigits(toSpaceKey(except), 8);
      return all.filter(({ name }) => {
        const of = /^-([0-9a-f]{8})-(?:[0-9a-f]{40}|prepared)$/.exec(name.slice(prefix.length))?.[1];
        return of !== undefined && of !== other;
      });
    },
  };
}

/** A collection of such a name that we did not make, or that measures otherwise, is somebody else's. */
function checkCollection(one: ChromaCollectionLike, prefix: string): ChromaCollectionLike {
  if (one.metadata?.[MARK_FIELD] === prefix && one.configuration?.hnsw?.space === "cosine") return one;
  throw invalid(`The collection "${one.name}" in Chroma is not Keepsake's. Choose another prefix.`);
}

/** Names in Chroma are plain ASCII and at most 512 characters; and nobody's name is to be read in one. */
function hashToDigits(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

function toSpaceKey({ fingerprint, dimensions }: VectorIndexSpace): string {
  return JSON.stringify([fingerprint, dimensions]);
}
