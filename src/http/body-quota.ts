import { refuse } from "./problem.ts";

/** Bytes of bodies that the server holds at once, over all requests. Each is held several times over while it is read. */
const MAX_TOTAL_BYTES = 67_108_864;
/** Of these, so much for the requests of one key: the longest body fits in, and others still get some. */
const MAX_KEY_BYTES = 41_943_040;

/** Bodies that came in and are not done with yet. */
export interface BodyQuota {
  /** For one request; `key` is the public half of its key. */
  reserve(key: string | undefined): BodyReservation;
}

interface BodyReservation {
  /** Counts bytes that came in. Refuses them where the server (503) or the key (429) holds too many already. */
  add(bytes: number): void;
  /** Lets go of all that was counted. */
  release(): void;
}

export interface BodyBounds {
  /** Bytes for all requests (67,108,864). */
  readonly most?: number;
  /** Bytes for the requests of one key (41,943,040). */
  readonly mostOfKey?: number;
}

/** Bounds what bodies take of the server's memory, however many come at once. */
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
          // One that is alone always fits in: a bound below the longest body would keep it out for ever.
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
  const whose = status === 429 ? "this key holds" : "the server holds";
  return refuse({
    status,
    code: status === 429 ? "over_quota" : "unavailable",
    detail: `The bodies of the requests that ${whose} now are too large together. Send this one again in a moment.`,
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** What is told of a body while it comes in. Each step may refuse it. */
export interface BodyObserver {
  /** Before the first byte. `length` is what the request says of it; undefined where it does not say. */
  begin(length: number | undefined): Promise<void>;
  /** For each piece. */
  add(bytes: number): void;
  /** After the last byte. */
  end(): Promise<void>;
}

/** Counts a body among those in flight, and takes it off the allowance of its key in bytes. */
export function createBodyObserver(
  held: BodyReservation,
  spend: (bytes: number) => Promise<void>,
): BodyObserver {
  let came = 0;
  let isSpent = false;
  return {
    async begin(length) {
      held.add(0);
      isSpent = length !== undefined;
      if (length !== undefined && length > 0) await spend(length);
    },
    add(bytes) {
      came += bytes;
      held.add(bytes);
    },
    async end() {
      if (!isSpent && came > 0) await spend(came);
    },
  };
}

/** Where nothing is counted. */
export const NO_BODY_OBSERVER: BodyObserver = {
  begin: async () => {},
  add() {},
  end: async () => {},
};
