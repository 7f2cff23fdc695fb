import { type Meter, NO_METER } from "../../ports/meter.ts";

/** Counts rows that were not as they were written: those read here, and those that processes of this one report. */
export function createDamageCounter(meter: Meter = NO_METER): {
  readonly rows: () => number;
  readonly count: () => void;
  readonly meter: Meter;
} {
  const name = "memory_damaged_rows_total";
  let rows = 0;
  const watching: Meter = {
    count(counted, labels, by) {
      if (counted === name) rows += by ?? 1;
      meter.count(counted, labels, by);
    },
    observe: (observed, value, labels) => meter.observe(observed, value, labels),
    set: (gauge, value, labels) => meter.set(gauge, value, labels),
  };
  return { rows: () => rows, count: () => watching.count(name), meter: watching };
}
