/** A copy of the whole record that was made, as the record remembers it: by its file's name, without the folder. */
export interface BackupNote {
  readonly name: string;
  /** When it was made (ISO 8601): what was stored until then may be in it. */
  readonly at: string;
  /** Until when it is kept, where that was said. */
  readonly until?: string;
  /** 0 while it is made, and where that failed. */
  readonly bytes: number;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
}
