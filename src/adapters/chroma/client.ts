/** The part of `ChromaClient` (package chromadb, 3.5) that is used: any object with these methods will do. */
export interface ChromaClientLike {
  /** Without `embeddingFunction: null` the client would look for a model to load: vectors come from us alone. */
  getOrCreateCollection(of: {
    readonly name: string;
    readonly embeddingFunction: null;
    readonly configuration: { readonly hnsw: ChromaHnsw };
    readonly metadata: { readonly [field: string]: string | number };
  }): Promise<ChromaCollectionLike>;
  getCollection(of: { readonly name: string }): Promise<ChromaCollectionLike>;
  listCollections(page: { readonly limit: number; readonly offset: number }): Promise<ChromaCollectionLike[]>;
  deleteCollection(of: { readonly name: string }): Promise<void>;
  /** Most entries in one request. */
  getMaxBatchSize(): Promise<number>;
}

/** How a collection's index is made; Chroma's own names. */
export interface ChromaHnsw {
  readonly space: "cosine";
  readonly ef_construction: number;
  readonly ef_search: number;
  readonly max_neighbors: number;
  readonly sync_threshold: number;
  readonly batch_size: number;
}

/** A collection as the client gives it. */
export interface ChromaCollectionLike {
  readonly name: string;
  readonly metadata?: { readonly [field: string]: unknown } | undefined;
  readonly configuration?:
    | { readonly hnsw?: { readonly space?: string | null | undefined } | null | undefined }
    | undefined;
  upsert(entries: ChromaEntries): Promise<void>;
  update(entries: ChromaEntries): Promise<void>;
  delete(of: { readonly ids: string[] }): Promise<unknown>;
  get(of: {
    readonly ids?: string[];
    readonly limit?: number;
    readonly offset?: number;
    readonly include: [];
  }): Promise<{ readonly ids: readonly string[] }>;
  query(asked: {
    readonly queryEmbeddings: number[][];
    readonly nResults: number;
    readonly where?: ChromaWhere;
    readonly whereDocument?: ChromaWhereDocument;
    readonly include: ["distances"];
  }): Promise<{
    readonly ids: readonly (readonly string[])[];
    readonly distances: readonly (readonly (number | null)[])[];
  }>;
}

export interface ChromaEntries {
  readonly ids: string[];
  readonly embeddings: number[][];
  readonly metadatas: { [field: string]: string | number }[];
  readonly documents?: string[];
}

/** A filter as Chroma takes it: one field or one operator at a place. */
export type ChromaWhere =
  | { [field: string]: ChromaCondition }
  | { $and: ChromaWhere[] }
  | { $or: ChromaWhere[] };

type ChromaCondition =
  | { $eq: string | number }
  | { $ne: string | number }
  | { $in: (string | number)[] }
  | { $nin: (string | number)[] }
  | { $gt: number }
  | { $gte: number }
  | { $lt: number }
  | { $lte: number };

/** What is to stand in the texts, as Chroma takes it. */
export type ChromaWhereDocument =
  | { $contains: string }
  | { $not_contains: string }
  | { $regex: string }
  | { $not_regex: string }
  | { $and: ChromaWhereDocument[] }
  | { $or: ChromaWhereDocument[] };
