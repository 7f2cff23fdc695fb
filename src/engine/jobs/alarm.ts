import type { Clock } from "../../ports/clock.ts";

/** When something happens next, and what rings then. It holds up no end of the program. */
export interface Alarm {
  /** In so many ms; nothing where absent. It is told, and rings by other means. */
  announce(ms?: number): void;
  /** Rings once after so many ms, in place of what was set before. */
  set(ms: number, ring: () => void): void;
  clear(): void;
  /** ms since 1970. */
  at(): number | undefined;
}

export function createAlarm(clock: Clock): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let at: number | undefined;
  const tell = (ms?: number): void => {
    at = ms === undefined ? undefined : clock().getTime() + ms;
  };
  return {
    announce: tell,
    set(ms, ring) {
      clearTimeout(timer);
      tell(ms);
      timer = setTimeout(ring, ms);
      timer.unref();
    },
    clear: () => clearTimeout(timer),
    at: () => at,
  };
}
