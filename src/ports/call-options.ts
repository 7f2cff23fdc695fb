import type { Scope } from "../domain/scope.ts";

/** What every call across a port takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Whose work it is, where a model is asked: its cost is set down, and its budget asked, under this name. */
  readonly scope?: Scope;
}
