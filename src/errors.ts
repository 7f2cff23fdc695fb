/** All error codes, with the HTTP status and whether a retry can help. */
export const ERROR_CODES = {
  invalid_input: { status: 400, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: true },
  over_quota: { status: 429, retryable: true },
  corrupt: { status: 500, retryable: false },
  unsupported: { status: 422, retryable: false },
  unavailable: { status: 503, retryable: true },
} as const;

/** A stable error code. Its HTTP status, and whether a retry can help, are in `ERROR_CODES`. */
export type ErrorCode = keyof typeof ERROR_CODES;

const BRAND = Symbol.for("keepsake.MemoryError");

/** What an error tells a program in addition to its code. */
export interface ErrorDetails {
  /** The import that was stored in part: an import with this id goes on with it. */
  readonly importId?: string;
  /** The newest revision of that import: `undo` of it takes back what was stored. */
  readonly revision?: number;
}

/**
 * The only error that this library throws. Branch on `code`. The message says what happened and what to do, and never
 * contains a user's text.
 */
export class MemoryError extends Error {
  /** The stable code, for programs. */
  readonly code: ErrorCode;
  /** What the error tells a program in addition to its code. Absent for most errors. */
  declare readonly details?: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    { details, ...options }: ErrorOptions & { readonly details?: ErrorDetails } = {},
  ) {
    super(message, options);
    this.name = "MemoryError";
    this.code = code;
    if (details) this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether a value is a `MemoryError`. Unlike `instanceof`, it works across two installed copies of the package. */
export function isMemoryError(error: unknown): error is MemoryError {
  return typeof error === "object" && error !== null && BRAND in error;
}

export function invalid(message: string): MemoryError {
  return new MemoryError("invalid_input", message);
}

/** Whether the failure is temporary, such as a server that is down or a budget that is used up. */
export function isRetryable(error: unknown): boolean {
  return isMemoryError(error) && ERROR_CODES[error.code].retryable;
}

/** Gives the stable code of an error, or "internal". Never contains a user's text. */
export function getErrorCode(error: unknown): string {
  return isMemoryError(error) ? error.code : "internal";
}
