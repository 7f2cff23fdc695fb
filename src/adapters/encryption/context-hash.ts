import { createHash } from "node:crypto";

/** SHA-256 of what authenticates a wrapped key: a service logs it, and it names a user. */
export const toContextHash = (context: string): Buffer => createHash("sha256").update(context).digest();
