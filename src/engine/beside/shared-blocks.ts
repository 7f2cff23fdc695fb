import { createHash } from "node:crypto";
import { canonical } from "../../domain/canonical.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Cache } from "../../ports/cache.ts";
import type { Meter } from "../../ports/meter.ts";
import type { Record } from "../../ports/record.ts";
import { type Block, bytesOfBlock, type Space } from "../block/block.ts";
import { packBlock } from "../block/pack.ts";
import { unpackBlock } from "../block/unpack.ts";
import { ifThere } from "./troubles.ts";

/** Search columns of users who are served often, for all servers: whoever meets such a user next need not build them. */
export interface SharedBlocks {
  /** The columns that another server shared, as of this revision or an older one. */
  take(scope: Scope, revision: number): Promise<Block | undefined>;
  /** Shares what is served often and worth it; nobody waits for it. */
  offer(scope: Scope, block: Block, seen: Seen): void;
}

/** What is known of one user's columns in this process. */
export interface Seen {
  /** How often they were asked for. */
  uses: number;
  /** The units in them when they were shared, or taken over, last. */
  shared?: number;
}

export interface Sharing {
  readonly cache: Cache;
  /** Columns are shared from so many uses on (5). */
  readonly hotAfter?: number;
}

const HOT = 5;
/** With fewer new units than this, or than a tenth of all, they are not worth it. */
const WORTH_SHARING = 200;
const LARGEST = 8_000_000;
/** After sharing, nothing is shared for so many times as long: a server that was just started has everybody to share. */
const RESTS = 29;
const STAMP_BYTES = 32;
const SHARED = { cache: "shared users" } as const;

export function sharedBlocks(
  record: Pick<Record, "log">,
  space: Space,
  { cache, hotAfter = HOT, meter }: Sharing & { readonly meter: Meter },
): SharedBlocks {
  const name = `block ${space.fingerprint}`;
  const stampOf = async (scope: Scope, revision: number): Promise<Buffer> => {
    const [entry] = await record.log(scope, { before: revision + 1, limit: 1 });
    return createHash("sha256")
      .update(canonical(entry ?? null))
      .digest();
  };
  const share = async ({ project, user }: Scope, block: Block, seen: Seen): Promise<void> => {
    const { revision } = block;
    const { count } = block.units;
    const packed = await packBlock(block);
    if (!packed || packed.length > LARGEST) return;
    seen.shared = count;
    const bytes = Buffer.concat([await stampOf({ project, user }, revision), packed]);
    await cache.put({ project, user }, name, bytes, { revision });
  };
  let last: Promise<void> = Promise.resolve();
  const shareInTurn = async (scope: Scope, block: Block, seen: Seen): Promise<void> => {
    const begun = performance.now();
    if (block.isReleased) seen.shared = 0;
    else await ifThere({ meter }, "cache", () => share(scope, block, seen));
    const rest = (performance.now() - begun) * RESTS;
    await new Promise<void>((resolve) => void setTimeout(resolve, rest).unref());
  };
  return {
    async take({ project, user }, revision) {
      const held = await ifThere({ meter }, "cache", () => cache.get({ project, user }, name));
      const block = held && unpackBlock(held.slice(STAMP_BYTES), space);
      // A record that was put back to an older state has revisions of the same number that are other ones.
      const isOurs =
        block &&
        block.revision <= revision &&
        (await stampOf({ project, user }, block.revision)).equals(held.subarray(0, STAMP_BYTES));
      meter.count(isOurs ? "cache_hits_total" : "cache_misses_total", SHARED);
      return isOurs ? block : undefined;
    },
    offer(scope, block, seen) {
      seen.uses += 1;
      const units = block.units.count;
      const fresh = units - (seen.shared ?? 0);
      if (seen.uses < hotAfter || fresh < WORTH_SHARING || fresh < units / 10) return;
      if (bytesOfBlock(block) > LARGEST * 2) return;
      // Not again before it is done, or has failed and there is more.
      seen.shared = units;
      // Not within the time of whoever asked.
      setImmediate(() => {
        last = last.then(() => shareInTurn(scope, block, seen));
      });
    },
  };
}
