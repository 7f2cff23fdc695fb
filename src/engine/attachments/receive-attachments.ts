import { createHash } from "node:crypto";
import {
  ATTACHMENT_FORMATS,
  ATTACHMENT_LIMITS,
  type AttachmentPart,
  type AttachmentType,
  isAttachmentPart,
  listAttachmentParts,
  type StoredAttachment,
  sniffMediaType,
  toAttachmentType,
} from "../../domain/attachment.ts";
import { checkCharacters, toStorableText } from "../../domain/limits.ts";
import type { Message, Part } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { RememberInput } from "../api/writing-types.ts";
import type { Ports } from "../ports.ts";

/** Input whose attachments were replaced by references, and the bytes that belong to them. */
export interface ReceivedInput {
  readonly input: RememberInput;
  /** The bytes, by digest. */
  readonly attachments: ReadonlyMap<string, ReceivedAttachment>;
  /** A line for each attachment that was left out. */
  readonly lines: readonly ReceiptLine[];
}

interface ReceivedAttachment {
  readonly stored: StoredAttachment;
  /** Whether the message is refused if it cannot be kept. Otherwise, only the attachment is left out. */
  readonly isRequired: boolean;
}

type AttachmentPorts = Pick<Ports, "store" | "clock" | "attachmentLimits">;

/**
 * Takes images and recordings out of messages and puts references in their place. Parts of our own shape (`type` "image" or
 * "audio" with `data` or `url`) are refused with `invalid_input` if they are wrong. Parts in the shapes of other programs
 * (`image_url`, `input_image`, `input_audio`, Anthropic's `image`) are left out then, so that a chat loses no words.
 */
export function receiveAttachments(ports: AttachmentPorts, input: RememberInput): ReceivedInput {
  const attachments = new Map<string, ReceivedAttachment>();
  const lines: ReceiptLine[] = [];
  const receive = (message: unknown): unknown => {
    const content: unknown = (message as { content?: unknown } | null)?.content;
    if (!Array.isArray(content) || !content.some(mayBeAttachment)) return message;
    const count = content.filter((part) => mayBeAttachment(part) && findSource(part)).length;
    const parts = content.map((part: unknown) =>
      mayBeAttachment(part) ? receivePart(ports, part, { count, attachments, lines }) : part,
    );
    return { ...(message as object), content: parts };
  };
  const received = Array.isArray(input) ? input.map(receive) : receive(input);
  return { input: received as RememberInput, attachments, lines };
}

/** The reference to an attachment, or the part as it is if it has none. */
function receivePart(
  ports: AttachmentPorts,
  part: ForeignPart,
  to: {
    /** The number of attachments in the message. */
    readonly count: number;
    readonly attachments: Map<string, ReceivedAttachment>;
    readonly lines: ReceiptLine[];
  },
): Part | AttachmentPart {
  const isRequired = isOwnShape(part);
  try {
    if (to.count > ATTACHMENT_LIMITS.perMessage)
      throw invalid(`a message can have at most ${ATTACHMENT_LIMITS.perMessage} attachments.`);
    const found = readPart(ports, part);
    if (!found) return isAttachmentPart(part) ? withoutBytes(part) : part;
    if (found.stored) addReceived(to.attachments, found.stored, isRequired);
    return found.part;
  } catch (error) {
    if (isRequired || !isMemoryError(error)) throw error;
    to.lines.push(toLeftOutLine(error.message));
    return toLeftOut(part.type);
  }
}

function addReceived(
  attachments: Map<string, ReceivedAttachment>,
  stored: StoredAttachment,
  isRequired: boolean,
): void {
  const before = attachments.get(stored.digest);
  attachments.set(stored.digest, { stored, isRequired: isRequired || before?.isRequired === true });
}

type ForeignPart = Part & { readonly [field: string]: unknown };

const TYPES: ReadonlySet<unknown> = new Set(["image", "audio", "image_url", "input_image", "input_audio"]);

function mayBeAttachment(part: unknown): part is ForeignPart {
  return typeof part === "object" && part !== null && TYPES.has((part as { type?: unknown }).type);
}

function isOwnShape(part: ForeignPart): boolean {
  return (part.type === "image" || part.type === "audio") && ("data" in part || "url" in part);
}

/** A reference without its bytes, as another memory gave it: what remains is the description. */
function withoutBytes({ type, description }: AttachmentPart): Part {
  return description === undefined ? toLeftOut(type) : { type: "text", text: description };
}

const toLeftOut = (type: string): Part => ({ type, left_out: true });

function toLeftOutLine(why: string): ReceiptLine {
  return { id: "", action: "refused", text: "", why: `an attachment was left out: ${why}` };
}

interface ReadPart {
  readonly part: AttachmentPart;
  readonly stored?: StoredAttachment;
}

/** The attachment in a part; undefined if the part has none, and stays as it is. */
function readPart(ports: AttachmentPorts, part: ForeignPart): ReadPart | undefined {
  const source = findSource(part);
  if (!source) return undefined;
  const description = readDescription(part.description);
  if ("data" in source) {
    const stored = readBytes(ports, source.data);
    const type = toAttachmentType(stored.mediaType);
    if (source.type !== type)
      throw invalid(`the bytes of an attachment are of type ${type}, not ${source.type}.`);
    const { digest: id, mediaType, bytes } = stored;
    return { part: { type, id, mediaType, size: bytes.length, ...description }, stored };
  }
  const url = checkUrl(source.url);
  const id = `url-${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
  return { part: { type: source.type, id, url, ...description } };
}

type AttachmentSource = { readonly type: AttachmentType } & (
  | { readonly data: unknown }
  | { readonly url: unknown }
);

const DATA_URL = /^data:[^,]{0,200},/i;
/** A reference that is kept. Another scheme stays in the part, as it came. */
const KEPT_URL = /^(?:data|https):/i;

function findSource(part: ForeignPart): AttachmentSource | undefined {
  if (part.type === "input_audio") {
    const audio = part.input_audio;
    return isObject(audio) && "data" in audio ? { type: "audio", data: audio.data } : undefined;
  }
  if (part.type === "image_url" || part.type === "input_image") return findImageUrl(part.image_url);
  const type = part.type === "audio" ? "audio" : "image";
  if ("data" in part) return { type, data: part.data };
  const source = part.source;
  if (isObject(source) && typeof source.data === "string") return { type, data: source.data };
  const url = isObject(source) ? source.url : part.url;
  return url === undefined ? undefined : { type, url };
}

function findImageUrl(image: unknown): AttachmentSource | undefined {
  const url = isObject(image) ? image.url : image;
  if (typeof url !== "string" || !KEPT_URL.test(url)) return undefined;
  return DATA_URL.test(url) ? { type: "image", data: url } : { type: "image", url };
}

function isObject(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === "object" && value !== null;
}

function readDescription(description: unknown): { readonly description?: string } {
  if (description === undefined || description === null) return {};
  if (typeof description !== "string") throw invalid("the description of an attachment must be text.");
  const { text } = toStorableText(description);
  checkCharacters(text, "the description of an attachment", ATTACHMENT_LIMITS.descriptionBytes);
  return text.trim() === "" ? {} : { description: text.trim() };
}

/** An address that can be kept. It is never fetched. */
function checkUrl(given: unknown): string {
  const wrong =
    "the url of an attachment must be an https address without a password, of at most 2,048 bytes.";
  if (typeof given !== "string" || given.length > ATTACHMENT_LIMITS.urlBytes) throw invalid(wrong);
  const url = URL.parse(given);
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "") throw invalid(wrong);
  return url.href;
}

/** White space occurs in one place of the pattern only: matching takes linear time. */
const BASE64 = /^[A-Za-z0-9+/_\-\s]*(?:=\s*){0,2}$/;

/** The bytes with their digest and their media type. Throws `invalid_input` for what is not accepted. */
function readBytes({ clock, attachmentLimits }: AttachmentPorts, data: unknown): StoredAttachment {
  const most = attachmentLimits?.bytes ?? ATTACHMENT_LIMITS.bytes;
  const bytes = decodeData(data, most);
  if (bytes.length > most) throw tooLarge(most);
  const mediaType = sniffMediaType(bytes);
  if (mediaType === undefined)
    throw invalid(`an attachment is in no format that is accepted: ${ATTACHMENT_FORMATS}.`);
  const digest = createHash("sha256").update(bytes).digest("hex");
  return { digest, mediaType, at: clock().toISOString(), bytes };
}

function decodeData(data: unknown, most: number): Uint8Array {
  if (data instanceof Uint8Array) return new Uint8Array(data);
  if (typeof data !== "string") throw invalid("the data of an attachment must be bytes, or text in base64.");
  // Four characters are three bytes; some more for line breaks.
  if (data.length > most * 1.5 + 1000) throw tooLarge(most);
  const base64 = data.replace(DATA_URL, "");
  const isPlain = base64.length < data.length && !/^data:[^,]*;base64,/i.test(data);
  if (isPlain || !BASE64.test(base64)) throw invalid("the data of an attachment must be in base64.");
  return new Uint8Array(Buffer.from(base64, "base64"));
}

function tooLarge(most: number): MemoryError {
  return invalid(`an attachment is too large: at most ${most.toLocaleString("en")} bytes.`);
}

/** What of the received attachments is stored with some messages. */
interface AdmittedAttachments {
  readonly messages: readonly Message[];
  readonly attachments: readonly StoredAttachment[];
  readonly lines: readonly ReceiptLine[];
}

/**
 * The attachments that messages refer to, within what a user may keep. Throws `over_quota` or `unsupported` if one that is
 * required cannot be kept; others are left out of their message.
 */
export async function admitAttachments(
  { store, attachmentLimits }: AttachmentPorts,
  scope: Scope,
  messages: readonly Message[],
  received: ReadonlyMap<string, ReceivedAttachment>,
): Promise<AdmittedAttachments> {
  if (received.size === 0) return { messages, attachments: [], lines: [] };
  const stored = (await store.attachments?.list(scope)) ?? [];
  const known = new Set(stored.map(({ digest }) => digest));
  const most = attachmentLimits?.userBytes ?? ATTACHMENT_LIMITS.userBytes;
  let used = stored.reduce((sum, { size }) => sum + size, 0);
  const admitted = new Map<string, StoredAttachment>();
  const refused = new Set<string>();
  for (const { id } of messages.flatMap(listAttachmentParts)) {
    const one = received.get(id);
    if (!one || known.has(id) || admitted.has(id)) continue;
    const problem = findProblem(store.attachments !== undefined, used + one.stored.bytes.length > most, most);
    if (problem && one.isRequired) throw problem;
    if (problem) {
      refused.add(id);
      continue;
    }
    used += one.stored.bytes.length;
    admitted.set(id, one.stored);
  }
  if (refused.size === 0) return { messages, attachments: [...admitted.values()], lines: [] };
  const leftOut = findProblem(store.attachments !== undefined, true, most)?.message ?? "";
  return {
    messages: messages.map((message) => leaveOut(message, refused)),
    attachments: [...admitted.values()],
    lines: [...refused].map(() => toLeftOutLine(leftOut)),
  };
}

function findProblem(isKept: boolean, isOver: boolean, most: number): MemoryError | undefined {
  if (!isKept)
    return new MemoryError("unsupported", "this memory store keeps no attachments. Give a url instead.");
  if (!isOver) return undefined;
  return new MemoryError(
    "over_quota",
    `the attachments of this user would take more than ${most.toLocaleString("en")} bytes. Erase some first.`,
  );
}

function leaveOut(message: Message, refused: ReadonlySet<string>): Message {
  const { parts } = message;
  if (!parts?.some((part) => isAttachmentPart(part) && refused.has(part.id))) return message;
  return {
    ...message,
    parts: parts.map((part) =>
      isAttachmentPart(part) && refused.has(part.id) ? toLeftOut(part.type) : part,
    ),
  };
}
