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

/** How the agents of one user see each other's memories: each its own, or all of them. */
export type AgentAccess = "walled" | "shared";

/** The scope of a read: agents that share read without the label that their writes get. */
export function toReadScope(scope: Scope, agents: AgentAccess | undefined): Scope {
  if (agents !== "shared" || scope.agent === undefined) return scope;
  const { agent: _agent, ...rest } = scope;
  return rest;
}

/** Whether the agent of a scope may read something. A scope without an agent reads everything. */
export function isOfAgent({ agent }: Scope, of: { readonly agent?: string | undefined }): boolean {
  return agent === undefined || of.agent === agent;
}

/** A collision-free key of project and user. It is JSON, because "a:b" + "c" and "a" + "b:c" must differ. */
export function toScopeKey(scope: Scope): string {
  return JSON.stringify([scope.project, scope.user]);
}
