/** The part of a client of `@aws-sdk/client-s3vectors` (tested with 3.1137) that is used: an instance of its `S3Vectors`. */
export interface S3VectorsClient {
  createVectorBucket(input: { vectorBucketName: string }, options?: S3Call): Promise<unknown>;
  getVectorBucket(input: { vectorBucketName: string }, options?: S3Call): Promise<unknown>;
  createIndex(
    input: S3Index & {
      dataType: "float32";
      dimension: number;
      distanceMetric: "cosine";
      metadataConfiguration: { nonFilterableMetadataKeys: string[] };
    },
    options?: S3Call,
  ): Promise<unknown>;
  deleteIndex(input: S3Index, options?: S3Call): Promise<unknown>;
  listIndexes(
    input: { vectorBucketName: string; prefix: string; maxResults: number; nextToken?: string | undefined },
    options?: S3Call,
  ): Promise<{
    readonly indexes?: readonly { readonly indexName?: string | undefined }[] | undefined;
    readonly nextToken?: string | undefined;
  }>;
  putVectors(input: S3Index & { vectors: S3Vector[] }, options?: S3Call): Promise<unknown>;
  deleteVectors(input: S3Index & { keys: string[] }, options?: S3Call): Promise<unknown>;
  getVectors(input: S3Index & { keys: string[] }, options?: S3Call): Promise<S3Page>;
  listVectors(
    input: S3Index & { maxResults: number; nextToken?: string | undefined },
    options?: S3Call,
  ): Promise<S3Page>;
  queryVectors(
    input: S3Index & {
      topK: number;
      queryVector: { float32: number[] };
      filter: S3Document;
      returnDistance: boolean;
      nextToken?: string | undefined;
    },
    options?: S3Call,
  ): Promise<S3Page>;
}

export interface S3Call {
  abortSignal?: AbortSignal;
}

export interface S3Index {
  vectorBucketName: string;
  indexName: string;
}

/** JSON, as the SDK wants it. */
export type S3Document = null | boolean | number | string | S3Document[] | { [field: string]: S3Document };

export interface S3Vector {
  key: string;
  data: { float32: number[] };
  metadata: { [field: string]: string | number };
}

export interface S3Page {
  readonly vectors:
    | readonly { readonly key: string | undefined; readonly distance?: number | undefined }[]
    | undefined;
  readonly nextToken?: string | undefined;
}
