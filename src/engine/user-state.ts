import type { Link, Tombstone } from "../domain/change-set.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { type Scope, scopeKey } from "../domain/scope.ts";
import { dropWords } from "../domain/word-cache.ts";
import { type Meter, NO_METER } from "../ports/meter.ts";
import type { Delta, Record } from "../ports/record.ts";
import { type Sharing, sharedBlocks } from "./beside/shared-blocks.ts";
import { type Block, bytesOfBlock, following, release, type Space } from "./block/block.ts";
import { isMostlyGone, packBlock } from "./block/pack.ts";
import { scrub } from "./block/scrub.ts";
import type { ClaimIndex } from "./claim-index.ts";
import { othersTurn } from "./others-turn.ts";
import { spaceOf } from "./space.ts";
import { turns } from "./turns.ts";
import { type Asked, newest, takenUp } from "./user-block.ts";
import { nothing, take, type Whole } from "./user-whole.ts";

/**
 * A user's record as this process knows it. It is a cache: before each use it asks the record for the user's revision
 * and takes in what came since, so that several processes stay coherent. Read-only for everybody but `userStates`.
 */
export interface UserState {
  readonly scope: Scope;
  readonly revision: number;
  /** In the order of their turns. */
  readonly messages: ReadonlyMap<string, Message>;
  /** The newest version of each, in the order in which they were first stored. */
  readonly memories: ReadonlyMap<string, Memory>;
  /** Those of them that are current, in the same order. */
  readonly current: ReadonlyMap<string, Memory>;
  /** Over the newest versions of all memories, whatever their status. */
  readonly claims: ClaimIndex;
  /** What search needs, in columns. */
  readonly block: Block;
  /** By hash. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  readonly links: readonly Link[];
  /** Ids of messages and memories whose rows were changed since they were written: nobody is told what they say. */
  readonly damaged: ReadonlySet<string>;
  /** How many messages wait to be understood. */
  readonly pending: number;
  /** When the newest of the messages and memories was stored (ISO 8601, UTC); empty for none. */
  readonly storedUntil: string;
}

export interface UserStates {
  /** Everything of a user. */
  of(scope: Scope): Promise<UserState>;
  /** What search needs: a small part of everything, and quick to come by. Valid until the next wait. */
  block(scope: Scope): Promise<Block>;
  /** The same as it was last, where it is held; whether it is the newest is not asked. */
  held(scope: Scope): Block | undefined;
  /** All messages and memories, where they are held and at least as new as a revision. */
  texts(scope: Scope, revision: number): Pick<UserState, "messages" | "memories" | "damaged"> | undefined;
  /**
   * Takes in what was erased of one user, or of all, and leaves no trace of it; or lets go of whoever it cannot ask the record
   * about. Never rejects.
   */
  cleanse(scope?: Scope): Promise<void>;
  /** Keeps in the record what makes the next start quick, and lets go of all. */
  close(): Promise<void>;
}

interface Kept {
  readonly scope: Scope;
  block: Block;
  whole?: Whole;
  uses: number;
  /** True while it takes in what came: nobody may search it. */
  isBehind?: boolean;
  shared?: number;
  /** Memory that it took when it was last used, about. */
  bytes: number;
  /** When it was last used, in ms of this process. */
  usedAt: number;
}

/** A block with more new units than this, and than a tenth of all, is worth keeping anew. */
const WORTH_KEEPING = 200;
const CACHE_BYTES = 256_000_000;
/** With so many messages and memories, a user takes a second and more to be read again. */
const SLOW_TO_READ = 20_000;
/** So long the slowest to read stays beside the one in use, whatever room it takes: else each request would read it anew. */
const STAYS_MS = 60_000;
const USERS = { cache: "users" } as const;

type Source = Pick<Record, "revision" | "since" | "block" | "keepBlock" | "log">;

export interface UserStatesOptions {
  /** Asked each time that something is taken in. */
  readonly bytes?: () => number;
  readonly meter?: Meter;
  /** Where the blocks of users who are served often are shared with other servers. */
  readonly sharing?: Sharing | undefined;
}

/**
 * Keeps the states of the users used last, up to about so many bytes (256 MB). The one in use always stays; and of those that are
 * slow to read the largest that was used within a minute.
 */
export function userStates(
  record: Source,
  embedder: Space,
  { bytes = () => CACHE_BYTES, meter = NO_METER, sharing }: UserStatesOptions = {},
): UserStates {
  const space: Space = { fingerprint: spaceOf(embedder), dimensions: embedder.dimensions };
  const shared = sharing && sharedBlocks(record, space, { ...sharing, meter });
  const kept = new Map<string, Kept>();
  // One refresh at a time per user: two would take in the same delta twice.
  const { inTurn, isAtWork } = turns();

  const held = async (scope: Scope, revision: number, asked?: Asked): Promise<Kept> => {
    const key = scopeKey(scope);
    const found = kept.get(key);
    // A lower revision than ours: the database was replaced by an older one.
    if (found && found.block.revision <= revision) return found;
    if (found) letGo(found);
    const block = await takenUp(record, scope, revision, { space, meter, shared, asked });
    const own = { project: scope.project, user: scope.user };
    const one: Kept = { scope: own, uses: 0, bytes: 0, usedAt: 0, ...block };
    kept.set(key, one);
    return one;
  };

  const letGo = (one: Kept | undefined): void => {
    if (!one) return;
    kept.delete(scopeKey(one.scope));
    release(one.block);
  };

  const makeRoom = (current: Kept): void => {
    touch(kept, current);
    for (const one of overflow(kept, bytes(), current, ({ scope }) => isAtWork(scope))) {
      kept.delete(scopeKey(one.scope));
      void inTurn(one.scope, () => keep(record, one)).finally(() => release(one.block));
    }
  };

  const refreshed = async (scope: Scope, isWhole: boolean): Promise<Kept> => {
    const { revision, asked } = await newest(record, scope, !shared && !kept.has(scopeKey(scope)) && space);
    const one = await held(scope, revision, asked);
    if (one.block.revision === revision && (one.whole?.revision === revision || !isWhole)) {
      touch(kept, one);
      meter.count("cache_hits_total", USERS);
      return one;
    }
    meter.count("cache_misses_total", USERS);
    await catchUp(record, one, revision, isWhole);
    makeRoom(one);
    return one;
  };

  return {
    of: (scope) => inTurn(scope, async () => stateOf(await refreshed(scope, true))),
    block: (scope) =>
      inTurn(scope, async () => {
        const one = await refreshed(scope, false);
        shared?.offer(scope, one.block, one);
        return one.block;
      }),
    held(scope) {
      const one = kept.get(scopeKey(scope));
      return one?.isBehind ? undefined : one?.block;
    },
    texts: (scope, revision) => textsOf(kept.get(scopeKey(scope)), revision),
    async cleanse(scope) {
      let isThere = true;
      // Whoever is at work with one goes on to the end first.
      for (const { scope: whose } of scope ? [{ scope }] : [...kept.values()]) {
        await inTurn(whose, async () => {
          const one = kept.get(scopeKey(whose));
          isThere &&= !one || (await isCleansed(record, one));
          if (one && (!isThere || isMostlyGone(one.block))) letGo(one);
        });
      }
      // Last: what was at work until now may have looked up a word that was erased.
      dropWords();
    },
    async close() {
      for (const one of [...kept.values()]) {
        await inTurn(one.scope, () => keep(record, one));
        letGo(one);
      }
    },
  };
}

/** Those that there is no room for beside the one in use, once others are lighter. */
function overflow(
  kept: ReadonlyMap<string, Kept>,
  most: number,
  current: Kept,
  isAtWork: (one: Kept) => boolean,
): Kept[] {
  const slow = slowest(kept);
  let sum = lightened(kept, most, current, (one) => one === slow || isAtWork(one));
  const over: Kept[] = [];
  for (const one of kept.values()) {
    if (sum <= most || one === current) break;
    if (one === slow) continue;
    sum -= one.bytes;
    over.push(one);
  }
  return over;
}

/** Takes from others what only writes need: searches are many, and live by the blocks. Gives how much is held then. */
function lightened(
  kept: ReadonlyMap<string, Kept>,
  most: number,
  current: Kept,
  stays: (one: Kept) => boolean,
): number {
  current.bytes = bytesOf(current);
  let sum = 0;
  for (const one of kept.values()) sum += one.bytes;
  for (const one of kept.values()) {
    if (sum <= most) break;
    if (one === current || stays(one)) continue;
    const { bytes = 0 } = one.whole ?? {};
    sum -= bytes;
    one.bytes -= bytes;
    delete one.whole;
  }
  return sum;
}

/** The largest of those that are slow to read and were used of late. */
function slowest(kept: ReadonlyMap<string, Kept>): Kept | undefined {
  const from = performance.now() - STAYS_MS;
  let found: Kept | undefined;
  for (const one of kept.values()) {
    const { messages, memories } = one.whole ?? {};
    const rows = (messages?.size ?? 0) + (memories?.size ?? 0);
    if (rows >= SLOW_TO_READ && one.usedAt >= from && one.bytes > (found?.bytes ?? 0)) found = one;
  }
  return found;
}

/** Used last stands last. */
function touch(kept: Map<string, Kept>, one: Kept): void {
  const key = scopeKey(one.scope);
  one.usedAt = performance.now();
  kept.delete(key);
  kept.set(key, one);
}

/** Takes in what came since, in one read where the block and the rest stand at the same revision. */
async function catchUp(record: Source, one: Kept, revision: number, isWhole: boolean): Promise<void> {
  const { scope, block } = one;
  if (block.revision < revision) {
    const from = block.revision;
    const delta = await record.since(scope, from);
    await followInSlices(one, delta);
    if (one.whole?.revision === from) await take(one.whole, delta);
  }
  if (!one.whole && !isWhole) return;
  one.whole ??= nothing();
  while (one.whole.revision < block.revision) {
    await take(one.whole, await record.since(scope, one.whole.revision, { units: false }));
  }
  // Somebody wrote in between: the block follows, for both must be of one revision.
  while (block.revision < one.whole.revision)
    await followInSlices(one, await record.since(scope, block.revision));
}

/** After so many steps others have their turn: about every five milliseconds. */
const SLICE = 200;

/** Others that have the block in hand have had their turn with it: it is searched before the next wait. */
async function followInSlices(one: Kept, delta: Delta): Promise<void> {
  one.isBehind = true;
  let done = 0;
  for (const _step of following(one.block, delta)) {
    done += 1;
    if (done % SLICE === 0) await othersTurn();
  }
  one.isBehind = false;
}

/** Whether what was erased of a user is gone from what is held; not where the record is at an earlier revision, or cannot be asked. */
async function isCleansed(record: Source, one: Kept): Promise<boolean> {
  const { block } = one;
  try {
    const revision = await record.revision(one.scope);
    if (block.isReleased || block.revision > revision) return false;
    await catchUp(record, one, revision, false);
  } catch {
    return false;
  }
  // One that is mostly gone is let go of, and read anew.
  if (!isMostlyGone(block)) scrub(block);
  // What was kept of them went with the erasure, beside the record and with the other servers.
  block.unkept = block.units.count;
  one.uses = 0;
  delete one.shared;
  return true;
}

function stateOf({ scope, block, whole = nothing() }: Kept): UserState {
  const { pending, bytes: _bytes, ...rest } = whole;
  return { scope, block, ...rest, pending: pending.size };
}

function textsOf(one: Kept | undefined, revision: number): Whole | undefined {
  return one?.whole && one.whole.revision >= revision ? one.whole : undefined;
}

function bytesOf({ block, whole }: Kept): number {
  return bytesOfBlock(block) + (whole?.bytes ?? 0);
}

/** Best effort: a block that cannot be kept is built anew at the next start. */
async function keep(record: Source, one: Kept): Promise<void> {
  const { scope, block } = one;
  if (block.isReleased) return;
  try {
    // Its own last writes are not in it yet.
    await catchUp(record, one, await record.revision(scope), false);
    if (block.unkept < WORTH_KEEPING || block.unkept < block.units.count / 10) return;
    const bytes = await packBlock(block);
    if (!bytes) return;
    await record.keepBlock(scope, { revision: block.revision, bytes });
    block.unkept = 0;
  } catch {
    // A full or locked database: nothing is lost but time.
  }
}
