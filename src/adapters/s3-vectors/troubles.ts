import { invalid, MemoryError } from "../../errors.ts";
import type { RemoteFault } from "../shared/remote.ts";

const TRANSIENT_ERRORS: { readonly [name: string]: string } = {
  TooManyRequestsException: "answered 429",
  ThrottlingException: "answered 429",
  ServiceUnavailableException: "answered 503",
  InternalServerException: "answered 500",
  RequestTimeoutException: "answered 408",
  ConflictException: "answered 409",
  TimeoutError: "gave no answer",
  SyntaxError: "gave an answer that is none",
};

/** Names of AWS's errors that say: these credentials may not, or are none. */
const CREDENTIAL_ERRORS =
  /^(AccessDenied|Kms|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|Expired|InvalidAccessKeyId|InvalidClientToken|Credentials|IncompleteSignature)/;

/** What an error of AWS's client means, by its name. Its words are not repeated, for they quote what was sent. */
export function toS3Fault(error: unknown): RemoteFault {
  const name = getErrorName(error);
  const passes = TRANSIENT_ERRORS[name];
  if (passes !== undefined) return { passes };
  const status = getStatus(error);
  if (CREDENTIAL_ERRORS.test(name) || status === 401 || status === 403) {
    const why = `AWS refuses it (${name}). Check the credentials, the region, and what they may do with S3 Vectors.`;
    return { stays: new MemoryError("forbidden", why) };
  }
  if (name === "ValidationException") return { stays: invalid("S3 Vectors refuses what it was sent.") };
  if (name === "ServiceQuotaExceededException") {
    const why = "S3 Vectors has no room for it: a quota of the account or the bucket is used up.";
    return { stays: new MemoryError("unavailable", why) };
  }
  if (name === "NotFoundException") {
    const why = "S3 Vectors no longer has the bucket. It is made again, and filled, in a minute.";
    return { stays: new MemoryError("unavailable", why) };
  }
  return status !== undefined && status >= 500
    ? { passes: `answered ${status}` }
    : { passes: "cannot be reached" };
}

export const isNotFoundError = (error: unknown): boolean => getErrorName(error) === "NotFoundException";

export const isConflictError = (error: unknown): boolean => getErrorName(error) === "ConflictException";

const getErrorName = (error: unknown): string => (error instanceof Error ? error.name : "");

function getStatus(error: unknown): number | undefined {
  const { $metadata } = (error ?? {}) as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}
