/** A format that a database file has had, and the commit whose own code made the file that stands for it. */
export interface FileFormat {
  /** The name of its files in this folder. */
  readonly name: string;
  /** The last commit that wrote the format and works by itself. Absent if it is not in the history: its file cannot be made again. */
  readonly commit?: string;
  /** SQLite's `user_version`. */
  readonly version: number;
  /** The format of the search indexes that are kept in the file; none in the first. */
  readonly index?: number;
  /** What it has that the formats before it have not. */
  readonly about: string;
}

/**
 * Every format that ever landed, oldest first. Formats without a number of their own are here too: of search indexes kept in
 * the file, of vectors and of receipts. The secrets beside the files were made for them alone and protect nothing. A change that
 * adds a migration adds the format before it, unless it is here; `make.ts` makes the files. The files of v13 and v14 were made by
 * commits that became one, with that of v15, before they landed. Left out is what no program could write:
 * tables without strict types (bdb5556 to 0e97e94), when there was no extractor and `createMemory` did not load.
 */
export const FORMATS: readonly FileFormat[] = [
  { name: "v01", commit: "86ff14a", version: 1, about: "strict tables" },
  {
    name: "v03-float32",
    commit: "5e80977",
    version: 3,
    index: 1,
    about: "kept search indexes; vectors at 32 bits",
  },
  { name: "v03", commit: "2d06969", version: 3, index: 2, about: "vectors at 16 bits" },
  {
    name: "v04-hmac",
    commit: "07ab977",
    version: 4,
    index: 2,
    about: "traces and backups; receipts signed with HMAC",
  },
  {
    name: "v04",
    commit: "5824d19",
    version: 4,
    index: 2,
    about: "receipts signed with Ed25519; a ledger beside the file",
  },
  { name: "v05", commit: "f29c886", version: 5, index: 2, about: "receipts of recalls" },
  { name: "v06", commit: "c6e5d37", version: 6, index: 2, about: "calls to models" },
  { name: "v07-jobs", commit: "f55e150", version: 7, index: 2, about: "jobs, and no kept answers yet" },
  { name: "v08", commit: "648e812", version: 8, index: 2, about: "kept answers" },
  { name: "v09-index2", commit: "b34e7a0", version: 9, index: 2, about: "leases" },
  { name: "v09-index3", commit: "a444435", version: 9, index: 3, about: "another search index" },
  { name: "v09-index4", commit: "ba6e34b", version: 9, index: 4, about: "another search index" },
  { name: "v09-index5", commit: "4de450c", version: 9, index: 5, about: "another search index" },
  { name: "v09", commit: "0686690", version: 9, index: 6, about: "another search index" },
  { name: "v10", commit: "12d6338", version: 10, index: 6, about: "erasures in parts" },
  { name: "v11", commit: "5d6264cc", version: 11, index: 6, about: "digests of rows" },
  { name: "v12", commit: "f7b34e80", version: 12, index: 6, about: "counts of use" },
  { name: "v13", version: 13, index: 6, about: "grants and groups" },
  { name: "v14", version: 14, index: 6, about: "images and recordings" },
  { name: "v15", commit: "d74a5939", version: 15, index: 6, about: "webhooks" },
];
