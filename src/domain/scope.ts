/**
 * Whose memory is meant. `project` is the tenant, `user` the person inside it; every read and write names both.
 * `agent` and `session` narrow what is read and label what is written; they are no walls.
 */
export interface Scope {
  readonly project: string;
  readonly user: string;
  readonly agent?: string;
  readonly session?: string;
}

/** A collision-free key of the walls alone. JSON, because "a:b" + "c" and "a" + "b:c" must differ. */
export function toScopeKey(scope: Scope): string {
  return JSON.stringify([scope.project, scope.user]);
}
