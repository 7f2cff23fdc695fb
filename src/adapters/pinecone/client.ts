/** The part of a client of `@pinecone-database/pinecone` (tested with 9.0) that is used: an instance of its `Pinecone`. */
export interface PineconeClient {
  listIndexes(): Promise<{ readonly indexes?: readonly PineconeIndexModel[] }>;
  createIndex(options: {
    name: string;
    dimension: number;
    metric: "cosine";
    spec: { serverless: { cloud: PineconeCloud; region: string } };
    tags: { [name: string]: string };
    suppressConflicts: true;
  }): Promise<unknown>;
  deleteIndex(name: string): Promise<unknown>;
  index(options: { host: string }): PineconeIndex;
}

export type PineconeCloud = "aws" | "gcp" | "azure";

export interface PineconeIndexModel {
  readonly name: string;
  readonly host: string;
  readonly dimension?: number | undefined;
  readonly metric?: string | undefined;
  readonly tags?: { readonly [name: string]: string } | null | undefined;
  readonly status: { readonly ready: boolean; readonly state: string };
}

export interface PineconeIndex {
  namespace(name: string): PineconeIndex;
  upsert(options: { records: PineconeRecord[] }): Promise<unknown>;
  query(options: {
    vector: number[];
    topK: number;
    filter?: object;
    includeMetadata: boolean;
    includeValues: boolean;
  }): Promise<{ readonly matches: readonly { readonly id: string; readonly score?: number }[] }>;
  fetch(options: { ids: string[] }): Promise<{
    readonly records: { readonly [id: string]: { readonly metadata?: object | undefined } };
  }>;
  deleteMany(options: { ids: string[] }): Promise<unknown>;
  deleteAll(): Promise<unknown>;
  listPaginated(options: { limit: number; paginationToken?: string }): Promise<{
    readonly vectors?: readonly { readonly id?: string }[];
    readonly pagination?: { readonly next?: string };
  }>;
  listNamespaces(options: { prefix: string; limit: number; paginationToken?: string }): Promise<{
    readonly namespaces?: readonly { readonly name?: string; readonly recordCount?: string }[];
    readonly pagination?: { readonly next?: string };
  }>;
}

export interface PineconeRecord {
  id: string;
  values: number[];
  metadata: { [field: string]: string | number };
}
