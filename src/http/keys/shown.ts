import { isUnexpired, type KeyEntry, type KeyScope } from "./entries.ts";

/** A key as people and programs are shown it: no secret, and no hash of one. */
export interface ShownKey {
  readonly id: string;
  readonly project: string;
  readonly scopes: readonly KeyScope[];
  readonly status: "active" | "expired";
  /** The only user it reaches. */
  readonly userId?: string;
  readonly label?: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  /** To the minute, about; absent while it has not been used. */
  readonly lastUsedAt?: string;
  /** Until when a secret that it had before its rotation still counts. */
  readonly oldSecretUntil?: string;
}

export function toShownKey(entry: KeyEntry, now: Date): ShownKey {
  const { id, project, scopes, user, label, createdAt, expiresAt, lastUsedAt } = entry;
  const moment = now.toISOString();
  const [latest] = (entry.past ?? [])
    .map(({ until }) => until)
    .filter((until) => until > moment)
    .sort()
    .reverse();
  return {
    id,
    project,
    scopes,
    status: isUnexpired(entry, now) ? "active" : "expired",
    ...(user === undefined ? {} : { userId: user }),
    ...(label === undefined ? {} : { label }),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
    ...(latest === undefined ? {} : { oldSecretUntil: latest }),
  };
}
