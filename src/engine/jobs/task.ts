import type { JobName } from "../../domain/job.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Ports } from "../ports.ts";
import { DECAY_DAYS } from "../recall/take-options.ts";

/** What is done to a memory; a `faded` one stays as it is. */
export type EditAction = "expired" | "merged" | "archived" | "faded";

/** One thing that a task would do. */
export interface MaintenanceEdit {
  readonly id: string;
  /** The version that it was thought out on; of another one it is dropped. */
  readonly version: number;
  readonly action: EditAction;
  /** The memory that it is merged into, and the version of that. */
  readonly into?: { readonly id: string; readonly version: number };
  /** Why, in words for a person, without the user's own. */
  readonly why: string;
}

/** What a look at all of a user's current memories came to. */
export interface TaskPlan {
  readonly edits: readonly MaintenanceEdit[];
  /** When there will be more to do (ISO 8601), if nothing changes until then. */
  readonly due?: string;
}

/** What a task looks at: everything that is current, as of one revision. */
export interface TaskInput {
  readonly scope: Scope;
  readonly memories: readonly Memory[];
  /** Now (ISO 8601). */
  readonly at: string;
}

/** A job that looks after one user's memories at a time. It thinks; `carryOut` writes. */
export interface MaintenanceTask {
  readonly name: JobName;
  readonly about: string;
  readonly everyMs: number;
  /** Whether the background carries out what it thinks of, or counts it and leaves it to people. */
  isAutomatic(ports: Ports): boolean;
  plan(ports: Ports, looking: TaskInput): Promise<TaskPlan>;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS: number = 60 * MINUTE_MS;
export const DAY_MS: number = 24 * HOUR_MS;

/** After so many halvings hardly anything is left of it: a sixteenth. */
const HALVINGS = 4;

/** The time (ISO 8601) before which what was said has faded. */
export function computeFadeCutoff(ports: Pick<Ports, "decayDays">, at: string): string {
  const days = HALVINGS * (ports.decayDays ?? DECAY_DAYS);
  return new Date(Date.parse(at) - days * DAY_MS).toISOString();
}

export function countDaysBetween(from: string, to: string): number {
  return Math.floor((Date.parse(to) - Date.parse(from)) / DAY_MS);
}
