import { createMemory, type Keepsake, type MemoryOptions } from "../../src/index.ts";

/** Where memories can be kept, and which indexes can stand beside them. */
export const RECORDS: readonly string[] = ["sqlite", "postgres", "mariadb"];
export const INDEXES: readonly string[] = [
  "memory",
  "chroma",
  "faiss",
  "pgvector",
  "pinecone",
  "redis",
  "s3-vectors",
];

type Open = (options: MemoryOptions) => Promise<Keepsake>;

let open: Open = createMemory;

/** Has all memories of this run opened in another way: on another record, with an index beside it. */
export function openMemoriesBy(other: Open): void {
  open = other;
}

/** What every evaluation opens its memories with. */
export function openMemory(options: MemoryOptions): Promise<Keepsake> {
  return open(options);
}
