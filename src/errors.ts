/** Every code, with what a server, a shell and a retry loop need to know about it. */
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

export type ErrorCode = keyof typeof ERROR_CODES;

const BRAND = Symbol.for("keepsake.MemoryError");

/**
 * The only error this library throws. Branch on `code`; the message says what happened and what to do,
 * and never holds what a user said.
 */
export class MemoryError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "MemoryError";
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Works across two installed copies of the package, where `instanceof` does not. */
export function isMemoryError(error: unknown): error is MemoryError {
  return typeof error === "object" && error !== null && BRAND in error;
}

export function invalid(message: string): MemoryError {
  return new MemoryError("invalid_input", message);
}

/** Whether what failed passes by itself, however often it comes: a server that is down, a budget that is used up. */
export function isRetryable(error: unknown): boolean {
  return isMemoryError(error) && ERROR_CODES[error.code].retryable;
}

/** The stable code of an error, or "internal": nothing that a user said. */
export function getErrorCode(error: unknown): string {
  return isMemoryError(error) ? error.code : "internal";
}
