import type { Fault, IntegrityState, StorageCondition } from "../../ports/memory-store.ts";

export interface ExamineOptions {
  /** Copies of the database from which rows may be restored, newest first. */
  readonly backups?: readonly string[];
  /** Whether to repair what can be repaired. */
  readonly fix?: boolean;
}

/** What can be repaired, and from which source. */
export interface Remedy {
  /**
   * `itself`: from data here that digests verify.
   * `backup`: rows that a backup holds unchanged.
   * `messages`: search units that can be rebuilt, or memories that can be extracted again from an intact
   * message.
   * `export`: nothing here has the data; import a file that does.
   */
  readonly from: "itself" | "backup" | "messages" | "export";
  readonly what: "rows" | "search units" | "memories";
  readonly count: number;
  /** The backup file. */
  readonly file?: string;
}

export interface Examination {
  /** Whether no fault remains. */
  readonly isHealthy: boolean;
  readonly faults: readonly Fault[];
  /** Absent if the store keeps no digests. */
  readonly integrity?: IntegrityState;
  /** Remedies for the remaining faults. */
  readonly remedies: readonly Remedy[];
  /** Number of repaired rows. */
  readonly repaired: number;
}

/** Why a service is degraded or down, if known. */
type DependencyProblem = "slow" | "silent" | "circuit" | "failing" | "behind" | "overdue";

/** A service that the memory depends on. */
export interface DependencyState {
  /**
   * Never an address: "record", "sessions", "cache", "queue", "embedder", "model", "reranker",
   * "identity_provider", or "index" and "backups" with the name of the adapter.
   */
  readonly kind: string;
  readonly name?: string;
  /** `degraded`: it answers slowly or intermittently, or it lags behind. */
  readonly state: "up" | "degraded" | "down";
  /** When the state began (ISO 8601, UTC). */
  readonly since: string;
  /**
   * `slow`: it took over a second.
   * `silent`: it gave no answer, or an error.
   * `circuit`: requests are held back after several failures.
   * `failing`: the last request failed.
   * `behind`: it lacks data written over a minute ago.
   * `overdue`: the next backup is two hours late.
   */
  readonly problem?: DependencyProblem;
  /** Of backups: the time of the newest one that was checked (ISO 8601, UTC). Absent if there is none. */
  readonly lastSuccess?: string;
}

/** State of the secret: `own` wrote the stored rows, `another` did not, `new` was created at this start. */
export type SecretState = "own" | "another" | "new";

/** The result of one check. Contains no address, path, name or user text. */
export interface HealthCheck {
  readonly name:
    | "durability"
    | "format"
    | "file"
    | "disk"
    | "secret"
    | "rows"
    | "digests"
    | "erasures"
    | "jobs"
    | "indexes"
    | "webhooks";
  readonly state: "ok" | "warning";
  /** The finding in one sentence, and what to do about it, if anything. */
  readonly says: string;
  /** A count, or the number of free bytes. */
  readonly count?: number;
}

/** The quick part of what `doctor` reports. */
export interface Health {
  /** `down`: the store does not answer; `degraded`: another check failed. */
  readonly status: "ok" | "degraded" | "down";
  /**
   * Whether an acknowledged write survives a loss of power. `none`: nothing is persisted; `unknown`: the
   * store does not say.
   */
  readonly durability: StorageCondition["durability"] | "unknown";
  /** Time of the checks (ISO 8601, UTC). */
  readonly checkedAt?: string;
  readonly checks: readonly HealthCheck[];
  readonly dependencies: readonly DependencyState[];
}
