import type { StoredAttachment } from "../../domain/attachment.ts";
import type { Scope } from "../../domain/scope.ts";

/**
 * Reads the bytes of attachments. They are written by change-sets (`attachments`) together with the messages that refer to
 * them, and deleted by erasures (`erase.attachments`). Content is stored once for each user, under its digest.
 */
export interface AttachmentStore {
  /** What is stored of a user, without the bytes, in the order of the digests. */
  list(scope: Scope): Promise<AttachmentEntry[]>;

  /**
   * The attachment with a digest; undefined if the user has none. Does not compare the bytes with the digest: the store's
   * `check` does.
   */
  read(scope: Scope, digest: string): Promise<StoredAttachment | undefined>;
}

/** A stored attachment, without its bytes. */
export interface AttachmentEntry extends Omit<StoredAttachment, "bytes"> {
  /** The number of bytes. */
  readonly size: number;
}
