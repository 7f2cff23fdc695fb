import type { FollowerSpace } from "../../ports/follower.ts";
import { asked, type Remote } from "../shared/remote.ts";
import { scopeName, shortHash } from "../shared/scope-name.ts";
import type { PineconeClient, PineconeCloud, PineconeIndex } from "./client.ts";

/** Where in Pinecone a follower keeps its entries, and how it asks. */
export interface Place {
  readonly client: PineconeClient;
  readonly remote: Remote;
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
export interface Prepared {
  readonly index: PineconeIndex;
  readonly space: FollowerSpace;
}

/** Pinecone lists that many at most. */
export const PAGE = 100;

/** One index for each number of dimensions, for an index takes no others. */
export const indexName = (name: string, { dimensions }: FollowerSpace): string => `${name}-${dimensions}`;

/** A namespace for each user of each space: its walls are the server's own. */
export const namespaceName = (
  name: string,
  space: FollowerSpace,
  user: { readonly project: string; readonly user: string },
): string => `${spacePrefix(name, spaceName(space))}${scopeName(user)}`;

export const spacePrefix = (name: string, space: string): string => `${name}.${space}.`;

export const spaceName = ({ fingerprint, dimensions }: FollowerSpace): string =>
  shortHash(JSON.stringify([fingerprint, dimensions])).slice(0, 16);

/** The keys of all records of a namespace, page by page. */
export async function* keysIn(
  { remote }: Place,
  namespace: PineconeIndex,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[], void, void> {
  let next: string | undefined;
  do {
    const token = next === undefined ? {} : { paginationToken: next };
    const page = await asked(remote, signal, () => namespace.listPaginated({ limit: PAGE, ...token }));
    next = page.pagination?.next;
    const keys = (page.vectors ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]));
    if (keys.length > 0) yield keys;
  } while (next);
}
