import type { VectorIndexSpace } from "../../ports/follower.ts";
import { callRemote, type RemoteService } from "../shared/remote.ts";
import { toScopeHash, toShortHash } from "../shared/scope-name.ts";
import type { PineconeClient, PineconeCloud, PineconeIndex } from "./client.ts";

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
export const PAGE_RECORDS = 100;

/** One index for each number of dimensions, for an index takes no others. */
export const toIndexName = (name: string, { dimensions }: VectorIndexSpace): string =>
  `${name}-${dimensions}`;

/** A namespace for each user of each space: its walls are the server's own. */
export const toNamespaceName = (
  name: string,
  space: VectorIndexSpace,
  user: { readonly project: string; readonly user: string },
): string => `${toNamespacePrefix(name, toSpaceName(space))}${toScopeHash(user)}`;

export const toNamespacePrefix = (name: string, space: string): string => `${name}.${space}.`;

export const toSpaceName = ({ fingerprint, dimensions }: VectorIndexSpace): string =>
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
