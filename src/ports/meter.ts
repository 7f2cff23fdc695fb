/**
 * Is told how often something happened and how long it took; `domain/metrics.ts` has the names. It is quick, keeps no
 * reference to what it is given, and never throws. Labels come from small fixed sets: never an id, a name or a text of a user.
 */
export interface Meter {
  count(name: string, labels?: MetricLabels, by?: number): void;
  /** In the unit that the name ends with. */
  observe(name: string, value: number, labels?: MetricLabels): void;
  /** Sets a value that goes up and down. */
  set(name: string, value: number, labels?: MetricLabels): void;
}

export type MetricLabels = { readonly [name: string]: string };

/** For a library whose user wants no metrics. */
export const NO_METER: Meter = { count() {}, observe() {}, set() {} };
