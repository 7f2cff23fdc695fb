/** Raised whenever the layout changes: a block of another format is not read, but built anew from the record. */
export const INDEX_FORMAT = 6;
export const MAGIC = "KSBLOCK";
export const SCALES_ARRAY = "vectors.scales";
/** The vectors: most of the bytes. They come last, so that all else is taken in while they are on their way. */
export const CODES_ARRAY = "vectors.codes";
/** Whether this machine's numbers begin with their smallest byte, as those of nearly all do. */
export const IS_LITTLE_ENDIAN: boolean = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

export interface IndexHeader {
  readonly format: number;
  readonly space: string;
  readonly dimensions: number;
  readonly revision: number;
  readonly newest: number;
  readonly turns: number;
  readonly sessions: number;
  readonly memories: number;
  readonly sources: number;
  readonly units: number;
  readonly dead: readonly number[];
  readonly names: readonly string[];
  readonly open: readonly (readonly [number, number])[];
  /**
   * Name, type and length of each array, in the order in which they follow; of one that is narrowed also the type of its
   * steps, the length of the rest, and where steps are kept with how often each is taken, how many they are. These numbers follow
   * the steps, and the rest follows them.
   */
  readonly arrays: readonly (readonly [string, string, number, string?, number?, number?])[];
}

/** Where an array of 64-bit numbers may begin. */
export function alignOffset(at: number): number {
  return Math.ceil(at / 8) * 8;
}
