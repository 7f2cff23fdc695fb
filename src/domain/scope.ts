/**
 * Identifies a memory. `project` is the tenant, `user` the person in it; every read and write is limited to
 * both. `agent` and `session` filter reads and label writes; they do not separate tenants.
 */
export interface Scope {
  readonly project: string;
  readonly user: string;
  readonly agent?: string;
  readonly session?: string;
}

/** A collision-free key of project and user. It is JSON, because "a:b" + "c" and "a" + "b:c" must differ. */
export function toScopeKey(scope: Scope): string {
  return JSON.stringify([scope.project, scope.user]);
}
