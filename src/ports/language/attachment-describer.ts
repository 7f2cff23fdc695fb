import type { AttachmentType } from "../../domain/attachment.ts";
import type { CallOptions } from "../call-options.ts";

/** Puts into words what an image shows or a recording says. */
export interface AttachmentDescriber {
  /** Shown in messages: the names of its models. */
  readonly name: string;
  /** What it can describe. */
  readonly types: readonly AttachmentType[];
  /**
   * Describes an attachment in plain text; empty if there is nothing to say. Throws `unavailable` or `over_quota` if it cannot
   * now, and `invalid_input` if it never can.
   */
  describe(attachment: DescribedAttachment, options?: CallOptions): Promise<string>;
}

/** An attachment to describe. */
export interface DescribedAttachment {
  /** Whether it is an image or a recording. */
  readonly type: AttachmentType;
  /** "image/png". */
  readonly mediaType: string;
  /** The content. */
  readonly bytes: Uint8Array;
}
