import type { Scope } from "../domain/scope.ts";
import type { Meter } from "../ports/meter.ts";
import type { MemoryStore } from "../ports/record.ts";
import type { SharedSearchIndexes } from "./beside/shared-blocks.ts";
import { createSearchIndex, type EmbeddingSpace, type SearchIndex } from "./block/block.ts";
import { createIndexReader, type IndexReader } from "./block/unpack.ts";
import { yieldToEventLoop } from "./others-turn.ts";

type IndexSource = Pick<MemoryStore, "revision" | "searchIndex">;

/** What the record keeps of a user, taken out of its bytes. */
export interface StoredSearchIndex {
  /** Of this revision; nothing where none is kept. */
  readonly revision: number | undefined;
  readonly reader: IndexReader;
}

/** The user's revision; and with somebody new, where a space is named, what is kept of them: the record may be far away. */
export async function readNewest(
  record: IndexSource,
  scope: Scope,
  space: EmbeddingSpace | false,
): Promise<{ readonly revision: number; readonly asked: StoredSearchIndex | undefined }> {
  const asking = space ? readStoredIndex(record, scope, space) : undefined;
  try {
    const [revision, asked] = await Promise.all([record.revision(scope), asking]);
    return { revision, asked };
  } catch (error) {
    void asking?.then(
      ({ reader: parts }) => parts.release(),
      () => {},
    );
    throw error;
  }
}

/** Bytes that are taken in at once: of a large block, others have their turn in between. */
const PIECE_BYTES = 262_144;

async function readStoredIndex(
  record: IndexSource,
  scope: Scope,
  space: EmbeddingSpace,
): Promise<StoredSearchIndex> {
  const parts = createIndexReader(space);
  try {
    const packed = await record.searchIndex(scope, parts);
    if (packed && packed.bytes.length > 0) {
      parts.begin(packed.revision, packed.bytes.length);
      for (let at = 0; at < packed.bytes.length; at += PIECE_BYTES) {
        if (at > 0) await yieldToEventLoop();
        parts.take(packed.bytes.subarray(at, at + PIECE_BYTES));
      }
    }
    return { revision: packed?.revision, reader: parts };
  } catch (error) {
    parts.release();
    throw error;
  }
}

interface IndexLoadOptions {
  readonly space: EmbeddingSpace;
  readonly meter: Meter;
  readonly shared: SharedSearchIndexes | undefined;
  /** What the record keeps, where it was asked already. */
  readonly stored: StoredSearchIndex | undefined;
}

/** A block, and how many units were in it when another server shared it, if one did. */
interface LoadedIndex {
  readonly searchIndex: SearchIndex;
  readonly shared?: number;
}

/** The block that another server shared, or that the record kept, or an empty one. */
export async function loadIndex(
  record: IndexSource,
  scope: Scope,
  revision: number,
  { space, meter, shared, stored: asked }: IndexLoadOptions,
): Promise<LoadedIndex> {
  if (revision === 0) {
    asked?.reader.release();
    return { searchIndex: createSearchIndex(space) };
  }
  const others = await shared?.take(scope, revision);
  if (others) return { searchIndex: others, shared: others.units.count };
  const { revision: of, reader: parts } = asked ?? (await readStoredIndex(record, scope, space));
  if (of === undefined || of > revision) {
    parts.release();
    return { searchIndex: createSearchIndex(space) };
  }
  const block = parts.index();
  if (!block) meter.count("memory_blocks_lost_total");
  return { searchIndex: block ?? createSearchIndex(space) };
}
