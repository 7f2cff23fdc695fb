import { refuse } from "./problem.ts";

/** Maximum bytes of request bodies held at once. Reading a body holds several copies of it. */
const MAX_TOTAL_BYTES = 67_108_864;
/** The maximum for one key: the longest body fits, and other keys still get a share. */
const MAX_KEY_BYTES = 41_943_040;

/** Limits the bodies of requests in progress. */
export interface BodyQuota {
  /** Begins a reservation for one request. `key` is the public part of its key. */
  reserve(key: string | undefined): BodyReservation;
}

interface BodyReservation {
  /** Counts received bytes. Throws 503 if the server holds too many, and 429 if the key does. */
  add(bytes: number): void;
  /** Releases all counted bytes. */
  release(): void;
}

export interface BodyBounds {
  /** Maximum bytes of all requests (67,108,864). */
  readonly most?: number;
  /** Maximum bytes of the requests of one key (41,943,040). */
  readonly mostOfKey?: number;
}

/** Creates a quota that limits the memory used by request bodies. */
export function createBodyQuota(bounds: BodyBounds = {}): BodyQuota {
  const { most = MAX_TOTAL_BYTES, mostOfKey = Math.min(most, MAX_KEY_BYTES) } = bounds;
  const byKey = new Map<string, number>();
  let all = 0;
  return {
    reserve(key = "") {
      let held = 0;
      const change = (bytes: number): void => {
        held += bytes;
        all += bytes;
        const left = (byKey.get(key) ?? 0) + bytes;
        if (left > 0) byKey.set(key, left);
        else byKey.delete(key);
      };
      return {
        add(bytes) {
          // A single body always fits. Otherwise a limit below the longest body would refuse it forever.
          const isAlone = all === held;
          if (!isAlone && all + bytes > most) throw createQuotaError(503);
          if (!isAlone && (byKey.get(key) ?? 0) + bytes > mostOfKey) throw createQuotaError(429);
          change(bytes);
        },
        release() {
          change(-held);
        },
      };
    },
  };
}

function createQuotaError(status: 429 | 503): Error {
  const owner = status === 429 ? "of this key" : "on this server";
  return refuse({
    status,
    code: status === 429 ? "over_quota" : "unavailable",
    detail: `The bodies of current requests ${owner} are too large together. Try again in a moment.`,
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** Observes a body while it is received. Each step may throw to refuse it. */
export interface BodyObserver {
  /** Called before the first byte. `length` is the declared length, if any. */
  begin(length: number | undefined): Promise<void>;
  /** Called for each chunk that is kept until the body is whole. */
  add(bytes: number): void;
  /** Called for each chunk of a body that is used as it comes. Waits until it is counted. */
  pass(bytes: number): Promise<void>;
  /** Called after the last byte. */
  end(): Promise<void>;
}

/** A body of unknown length that is used as it comes is counted in parts of this many bytes: a count may ask a server. */
const COUNTED_PART_BYTES = 262_144;

/**
 * Counts a body in the quota and in the byte limit of its key. The limit counts a declared length before the body is read. It
 * counts any other body while or after it is read.
 */
export function createBodyObserver(
  held: BodyReservation,
  spend: (bytes: number) => Promise<void>,
): BodyObserver {
  /** Received bytes that the limit of the key has not counted. */
  let uncounted = 0;
  let isSpent = false;
  const spendUncounted = async (): Promise<void> => {
    const bytes = uncounted;
    uncounted = 0;
    if (!isSpent && bytes > 0) await spend(bytes);
  };
  return {
    async begin(length) {
      held.add(0);
      isSpent = length !== undefined;
      if (length !== undefined && length > 0) await spend(length);
    },
    add(bytes) {
      uncounted += bytes;
      held.add(bytes);
    },
    async pass(bytes) {
      uncounted += bytes;
      if (uncounted >= COUNTED_PART_BYTES) await spendUncounted();
    },
    end: spendUncounted,
  };
}

/** An observer that counts nothing. */
export const NO_BODY_OBSERVER: BodyObserver = {
  begin: async () => {},
  add() {},
  pass: async () => {},
  end: async () => {},
};
