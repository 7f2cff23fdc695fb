export interface StoredRecord {
  readonly id: string;
  readonly values: readonly number[];
  readonly metadata: { readonly [field: string]: unknown };
}

/** What a namespace holds: as it was accepted, or as reads see it. */
export interface NamespaceView {
  readonly records: Map<string, StoredRecord>;
  /** A namespace comes with its first record, and goes when all are deleted at once. */
  isThere: boolean;
}

export type NamespaceChange = (view: NamespaceView) => void;

export interface PineconeNamespace {
  readonly accepted: NamespaceView;
  readonly shown: NamespaceView;
  /** Accepted, and not shown yet, in order. */
  readonly pending: { readonly acceptedAt: number; readonly change: NamespaceChange }[];
  /** Numbers of the last change that was accepted, and of the last that is shown ("log sequence number"). */
  lsn: number;
  shownLsn: number;
}

export interface StoredIndex {
  readonly name: string;
  readonly dimension: number;
  readonly metric: string;
  readonly deployment: object;
  readonly tags: { readonly [name: string]: string };
  /** In ms of `performance.now()`. */
  readonly readyAt: number;
  /** When it is gone for good; until then it is there, terminating. */
  goneAt?: number;
  readonly namespaces: Map<string, PineconeNamespace>;
}

const createView = (): NamespaceView => ({ records: new Map(), isThere: false });

/** A namespace as reads see it now, whose lag is given in ms. */
export function getNamespace(index: StoredIndex, name: string, lagMs: number): PineconeNamespace {
  const known = index.namespaces.get(name);
  if (known) {
    showChanges(known, lagMs);
    return known;
  }
  const fresh = { accepted: createView(), shown: createView(), pending: [], lsn: 0, shownLsn: 0 };
  index.namespaces.set(name, fresh);
  return fresh;
}

/** Takes a change in; reads see it when it is older than their lag. */
export function acceptChange(namespace: PineconeNamespace, change: NamespaceChange, lagMs: number): void {
  change(namespace.accepted);
  namespace.lsn += 1;
  namespace.pending.push({ acceptedAt: performance.now(), change });
  showChanges(namespace, lagMs);
}

function showChanges(namespace: PineconeNamespace, lagMs: number): void {
  const until = performance.now() - lagMs;
  for (let next = namespace.pending[0]; next && next.acceptedAt <= until; next = namespace.pending[0]) {
    next.change(namespace.shown);
    namespace.shownLsn += 1;
    namespace.pending.shift();
  }
}
