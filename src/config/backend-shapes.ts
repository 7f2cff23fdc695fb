/** The vector indexes that the settings can name. */
export const VECTOR_INDEXES = ["chroma", "faiss", "pgvector", "pinecone", "redis", "s3-vectors"] as const;
export type VectorIndexName = (typeof VECTOR_INDEXES)[number];

/** What the settings say of databases and servers beside this machine's file. */
export interface BackendSettings {
  /** What our names begin with on servers that others use, too. */
  readonly prefix?: string;
  /** Where the record is, instead of a file. */
  readonly postgres?: PostgresSettings;
  readonly redis?: RedisSettings;
  readonly sessions?: "memory" | "redis";
  readonly cache?: CacheSettings;
  readonly rateLimits?: "redis";
  readonly queue?: "bullmq";
  /** In the order in which a recall asks them. */
  readonly followers?: readonly VectorIndexName[];
  /** From how many search units of a user on they are asked. */
  readonly followersFrom?: number;
  /** How long a recall waits for them, in ms. */
  readonly patienceMs?: number;
  readonly pgvector?: PostgresSettings;
  readonly chroma?: ChromaSettings;
  readonly pinecone?: PineconeSettings;
  readonly s3Vectors?: S3VectorsSettings;
  readonly faiss?: FaissSettings;
}

export interface PostgresSettings {
  readonly url: string;
  readonly schema?: string;
  /** How many connections this process may have. */
  readonly connections?: number;
  /** The file that tells what was erased when the database is put back to an older state. */
  readonly ledger?: string;
  /** For how long the server and its archives keep the write-ahead log, in ms. */
  readonly logKeptMs?: number;
}

export interface RedisSettings {
  readonly url: string;
  readonly password?: string;
}

export interface CacheSettings {
  readonly name: "memory" | "redis";
  /** How long what is kept is kept, in ms. */
  readonly ttlMs?: number;
  /** How often a user is served, before what is known of them is kept for all servers. */
  readonly hotAfter?: number;
}

export interface ChromaSettings {
  readonly url: string;
  readonly apiKey?: string;
  readonly tenant?: string;
  readonly database?: string;
}

export interface PineconeSettings {
  readonly apiKey: string;
  readonly index: string;
  /** Where a missing index is made; the adapter's choice where absent. */
  readonly cloud?: "aws" | "gcp" | "azure";
  readonly region?: string;
  /** Of a server that speaks the protocol; Pinecone's own where absent. */
  readonly controller?: string;
}

export interface S3VectorsSettings {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint?: string;
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

export interface FaissSettings {
  readonly path: string;
  readonly python?: string;
  readonly gpu?: boolean;
}
