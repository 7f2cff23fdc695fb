export interface StoredRecord {
  readonly id: string;
  readonly values: readonly number[];
  readonly metadata: { readonly [field: string]: unknown };
}

/** The contents of a namespace: as accepted, or as reads see them. */
export interface NamespaceView {
  readonly records: Map<string, StoredRecord>;
  /** A namespace is created by its first record, and disappears when all records are deleted at once. */
  isThere: boolean;
}

export type NamespaceChange = (view: NamespaceView) => void;

export interface PineconeNamespace {
  readonly accepted: NamespaceView;
  readonly shown: NamespaceView;
  /** Accepted changes that reads do not show yet, in order. */
  readonly pending: { readonly acceptedAt: number; readonly change: NamespaceChange }[];
  /** Numbers of the last accepted and the last visible change ("log sequence number"). */
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
  /** When it is finally gone; until then its state is terminating. */
  goneAt?: number;
  readonly namespaces: Map<string, PineconeNamespace>;
}

const createView = (): NamespaceView => ({ records: new Map(), isThere: false });

/** A namespace as reads see it now, with a lag in ms. */
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

/** Accepts a change. Reads show it once it is older than their lag. */
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
