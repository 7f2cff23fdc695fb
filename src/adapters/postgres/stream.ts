import { Socket } from "node:net";
import { createCopyRowSplitter } from "./rows-apart.ts";

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
