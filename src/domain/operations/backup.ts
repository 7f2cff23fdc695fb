/** A backup of the whole memory store, as the store records it: by file name, without the folder. */
export interface BackupNote {
  /** The file's name, without its folder. */
  readonly name: string;
  /** When it was made (ISO 8601). It may contain everything stored until then. */
  readonly at: string;
  /** How long it is kept (ISO 8601), if known. */
  readonly until?: string;
  /** 0 while it is being made, and if that failed. */
  readonly bytes: number;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
  /** Present if it was made before the database was encrypted: it can be read without a key. */
  readonly isPlain?: true;
}
