import { createHash } from "node:crypto";
import { scopeKey } from "../../domain/scope.ts";
import { invalid } from "../../errors.ts";
import type { FollowerSpace, FollowerUser } from "../../ports/follower.ts";
import type { Asking } from "./asking.ts";
import type { ChromaClientLike, ChromaCollectionLike, ChromaHnsw } from "./client.ts";

/**
 * A collection for each user. One for all, asked with a filter, is ten times slower at 100,000 entries, and its index,
 * which is approximate, loses what the filter leaves over.
 */
export interface Collections {
  /** A user's; nothing where there is none, unless it is to be made. */
  of(user: FollowerUser, make: boolean, signal?: AbortSignal): Promise<ChromaCollectionLike | undefined>;
  nameOf(user: FollowerUser): string;
  /** Forgets what is known of one: the server says that it is not there. */
  forget(user: FollowerUser): void;
  /** Those that we made; of other spaces alone, where one is named. */
  ours(except?: FollowerSpace, signal?: AbortSignal): Promise<ChromaCollectionLike[]>;
}

/**
 * `sync_threshold` 2 has Chroma bring its index to the disk with each request, and empty its log behind it. With the 1,000 that
 * Chroma has of itself, the vectors that an erasure writes over would stay in the file until so much else has come.
 */
const HNSW: ChromaHnsw = {
  space: "cosine",
  ef_construction: 100,
  ef_search: 300,
  max_neighbors: 16,
  sync_threshold: 2,
  batch_size: 2,
};
const MARK = "keepsake";
/** So many handles are kept; the others are asked for again. */
const MOST_KEPT = 2000;
const PAGE = 500;

export function collections(
  client: ChromaClientLike,
  asking: Asking,
  prefix: string,
  space: () => FollowerSpace,
): Collections {
  const kept = new Map<string, ChromaCollectionLike>();
  const nameOf = (user: FollowerUser): string =>
    `${prefix}-${shortly(spaceKey(space()), 8)}-${shortly(scopeKey(user), 40)}`;

  const keep = (name: string, one: ChromaCollectionLike): ChromaCollectionLike => {
    const [oldest] = kept.keys();
    if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(name, one);
    return one;
  };

  return {
    nameOf,
    forget: (user) => void kept.delete(nameOf(user)),
    async of(user, make, signal) {
      const name = nameOf(user);
      const known = kept.get(name);
      if (known) return known;
      const metadata = { [MARK]: prefix, dimensions: space().dimensions };
      const found = await (make
        ? asking.write(
            name,
            () =>
              client.getOrCreateCollection({
                name,
                embeddingFunction: null,
                configuration: { hnsw: HNSW },
                metadata,
              }),
            signal,
          )
        : asking.ask(() => client.getCollection({ name }), signal));
      return found && keep(name, checked(found, prefix));
    },
    async ours(except, signal) {
      const all: ChromaCollectionLike[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const page = (await asking.ask(() => client.listCollections({ limit: PAGE, offset }), signal)) ?? [];
        all.push(...page.filter((one) => one.metadata?.[MARK] === prefix));
        if (page.length < PAGE) break;
      }
      const other = except && shortly(spaceKey(except), 8);
      return all.filter(({ name }) => {
        const of = /^-([0-9a-f]{8})-[0-9a-f]{40}$/.exec(name.slice(prefix.length))?.[1];
        return of !== undefined && of !== other;
      });
    },
  };
}

/** A collection of such a name that we did not make, or that measures otherwise, is somebody else's. */
function checked(one: ChromaCollectionLike, prefix: string): ChromaCollectionLike {
  if (one.metadata?.[MARK] === prefix && one.configuration?.hnsw?.space === "cosine") return one;
  throw invalid(`The collection "${one.name}" in Chroma is not Keepsake's. Choose another prefix.`);
}

/** Names in Chroma are plain ASCII and at most 512 characters; and nobody's name is to be read in one. */
function shortly(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

function spaceKey({ fingerprint, dimensions }: FollowerSpace): string {
  return JSON.stringify([fingerprint, dimensions]);
}
