import type { Scope } from "../domain/scope.ts";

/** Options of every call across a port. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * The scope that a model call is charged to: its cost is recorded and its budget checked under this scope.
   */
  readonly scope?: Scope;
}
