import { Socket } from "node:net";

/** A connection's stream that gives the rows of COPYs to whoever takes them, before the client hears of them. */
export interface RowStream {
  /** The content of each CopyData message, valid until the call that is given it ends; with nothing, the client gets them again. */
  takeRows(take: ((row: Buffer) => void) | undefined): void;
}

/** What is read in one go, at most. */
const READ_BYTES = 262_144;

/**
 * For the option `stream` of a pool of `pg`. A socket that reads into the same memory again and again, and tells the rows of a COPY apart
 * there: else each 64 KB of somebody's search columns are new memory, and V8 collects garbage before the last of them has come. With TLS
 * the client reads what is beneath it by itself; then this is a socket as any other.
 */
export function postgresStream(config?: { readonly ssl?: unknown }): Socket & Partial<RowStream> {
  if (config?.ssl) return new Socket();
  let take: ((row: Buffer) => void) | undefined;
  const sort = createCopyRowSplitter({
    takesRows: () => take !== undefined,
    row: (bytes) => take?.(bytes),
    rest: (bytes) => void socket.push(bytes),
  });
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (length: number): boolean => {
    sort(buffer.subarray(0, length));
    return true;
  };
  const socket = new Socket({ onread: { buffer, callback } });
  return Object.assign(socket, {
    takeRows(taker: typeof take) {
      take = taker;
    },
  });
}

/** Where the parts of what a server sends go. */
interface CopyStreamParts {
  /** Whether the row of a COPY that begins now goes to `row`. */
  takesRows(): boolean;
  /** A row, whole, in memory that serves again: valid until this returns. */
  row(bytes: Buffer): void;
  /** All else as it came, and rows that nobody takes; its own memory. */
  rest(bytes: Buffer): void;
}

/** A byte that tells the kind of a message, and its length in four more: "Message Formats" of PostgreSQL's documentation. */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const COPY_DATA = "d".charCodeAt(0);
const NO_BYTES = Buffer.alloc(0);

/**
 * Takes the rows of COPYs out of what a server sends, which is given piece by piece: messages begin and end anywhere in them. Of a header
 * that is cut, the beginning waits for its end.
 */
export function createCopyRowSplitter({ takesRows, row, rest }: CopyStreamParts): (bytes: Buffer) => void {
  const gather = createRowAssembler();
  const head = Buffer.alloc(HEADER_BYTES);
  /** So much of a header has come. */
  let held = 0;
  /** What is still to come of the message at hand. */
  let left = 0;
  let isRow = false;

  /** Takes a header, or what there is of it; gives how much of `bytes` that was. */
  const takeHeader = (bytes: Buffer, at: number, others: ByteRanges): number => {
    const before = held;
    const length = bytes.copy(head, held, at, at + HEADER_BYTES - held);
    held += length;
    if (held < HEADER_BYTES) return length;
    held = 0;
    left = Math.max(0, head.readUInt32BE(1) - LENGTH_BYTES);
    isRow = head[0] === COPY_DATA && takesRows();
    if (isRow && left === 0) row(NO_BYTES);
    if (isRow) return length;
    if (before > 0) rest(Buffer.from(head.subarray(0, before)));
    others.add(at, at + length);
    return length;
  };
  const takeContent = (bytes: Buffer, at: number, others: ByteRanges): number => {
    const length = Math.min(left, bytes.length - at);
    const whole = isRow ? gather(bytes.subarray(at, at + length), left) : undefined;
    left -= length;
    if (!isRow) others.add(at, at + length);
    if (whole) row(whole);
    return length;
  };
  return (bytes) => {
    const others = createByteRanges();
    for (let at = 0; at < bytes.length; ) {
      at += left > 0 ? takeContent(bytes, at, others) : takeHeader(bytes, at, others);
    }
    for (const [from, to] of others.all) rest(Buffer.from(bytes.subarray(from, to)));
  };
}

/** From where to where, those that follow each other as one. */
interface ByteRanges {
  add(from: number, to: number): void;
  readonly all: readonly [number, number][];
}

function createByteRanges(): ByteRanges {
  const all: [number, number][] = [];
  return {
    all,
    add(from, to) {
      const last = all.at(-1);
      if (last && last[1] === from) last[1] = to;
      else all.push([from, to]);
    },
  };
}

/** Puts the parts of a row together. Gives it when it is whole; `left` is what was to come of it before this part. */
function createRowAssembler(): (part: Buffer, left: number) => Buffer | undefined {
  let memory = NO_BYTES;
  let have = 0;
  return (part, left) => {
    if (have === 0 && part.length === left) return part;
    if (memory.length < have + left) memory = Buffer.concat([memory.subarray(0, have)], have + left);
    have += part.copy(memory, have);
    if (part.length < left) return undefined;
    const whole = memory.subarray(0, have);
    have = 0;
    return whole;
  };
}
