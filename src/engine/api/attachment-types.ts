import type { AttachmentType } from "../../domain/attachment.ts";
import type { PageOptions } from "./listing-types.ts";

/** An image or a recording, as a part of a message. */
export interface InputAttachment {
  /** What the bytes are. */
  readonly type: AttachmentType;
  /** The bytes, or these in base64: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, WebM or M4A. Required without `url`. */
  readonly data?: Uint8Array | string;
  /** An https address to refer to instead. It is never fetched. */
  readonly url?: string;
  /** What it shows or says. It becomes a part of the message's text: memories are extracted from it, and it is recalled. */
  readonly description?: string;
}

/** An attachment of a message. */
export interface ShownAttachment {
  /** The SHA-256 of the bytes, hex. For a URL: "url-" and a part of the SHA-256 of the URL. */
  readonly id: string;
  /** Whether it is an image or a recording. */
  readonly type: AttachmentType;
  /** "image/png", by the bytes. Absent for a URL. */
  readonly mediaType?: string;
  /** The number of bytes. Absent for a URL. */
  readonly size?: number;
  /** Where it is, if it is not kept. */
  readonly url?: string;
  /** What it shows or says. */
  readonly description?: string;
  /** Present if a model described it, not the caller. */
  readonly describedBy?: "model";
  /** Whether its bytes are kept. */
  readonly isKept: boolean;
  /** The id of the message. */
  readonly message: string;
  /** The session of the message. */
  readonly session?: string;
  /** When the message was said (ISO 8601). */
  readonly at: string;
}

/** An attachment with its bytes. */
export interface KeptAttachment extends ShownAttachment {
  /** Absent for a URL. */
  readonly bytes?: Uint8Array;
}

/** Options of `attachments`. */
export interface AttachmentListOptions extends PageOptions {
  /** Only images, or only recordings. */
  readonly type?: AttachmentType;
  /** Only those of a session. */
  readonly session?: string;
}
