import { crc32, deflateRawSync } from "node:zlib";

/** A file of an archive. */
export interface ArchiveFile {
  /** The path in the archive, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_RECORD = 0x06054b50;
/** Version 2.0 of the format: deflate and folders. */
const VERSION = 20;
/** The names are UTF-8. */
const FLAGS = 0x0800;
const DEFLATE = 8;
/** 1 January 1980, the earliest date of the format: files are dated alike, so that equal content gives equal bytes. */
const DATE = 0x21;
const MAX_FILES = 0xffff;
const MAX_BYTES = 0xffffffff;

/** Writes a ZIP archive. The same files give the same bytes. Throws `RangeError` for what needs the format's 64-bit form. */
export function writeZip(files: readonly ArchiveFile[]): Buffer {
  if (files.length > MAX_FILES) throw new RangeError("too many files for an archive");
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = Buffer.from(path, "utf8");
    const packed = deflateRawSync(bytes, { level: 9 });
    const shared = createSharedFields(name, bytes, packed);
    const local = Buffer.concat([toUInt32(LOCAL_HEADER), shared, name, packed]);
    directory.push(createCentralHeader(shared, name, offset));
    parts.push(local);
    offset += local.length;
    if (offset > MAX_BYTES) throw new RangeError("too many bytes for an archive");
  }
  const central = Buffer.concat(directory);
  return Buffer.concat([...parts, central, createEndRecord(files.length, central.length, offset)]);
}

/** The fields that a file's header and its entry in the directory share. */
function createSharedFields(name: Buffer, bytes: Uint8Array, packed: Buffer): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(FLAGS, 2);
  fields.writeUInt16LE(DEFLATE, 4);
  fields.writeUInt16LE(DATE, 8);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

function createCentralHeader(shared: Buffer, name: Buffer, offset: number): Buffer {
  const start = Buffer.alloc(6);
  start.writeUInt32LE(CENTRAL_HEADER, 0);
  start.writeUInt16LE(VERSION, 4);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([start, shared, rest, name]);
}

function createEndRecord(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END_RECORD, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}

function toUInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
