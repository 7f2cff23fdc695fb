import { MemoryError } from "../../errors.ts";

/** What goes between the program and its worker: a header, and bytes that would be long as text. */
export interface PythonFrame {
  readonly header: { readonly [field: string]: unknown };
  readonly body: Buffer;
}

const LENGTHS_BYTES = 8;
/** A frame that says it is longer than this is none. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Two lengths (32 bits, little endian), the header as JSON, the body. */
export function encodeFrame(header: object, body: Uint8Array = new Uint8Array()): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(body.byteLength, 4);
  return Buffer.concat([lengths, text, body]);
}

/** Puts frames together from the pieces in which they come. Throws `unavailable` for what is no frame. */
export function createFrameReader(): (piece: Buffer) => PythonFrame[] {
  let pieces: Buffer[] = [];
  let length = 0;
  let wanted = LENGTHS_BYTES;
  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    const frames: PythonFrame[] = [];
    while (length >= wanted) {
      const held = pieces.length === 1 ? (pieces[0] ?? piece) : Buffer.concat(pieces);
      const headerEnd = LENGTHS_BYTES + held.readUInt32LE(0);
      const end = headerEnd + held.readUInt32LE(4);
      if (end > MOST_BYTES) throw createFrameError();
      pieces = [held];
      wanted = end;
      if (length < end) break;
      frames.push({
        header: parseHeader(held.subarray(LENGTHS_BYTES, headerEnd)),
        body: held.subarray(headerEnd, end),
      });
      pieces = [held.subarray(end)];
      length -= end;
      wanted = LENGTHS_BYTES;
    }
    return frames;
  };
}

function parseHeader(bytes: Buffer): PythonFrame["header"] {
  try {
    const header: unknown = JSON.parse(bytes.toString());
    if (typeof header === "object" && header !== null) return { ...header };
  } catch {
    // What it was instead is not for a message.
  }
  throw createFrameError();
}

function createFrameError(): MemoryError {
  return new MemoryError("unavailable", "The worker of FAISS said something that is no answer.");
}
