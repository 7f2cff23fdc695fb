import type { BodyReservation } from "./in-flight.ts";

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
