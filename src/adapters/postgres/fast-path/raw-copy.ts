import type { PostgresConnection } from "../database/connection.ts";

/** The columns of a row as bytes, in the server's binary format (big-endian numbers). Valid until the call that is given it ends. */
export type RawRow = readonly Buffer[];

type RawRowHandler = (row: RawRow) => void;

/**
 * Rows over a connection as they are, in COPY's binary format: as text, bytes take twice the room, and ten times the work.
 * The first column of each row is a number that tells whose it is, for several may be on their way at once.
 */
export interface RawCopyReceiver {
  /** What takes the rows of a number, until it is let go of. */
  subscribe(tag: number, take: RawRowHandler): void;
  unsubscribe(tag: number): void;
  /** No rows are taken any more. */
  end(): void;
}

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
/** Signature, flags, and the length of what is to be skipped. */
const HEADER_BYTES = SIGNATURE.length + 8;

/** Nothing where the client lets nobody listen. */
export function createRawCopyReceiver({ connection: line }: PostgresConnection): RawCopyReceiver | undefined {
  if (!line) return undefined;
  const taking = new Map<number, RawRowHandler>();
  const told = (bytes: Buffer): void => {
    const isFirst = bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
    const fields = parseFields(bytes, isFirst ? HEADER_BYTES + bytes.readInt32BE(HEADER_BYTES - 4) : 0);
    const [tag, ...row] = fields;
    if (tag) taking.get(Number(tag.readBigInt64BE()))?.(row);
  };
  const end = subscribeToRows(line, told);
  return {
    subscribe: (tag, take) => void taking.set(tag, take),
    unsubscribe: (tag) => void taking.delete(tag),
    end,
  };
}

/** Has the rows told as they come, until what it gives is called. */
function subscribeToRows(
  line: PostgresConnection["connection"] & object,
  told: (row: Buffer) => void,
): () => void {
  const { stream } = line;
  if (stream?.takeRows) {
    stream.takeRows(told);
    return () => stream.takeRows?.(undefined);
  }
  const listener = ({ chunk }: { readonly chunk: Uint8Array }): void =>
    told(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  line.on("copyData", listener);
  return () => void line.removeListener("copyData", listener);
}

/** None of the end of a COPY, which is a row of -1 columns. */
function parseFields(bytes: Buffer, from: number): Buffer[] {
  if (bytes.length < from + 2) return [];
  const fields: Buffer[] = [];
  const count = bytes.readInt16BE(from);
  let at = from + 2;
  for (let i = 0; i < count; i += 1) {
    const length = Math.max(0, bytes.readInt32BE(at));
    fields.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}
