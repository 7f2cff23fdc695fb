/** What every call across a port takes. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}
