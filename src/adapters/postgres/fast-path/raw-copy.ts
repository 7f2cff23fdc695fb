import type { PostgresConnection } from "../database/connection.ts";
import type { SearchIndexPiece, SearchIndexRange } from "../database/database.ts";

/** A connection of `pg` with the parts beneath its interface. All are optional: another client may lack them. */
export interface DriverConnection extends PostgresConnection {
  /** The process id of the server backend, as reported when the connection was opened. */
  readonly processID?: number | null;
  /** The protocol connection, which reports COPY data as bytes. */
  readonly connection?: {
    on(event: "copyData", listener: (message: { readonly chunk: Uint8Array }) => void): unknown;
    removeListener(event: "copyData", listener: (message: { readonly chunk: Uint8Array }) => void): unknown;
  };
}

/** The columns of a row as bytes, in the server's binary format (big-endian numbers). Valid until the receiving call returns. */
type RawRow = readonly Buffer[];

type RawRowHandler = (row: RawRow) => void;

/**
 * Receives rows over a connection in COPY's binary format; as text, bytes take twice the space and ten times the work.
 * The first column of each row is a number that identifies its COPY, because several may be in progress.
 */
interface RawCopyReceiver {
  /** Registers the handler for the rows of a number, until it is unsubscribed. */
  subscribe(tag: number, take: RawRowHandler): void;
  unsubscribe(tag: number): void;
  /** Stops receiving rows. */
  end(): void;
}

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
/** Signature, flags, and the length of the header extension. */
const HEADER_BYTES = SIGNATURE.length + 8;

/** Undefined if the client does not expose its connection. */
export function createRawCopyReceiver({ connection }: DriverConnection): RawCopyReceiver | undefined {
  if (!connection) return undefined;
  const handlers = new Map<number, RawRowHandler>();
  const onRow = (bytes: Buffer): void => {
    const isFirst = bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
    const fields = parseFields(bytes, isFirst ? HEADER_BYTES + bytes.readInt32BE(HEADER_BYTES - 4) : 0);
    const [tag, ...row] = fields;
    if (tag) handlers.get(Number(tag.readBigInt64BE()))?.(row);
  };
  const end = subscribeToRows(connection, onRow);
  return {
    subscribe: (tag, take) => void handlers.set(tag, take),
    unsubscribe: (tag) => void handlers.delete(tag),
    end,
  };
}

/** Passes each row as it arrives, until the returned function is called. */
function subscribeToRows(
  connection: DriverConnection["connection"] & object,
  onRow: (row: Buffer) => void,
): () => void {
  const listener = ({ chunk }: { readonly chunk: Uint8Array }): void =>
    onRow(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  connection.on("copyData", listener);
  return () => void connection.removeListener("copyData", listener);
}

/** The fields of a row; none for the end of a COPY, which is a row of -1 columns. */
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

/** The COPY of a search index. It takes no parameters; all interpolated values are numbers of this program. */
export function buildSearchIndexCopy(tag: number, { person, from, to }: SearchIndexRange): string {
  return (
    `COPY (SELECT ${tag}::bigint, revision, size::bigint, piece::bigint, bytes FROM blocks ` +
    `WHERE person = ${BigInt(person)} AND piece >= ${from} AND piece < ${to} ORDER BY piece) TO STDOUT (FORMAT binary)`
  );
}

/** The piece in a row of that COPY. */
export function parseSearchIndexPiece([revision, size, piece, bytes = NO_BYTES]: RawRow): SearchIndexPiece {
  return { revision: parseLong(revision), size: parseLong(size), piece: parseLong(piece), bytes };
}

const NO_BYTES = Buffer.alloc(0);

function parseLong(bytes: RawRow[number] | undefined): number {
  return Number(bytes?.readBigInt64BE() ?? 0);
}
