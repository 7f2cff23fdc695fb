import type { StorageCondition } from "../../ports/memory-store.ts";
import type { DependencyState, Health, HealthCheck, SecretState } from "../api/inspection-types.ts";
import type { JobState } from "../api/maintenance-types.ts";
import type { Ports } from "../ports.ts";
import type { DependencyWatch } from "./dependencies.ts";

/** Runs the checks at most once a minute. */
interface HealthWatch {
  /**
   * The last known state. In a server it never waits; before the first check ends, the list of checks is
   * empty.
   */
  health(): Promise<Health>;
  stop(): void;
}

interface HealthSources {
  readonly dependencies: Pick<DependencyWatch, "states"> | undefined;
  /** Count for this process. */
  readonly damagedRows: () => number;
  readonly secret: SecretState;
  jobs(): Promise<readonly JobState[]>;
}

const CHECK_INTERVAL_MS = 60_000;
/** Delay before a failed first check is repeated. */
const RETRY_MS = 5000;
/** A check that takes longer is abandoned; the previous result stays in use. */
const CHECK_TIMEOUT_MS = 5000;
const LOW_DISK_BYTES = 200_000_000;
const LOW_DISK_SHARE = 0.05;

type CheckedPorts = Pick<Ports, "store" | "indexSync" | "clock" | "meter">;

/**
 * `isServer`: checks at once and then once a minute, so that no caller waits for a check. Otherwise it checks
 * on a call, if the last check is older than a minute.
 */
export function watchHealth(
  ports: CheckedPorts,
  sources: HealthSources,
  { isServer }: { readonly isServer: boolean },
): HealthWatch {
  let found: Pick<Health, "durability" | "checkedAt" | "checks"> | undefined;
  let foundAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  const look = (): Promise<void> => {
    looking ??= withTimeout(runChecks(ports, sources))
      .then((checked) => {
        if (!checked) return;
        found = { ...checked, checkedAt: ports.clock().toISOString() };
        for (const { name, state } of checked.checks) {
          ports.meter?.set("keepsake_health_check", state === "ok" ? 0 : 1, { check: name });
        }
      })
      .finally(() => {
        foundAt = performance.now();
        looking = undefined;
      });
    return looking;
  };
  const isDue = (): boolean => found === undefined || performance.now() - foundAt > CHECK_INTERVAL_MS;
  const timer = isServer ? setInterval(() => void (isDue() && look()), RETRY_MS) : undefined;
  timer?.unref();
  if (isServer) void look();
  return {
    async health() {
      if (!isServer && isDue()) await look();
      const dependencies = sources.dependencies?.states() ?? [];
      const { durability = "unknown", checks = [], checkedAt } = found ?? {};
      return {
        status: statusOf(dependencies, checks),
        durability,
        ...(checkedAt === undefined ? {} : { checkedAt }),
        checks,
        dependencies,
      };
    },
    stop: () => clearInterval(timer),
  };
}

function statusOf(
  dependencies: readonly DependencyState[],
  checks: readonly HealthCheck[],
): Health["status"] {
  if (dependencies.some(({ kind, state }) => kind === "record" && state === "down")) return "down";
  const isWell =
    dependencies.every(({ state }) => state === "up") && checks.every(({ state }) => state === "ok");
  return isWell ? "ok" : "degraded";
}

/**
 * Undefined if the work failed or took too long. The dependency watch reports a store that does not answer.
 */
async function withTimeout<Result>(work: Promise<Result>): Promise<Result | undefined> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(resolve, CHECK_TIMEOUT_MS, undefined).unref();
  });
  return Promise.race([work.catch(() => undefined), late]);
}

async function runChecks(
  { store, indexSync, clock }: CheckedPorts,
  { damagedRows, secret, jobs }: HealthSources,
): Promise<Pick<Health, "durability" | "checks">> {
  const condition = await store.maintenance?.condition();
  const setAside = (await jobs()).reduce((sum, one) => sum + (one.setAside ?? 0), 0);
  const behind = (indexSync?.lag() ?? []).reduce((sum, one) => sum + one.behind, 0);
  const storageChecks = condition ? toStorageChecks(condition) : [];
  const hasProof = condition?.rowsWithoutDigest !== undefined || secret === "another";
  return {
    durability: condition?.durability ?? "unknown",
    checks: [
      ...storageChecks,
      checkSecret(secret),
      ...(hasProof
        ? [
            toCountCheck("rows", damagedRows(), {
              none: "No damaged row has been read.",
              some: "Rows were changed after they were written, by a disk fault or another program. Run `keepsake doctor`.",
            }),
          ]
        : []),
      toCountCheck("jobs", setAside, {
        none: "No background work is quarantined.",
        some: "Background work failed too often and is quarantined. See the list of jobs.",
      }),
      ...(indexSync
        ? [
            {
              name: "indexes",
              state: "ok",
              says: "Users whose latest writes are not in an index yet.",
              count: behind,
            } as const,
          ]
        : []),
      ...(await checkWebhooks(store, clock())),
    ],
  };
}

/** How long a receiver may fail before it counts as a problem of the operator. */
const FAILING_MS = 3_600_000;

/** Webhooks that the server disabled, or whose receiver has failed for an hour. No check if there are no webhooks. */
async function checkWebhooks({ webhooks }: CheckedPorts["store"], now: Date): Promise<HealthCheck[]> {
  const stored = (await webhooks?.list()) ?? [];
  if (stored.length === 0) return [];
  const failing = stored.filter(({ webhook, health: { failures, failingSince } }) => {
    if (!webhook.enabled) return webhook.disabledFor !== undefined;
    return failures > 0 && now.getTime() - Date.parse(failingSince ?? "") > FAILING_MS;
  });
  return [
    toCountCheck("webhooks", failing.length, {
      none: "No webhook has failed for long.",
      some: "Webhooks have failed for an hour or more, or were disabled for it. See `keepsake webhooks list`.",
    }),
  ];
}

function toStorageChecks(condition: StorageCondition): HealthCheck[] {
  const { durability, reducedBy, format, olderCopies, erasing, unverified, rowsWithoutDigest } = condition;
  const { disk, isReadOnly } = condition;
  return [
    {
      name: "durability",
      state: durability === "reduced" ? "warning" : "ok",
      says: {
        full: "Acknowledged writes survive a loss of power.",
        none: "Nothing is persisted: all data is lost when the process ends.",
        reduced: `${reducedBy.join(" and ")} is off: a loss of power may lose or damage acknowledged writes. Turn it on.`,
      }[durability],
    },
    {
      name: "format",
      state: "ok",
      says:
        olderCopies > 0
          ? `Format ${format}. A copy from before the update is kept until the next erasure, or for seven days.`
          : `Format ${format}.`,
      ...(olderCopies > 0 ? { count: olderCopies } : {}),
    },
    {
      name: "file",
      state: isReadOnly ? "warning" : "ok",
      says: isReadOnly
        ? "The storage is not writable. Check the owner and mode of the file and its folder, and how its disk is mounted."
        : "The storage is writable.",
    },
    ...(disk ? [checkDisk(disk)] : []),
    ...(rowsWithoutDigest === undefined
      ? []
      : [
          {
            name: "digests",
            state: "ok",
            says:
              rowsWithoutDigest === 0
                ? "Every row has a digest."
                : "Some rows have no digest yet. The background computes it.",
            count: rowsWithoutDigest,
          } as const,
        ]),
    checkErasures(erasing, unverified),
  ];
}

function checkDisk({ freeBytes, totalBytes }: NonNullable<StorageCondition["disk"]>): HealthCheck {
  const isLow = freeBytes < LOW_DISK_BYTES || freeBytes < totalBytes * LOW_DISK_SHARE;
  return {
    name: "disk",
    state: isLow ? "warning" : "ok",
    says: isLow
      ? "The disk is almost full. Free some space: writes fail on a full disk."
      : "The disk has enough space.",
    count: freeBytes,
  };
}

function checkErasures(erasing: number, unverified: number): HealthCheck {
  if (erasing > 0)
    return { name: "erasures", state: "ok", says: "An erasure is in progress.", count: erasing };
  return toCountCheck("erasures", unverified, {
    none: "Every erasure is verified.",
    some: "Some erasures are not fully verified. `keepsake audit` lists them.",
  });
}

function checkSecret(secret: SecretState): HealthCheck {
  return {
    name: "secret",
    state: secret === "another" ? "warning" : "ok",
    says: {
      own: "The secret matches the database.",
      new: "The secret was created at this start.",
      another: "The secret does not match the database. Restore the old one.",
    }[secret],
  };
}

function toCountCheck(
  name: HealthCheck["name"],
  count: number,
  says: { readonly none: string; readonly some: string },
): HealthCheck {
  return count === 0
    ? { name, state: "ok", says: says.none, count }
    : { name, state: "warning", says: says.some, count };
}
