import { invalid, MemoryError } from "../../errors.ts";
import type { RemoteFault } from "../shared/remote.ts";

const TRANSIENT_ERRORS: { readonly [name: string]: string } = {
  PineconeConnectionError: "cannot be reached",
  PineconeMaxRetriesExceededError: "answered 5xx several times",
  PineconeInternalServerError: "answered 500",
  PineconeUnavailableError: "answered 503",
  PineconeConflictError: "answered 409",
};

/** The client gives 400 and 403 one name; these words stand in answers of the second kind. */
const NOT_ALLOWED = /quota|limit reached|forbidden|permission|not allowed|deletion protection|upgrade/i;

/**
 * What an error of Pinecone's client means, by its name: errors carry no status. Its words are not repeated, for they quote what
 * was sent. The client tries 5xx again by itself and 429 never.
 */
export function toPineconeFault(error: unknown): RemoteFault {
  const { name, message } = error instanceof Error ? error : new Error();
  const passes = TRANSIENT_ERRORS[name];
  if (passes !== undefined) return { passes };
  if (name === "PineconeUnmappedHttpError") return toFaultByStatus(/Status: (\d{3})\./.exec(message)?.[1]);
  if (name === "PineconeAuthorizationError") {
    return { stays: new MemoryError("forbidden", "Pinecone refuses the key. Check PINECONE_API_KEY.") };
  }
  if (name === "PineconePaymentRequiredError") {
    return { stays: new MemoryError("unavailable", "Pinecone wants to be paid. Look at its billing.") };
  }
  if (name === "PineconeNotFoundError") {
    return { stays: new MemoryError("unavailable", "Pinecone no longer has the index. Build it anew.") };
  }
  if (name === "PineconeBadRequestError" && NOT_ALLOWED.test(message)) {
    return {
      stays: new MemoryError(
        "forbidden",
        "Pinecone does not allow it: a limit of the plan, a protected index, or what this key may do.",
      ),
    };
  }
  return name.startsWith("Pinecone")
    ? { stays: invalid(`Pinecone refuses what it was sent (${name}).`) }
    : { passes: "gave an answer that is none" };
}

function toFaultByStatus(status: string | undefined): RemoteFault {
  const code = Number(status);
  if (code === 408 || code === 425 || code === 429 || code >= 500) return { passes: `answered ${code}` };
  return { stays: new MemoryError("unavailable", `Pinecone answers ${code}. Is it Pinecone?`) };
}

/** Whether an error says that there was nothing to delete: no such namespace, or another request was quicker. */
export const isGone = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "PineconeNotFoundError" || error.name === "PineconeFailedPreconditionError");
