/**
 * Is told how often something happened and how long it took; `domain/metrics.ts` has the names. It is quick, keeps no
 * reference to what it is given, and never throws. Labels come from small fixed sets: never an id, a name or a text of a user.
 */
export interface Meter {
  count(name: string, labels?: Labels, by?: number): void;
  /** In the unit that the name ends with. */
  observe(name: string, value: number, labels?: Labels): void;
  /** Sets a value that goes up and down. */
  set(name: string, value: number, labels?: Labels): void;
}

export type Labels = { readonly [name: string]: string };

/** For a library whose user wants no metrics. */
export const NO_METER: Meter = { count() {}, observe() {}, set() {} };
