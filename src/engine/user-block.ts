import type { Scope } from "../domain/scope.ts";
import type { Meter } from "../ports/meter.ts";
import type { Record } from "../ports/record.ts";
import type { SharedBlocks } from "./beside/shared-blocks.ts";
import { type Block, emptyBlock, type Space } from "./block/block.ts";
import { type Unpacking, unpacking } from "./block/unpack.ts";
import { othersTurn } from "./others-turn.ts";

type Source = Pick<Record, "revision" | "block">;

/** What the record keeps of a user, taken out of its bytes. */
export interface Asked {
  /** Of this revision; nothing where none is kept. */
  readonly revision: number | undefined;
  readonly parts: Unpacking;
}

/** The user's revision; and with somebody new, where a space is named, what is kept of them: the record may be far away. */
export async function newest(
  record: Source,
  scope: Scope,
  space: Space | false,
): Promise<{ readonly revision: number; readonly asked: Asked | undefined }> {
  const asking = space ? askFor(record, scope, space) : undefined;
  try {
    const [revision, asked] = await Promise.all([record.revision(scope), asking]);
    return { revision, asked };
  } catch (error) {
    void asking?.then(
      ({ parts }) => parts.release(),
      () => {},
    );
    throw error;
  }
}

/** Bytes that are taken in at once: of a large block, others have their turn in between. */
const PIECE = 262_144;

async function askFor(record: Source, scope: Scope, space: Space): Promise<Asked> {
  const parts = unpacking(space);
  try {
    const packed = await record.block(scope, parts);
    if (packed && packed.bytes.length > 0) {
      parts.begin(packed.revision, packed.bytes.length);
      for (let at = 0; at < packed.bytes.length; at += PIECE) {
        if (at > 0) await othersTurn();
        parts.take(packed.bytes.subarray(at, at + PIECE));
      }
    }
    return { revision: packed?.revision, parts };
  } catch (error) {
    parts.release();
    throw error;
  }
}

interface Taking {
  readonly space: Space;
  readonly meter: Meter;
  readonly shared: SharedBlocks | undefined;
  /** What the record keeps, where it was asked already. */
  readonly asked: Asked | undefined;
}

/** A block, and how many units were in it when another server shared it, if one did. */
interface TakenUp {
  readonly block: Block;
  readonly shared?: number;
}

/** The block that another server shared, or that the record kept, or an empty one. */
export async function takenUp(
  record: Source,
  scope: Scope,
  revision: number,
  { space, meter, shared, asked }: Taking,
): Promise<TakenUp> {
  if (revision === 0) {
    asked?.parts.release();
    return { block: emptyBlock(space) };
  }
  const others = await shared?.take(scope, revision);
  if (others) return { block: others, shared: others.units.count };
  const { revision: of, parts } = asked ?? (await askFor(record, scope, space));
  if (of === undefined || of > revision) {
    parts.release();
    return { block: emptyBlock(space) };
  }
  const block = parts.block();
  if (!block) meter.count("memory_blocks_lost_total");
  return { block: block ?? emptyBlock(space) };
}
