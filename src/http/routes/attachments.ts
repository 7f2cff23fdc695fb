import * as z from "zod";
import { MAX_ATTACHMENT_BYTES, toAttachmentType } from "../../domain/attachment.ts";
import type { InputAttachment, ShownAttachment } from "../../engine/api/attachment-types.ts";
import { MemoryError } from "../../errors.ts";
import { noteErasures } from "../idempotency.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { toCursorFields } from "../pagination.ts";
import type { FileBody } from "../request-body.ts";
import {
  CURSOR_FIELDS,
  countTextSchema,
  cursorSchema,
  momentSchema,
  nameSchema,
  newNameSchema,
  timeSchema,
  wholeNumberSchema,
  withSchemaId,
} from "../schemas/fields.ts";
import { ERASURE_RECEIPT_SCHEMA, RECEIPT_SCHEMA } from "../schemas/memory.ts";
import { omitUndefined, receiptToWire, toWire } from "../schemas/wire.ts";

/** A `ShownAttachment` after `toWire`. */
const ATTACHMENT_SCHEMA: z.ZodType = withSchemaId(
  "Attachment",
  z.object({
    id: z.string().describe("The SHA-256 of the bytes, hex; for a URL, a name that begins with `url-`"),
    user_id: z.string(),
    type: z.enum(["image", "audio"]),
    media_type: z.string().describe("By the bytes, not by what was said").optional(),
    size: wholeNumberSchema.describe("Number of bytes").optional(),
    url: z.string().describe("Where it is, if its bytes are not kept").optional(),
    description: z.string().describe("What it shows or says").optional(),
    described_by: z.literal("model").optional(),
    is_kept: z.boolean().describe("Whether `…/content` gives its bytes"),
    message: z.string().describe("The message's id"),
    session: z.string().optional(),
    at: timeSchema,
  }),
);

const ATTACHMENTS_SCHEMA: z.ZodType = z.object({
  user_id: z.string(),
  items: z.array(ATTACHMENT_SCHEMA),
  total: wholeNumberSchema,
  ...CURSOR_FIELDS,
});

/** What is served as it was stored, and the ending of its file. */
const FILE_ENDINGS: { readonly [mediaType: string]: string } = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/webm": "webm",
  "audio/mp4": "m4a",
};
/** Nothing that a stored file may contain is run, loaded or sent. */
const CONTENT_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";

const LIST_QUERY = z.strictObject({
  type: z.enum(["image", "audio"]).optional(),
  session_id: nameSchema.optional(),
  cursor: cursorSchema.optional(),
  limit: countTextSchema.optional(),
});

/** They are in the address. Node reads 16 KiB of it and all headers. Longer ones go with the messages. */
const WORDS_SCHEMA = z.string().max(500).optional();

const ADD_QUERY = z.strictObject({
  description: WORDS_SCHEMA,
  text: WORDS_SCHEMA,
  message_id: newNameSchema.optional(),
  session_id: newNameSchema.optional(),
  at: momentSchema.optional(),
});

const toWireAttachment = (user: string, shown: ShownAttachment): object => ({
  user_id: user,
  ...(toWire(shown) as object),
});

/** Images and recordings of a user's messages. */
export const attachmentOperations: readonly Operation[] = [
  defineOperation({
    id: "addAttachment",
    method: "POST",
    path: "/api/v1/attachments/{user_id}",
    tag: "Attachments",
    summary: "Stores an image or a recording, as a message of the user",
    description:
      "The body is the file. Memories are extracted from `description` and `text`, and both are recalled. A `message_id` that " +
      "is known is the same message and changes nothing. Files up to 700 kB can also be parts of `POST /api/v1/messages`.",
    scope: "write",
    parameters: USER_PATH_PARAMETERS,
    query: ADD_QUERY,
    rawBody: Object.fromEntries(Object.keys(FILE_ENDINGS).map((type) => [type, { says: "the file" }])),
    fileBytes: MAX_ATTACHMENT_BYTES,
    acceptsIdempotencyKey: true,
    answers: { 201: { says: "The stored message and extracted memories.", schema: RECEIPT_SCHEMA } },
    problems: [409, 422],
    async handle({ exchange, path, query, body, memoryOf, services }) {
      const { mediaType, bytes } = body as unknown as FileBody;
      const attachment: InputAttachment = {
        type: toAttachmentType(mediaType),
        data: bytes,
        ...omitUndefined({ description: query.description }),
      };
      const text = query.text?.trim() ? [{ type: "text", text: query.text }] : [];
      const receipt = await memoryOf(path.user_id).remember(
        {
          role: "user",
          content: [...text, attachment],
          ...omitUndefined({ id: query.message_id, session: query.session_id, at: query.at }),
        },
        omitUndefined({ idempotencyKey: exchange.req.header("idempotency-key") }),
      );
      noteErasures(exchange, receipt.erasures);
      return exchange.json(receiptToWire(receipt, services.keepsake.receiptWriter), 201);
    },
  }),
  defineOperation({
    id: "listAttachments",
    method: "GET",
    path: "/api/v1/attachments/{user_id}",
    tag: "Attachments",
    summary: "Lists the images and recordings of a user's messages, newest first",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: LIST_QUERY,
    answers: { 200: { says: "A page.", schema: ATTACHMENTS_SCHEMA } },
    async handle({ exchange, path, query, memoryOf }) {
      const { type, session_id: session, cursor, limit } = query;
      const page = await memoryOf(path.user_id).attachments(omitUndefined({ type, session, cursor, limit }));
      return exchange.json({
        user_id: path.user_id,
        items: page.items.map((one) => toWireAttachment(path.user_id, one)),
        total: page.total,
        ...toCursorFields(page.cursor),
      });
    },
  }),
  defineOperation({
    id: "getAttachment",
    method: "GET",
    path: "/api/v1/attachments/{user_id}/{id}",
    tag: "Attachments",
    summary: "Describes one image or recording",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    answers: { 200: { says: "The attachment, without its bytes.", schema: ATTACHMENT_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, memoryOf }) {
      const { bytes: _bytes, ...shown } = await memoryOf(path.user_id).attachment(path.id);
      return exchange.json(toWireAttachment(path.user_id, shown));
    },
  }),
  defineOperation({
    id: "getAttachmentContent",
    method: "GET",
    path: "/api/v1/attachments/{user_id}/{id}/content",
    tag: "Attachments",
    summary: "Gives the bytes of an image or a recording",
    description:
      "The media type is that of the bytes. A browser runs nothing of them: they come with a policy that forbids it.",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    answers: {
      200: {
        says: "The bytes, as they were stored.",
        others: Object.fromEntries(Object.keys(FILE_ENDINGS).map((type) => [type, "the file"])),
        headers: { "content-disposition": "A name for the file" },
      },
    },
    problems: [404],
    async handle({ exchange, path, memoryOf }) {
      const { bytes, mediaType = "" } = await memoryOf(path.user_id).attachment(path.id);
      const ending = FILE_ENDINGS[mediaType];
      if (!bytes || ending === undefined)
        throw new MemoryError("not_found", "the bytes of this attachment are not kept: only its url is.");
      exchange.set("contentPolicy", CONTENT_POLICY);
      return exchange.body(new Uint8Array(bytes), 200, {
        "content-type": mediaType,
        "content-disposition": `attachment; filename="${path.id.slice(0, 12)}.${ending}"`,
      });
    },
  }),
  defineOperation({
    id: "eraseAttachment",
    method: "DELETE",
    path: "/api/v1/attachments/{user_id}/{id}",
    tag: "Erasure",
    summary:
      "Erases an image or a recording, the words that describe it, and memories that come only from these",
    description: "This is an erasure: it cannot be undone.",
    scope: "erase",
    parameters: ITEM_PATH_PARAMETERS,
    acceptsIdempotencyKey: true,
    answers: { 200: { says: "The receipt.", schema: ERASURE_RECEIPT_SCHEMA } },
    problems: [404, 409],
    async handle({ exchange, path, signal, memoryOf }) {
      const receipt = await memoryOf(path.user_id).forget({ attachments: [path.id] }, { signal });
      noteErasures(exchange, [receipt]);
      return exchange.json(toWire(receipt) as object);
    },
  }),
];
