import type { Message, Part } from "./message.ts";

/** What an attachment is: a picture or a recording. */
export type AttachmentType = "image" | "audio";

/** Limits on attachments. */
export const ATTACHMENT_LIMITS: {
  readonly bytes: number;
  readonly userBytes: number;
  readonly perMessage: number;
  readonly descriptionBytes: number;
  readonly urlBytes: number;
} = {
  /** Bytes of one attachment. */
  bytes: 8 * 1024 * 1024,
  /** Bytes of all attachments of one user. */
  userBytes: 256 * 1024 * 1024,
  /** Attachments in one message. */
  perMessage: 16,
  /** UTF-8 bytes of a description. */
  descriptionBytes: 16_384,
  /** UTF-8 bytes of a URL. */
  urlBytes: 2048,
};

/** The most that `bytes` of the limits can be raised to: an attachment is in memory as a whole. */
export const MAX_ATTACHMENT_BYTES: number = 64 * 1024 * 1024;

/** The part of a message that refers to an attachment. The bytes are kept apart, under their digest. */
export interface AttachmentPart {
  readonly type: AttachmentType;
  /** The SHA-256 of the bytes, hex. For a URL: "url-" and the first half of the SHA-256 of the URL. */
  readonly id: string;
  /** "image/png". By the bytes, never by what the caller says. Absent for a URL. */
  readonly mediaType?: string;
  /** The number of bytes. Absent for a URL. */
  readonly size?: number;
  /** Where it is, if it is not kept. Never fetched. */
  readonly url?: string;
  /** What it shows or says, in words. It is a part of the message's content, and recalled like any other. */
  readonly description?: string;
  /** The message that brought the attachment, if a model has described it in a message of its own. */
  readonly of?: string;
}

/** The bytes of an attachment, as they are stored once for each user. */
export interface StoredAttachment {
  /** The SHA-256 of the bytes, hex. */
  readonly digest: string;
  /** "image/png". */
  readonly mediaType: string;
  /** When it was stored first (ISO 8601). */
  readonly at: string;
  readonly bytes: Uint8Array;
}

/** Whether a part refers to an attachment, in the shape in which it is stored. */
export function isAttachmentPart(part: Part | AttachmentPart): part is AttachmentPart {
  return (
    (part.type === "image" || part.type === "audio") &&
    "id" in part &&
    typeof part.id === "string" &&
    (("size" in part && typeof part.size === "number") || ("url" in part && typeof part.url === "string"))
  );
}

/** The attachments of a message, in order. */
export function listAttachmentParts({ parts = [] }: Pick<Message, "parts">): readonly AttachmentPart[] {
  return parts.flatMap((part) => (isAttachmentPart(part) ? [part] : []));
}

/** Whether the bytes of an attachment are kept. */
export const hasBytes = ({ size }: AttachmentPart): boolean => size !== undefined;

const DIGEST = /^[0-9a-f]{64}$/;

/** Whether a part names bytes that a store must have. */
export const hasDigest = (part: AttachmentPart): boolean => hasBytes(part) && DIGEST.test(part.id);

/** Whether an attachment is stored as a part of a message says, by its size and media type. False if there is none. */
export function isStoredAs(
  { size, mediaType }: AttachmentPart,
  stored: { readonly mediaType: string; readonly size: number } | undefined,
): boolean {
  return stored?.size === size && (mediaType === undefined || stored?.mediaType === mediaType);
}

/** The spans of an attachment's description in the content of its message. More than one if the words are repeated. */
export function findDescriptionSpans(
  content: string,
  { description }: AttachmentPart,
): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  if (!description) return spans;
  for (let start = content.indexOf(description); start !== -1; ) {
    spans.push({ start, end: start + description.length });
    start = content.indexOf(description, start + description.length);
  }
  return spans;
}

/** Bytes at a place: text in Latin-1, where "?" is any byte. */
interface MagicNumber {
  readonly mediaType: string;
  readonly at: number;
  readonly bytes: string;
}

/**
 * The first bytes of accepted files, by the specifications of PNG, JPEG, GIF, WebP (RIFF), WAVE (RIFF), MP3 (ID3v2 or a
 * frame of layer III), Ogg, WebM (EBML) and MP4.
 */
const MAGIC_NUMBERS: readonly MagicNumber[] = [
  { mediaType: "image/png", at: 0, bytes: "\x89PNG\r\n\x1a\n" },
  { mediaType: "image/jpeg", at: 0, bytes: "\xff\xd8\xff" },
  { mediaType: "image/gif", at: 0, bytes: "GIF87a" },
  { mediaType: "image/gif", at: 0, bytes: "GIF89a" },
  { mediaType: "image/webp", at: 0, bytes: "RIFF????WEBP" },
  { mediaType: "audio/wav", at: 0, bytes: "RIFF????WAVE" },
  { mediaType: "audio/mpeg", at: 0, bytes: "ID3" },
  ...["\xfb", "\xfa", "\xf3", "\xf2", "\xe3", "\xe2"].map((second) => ({
    mediaType: "audio/mpeg",
    at: 0,
    bytes: `\xff${second}`,
  })),
  { mediaType: "audio/ogg", at: 0, bytes: "OggS" },
  { mediaType: "audio/webm", at: 0, bytes: "\x1aE\xdf\xa3" },
  { mediaType: "audio/mp4", at: 4, bytes: "ftypM4A" },
  { mediaType: "audio/mp4", at: 4, bytes: "ftypM4B" },
  { mediaType: "audio/mp4", at: 4, bytes: "ftypmp4" },
  { mediaType: "audio/mp4", at: 4, bytes: "ftypisom" },
];

/** The formats that are accepted, for messages to people. */
export const ATTACHMENT_FORMATS = "PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, WebM and M4A";

/** The media type by the first bytes; undefined if it is none that is accepted. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  return MAGIC_NUMBERS.find(({ at, bytes: wanted }) => {
    for (let i = 0; i < wanted.length; i += 1) {
      if (wanted[i] !== "?" && bytes[at + i] !== wanted.charCodeAt(i)) return false;
    }
    return true;
  })?.mediaType;
}

/** The type of a media type. */
export function toAttachmentType(mediaType: string): AttachmentType {
  return mediaType.startsWith("image/") ? "image" : "audio";
}
