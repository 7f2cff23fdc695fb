/** A copy of the whole record that was made, as the record remembers it: by its file's name, without the folder. */
export interface BackupNote {
  readonly name: string;
  /** What it holds is as of this time (ISO 8601). */
  readonly at: string;
  /** Until when it is kept, where that was said. */
  readonly until?: string;
  readonly bytes: number;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
}
