import { readFileSync, statSync, writeFileSync } from "node:fs";
import {
  ATTACHMENT_FORMATS,
  type AttachmentType,
  MAX_ATTACHMENT_BYTES,
  sniffMediaType,
  toAttachmentType,
} from "../../../domain/attachment.ts";
import type { InputAttachment, ShownAttachment } from "../../../engine/api/attachment-types.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { colorText, dimText, formatDay, formatSize, formatTable, toShortLine } from "../../printer.ts";
import { findAttachmentId } from "../../short-ids.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../../with-memory.ts";

interface AttachmentsCommandOptions extends CommonOptions {
  readonly type?: AttachmentType;
  readonly session?: string;
  readonly limit?: number;
  readonly save?: string;
}

/** Lists attachments, or shows one and saves its bytes. */
export async function runAttachments(
  id: string | undefined,
  options: AttachmentsCommandOptions,
): Promise<void> {
  const { type, session, limit, save } = options;
  await withMemory(options, "reads", async (context) => {
    if (id !== undefined) return showAttachment(context, id, save);
    if (save !== undefined) throw invalid("--save needs the ID of an attachment.");
    const { memory, print } = context;
    const page = await memory.attachments({
      ...(type === undefined ? {} : { type }),
      ...(session === undefined ? {} : { session }),
      ...(limit === undefined ? {} : { limit }),
    });
    print.result(page, () => formatPage(page.items, page.total));
    return page.total === 0 ? EXIT.nothingFound : EXIT.done;
  });
}

async function showAttachment(
  { memory, print }: CommandContext,
  part: string,
  save: string | undefined,
): Promise<number> {
  const { bytes, ...shown } = await memory.attachment(await findAttachmentId(memory, part));
  if (save !== undefined) saveBytes(save, bytes);
  const saved = save === undefined ? [] : [`Saved: ${save}`];
  print.result(shown, () => [...formatAttachment(shown), ...saved]);
  return EXIT.done;
}

function saveBytes(file: string, bytes: Uint8Array | undefined): void {
  if (!bytes)
    throw new MemoryError("not_found", "the bytes of this attachment are not kept: only its url is.");
  try {
    writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === "EEXIST" ? "it exists already" : "it cannot be written";
    throw new MemoryError("conflict", `--save ${file}: ${why}. Name another file.`, { cause });
  }
}

function formatAttachment(shown: ShownAttachment): string[] {
  const { id, type, mediaType, size, url, description, describedBy, message, session, at } = shown;
  const by = describedBy === undefined ? "" : " (described by a model)";
  return [
    `${type}, ${mediaType ?? "by its address"}${size === undefined ? "" : `, ${formatSize(size)}`}, ${formatDay(at)}`,
    description === undefined ? "without a description" : `${toShortLine(description)}${by}`,
    ...(url === undefined ? [] : [toShortLine(url)]),
    dimText(
      `id ${id}, message ${toShortLine(message, 60)}${session === undefined ? "" : `, in ${toShortLine(session, 60)}`}`,
    ),
  ];
}

/** The beginning of an id, enough to tell them apart in a list. */
const SHORT_ID = 16;

function formatPage(items: readonly ShownAttachment[], total: number): string[] {
  if (total === 0) return ["No images or recordings."];
  const rows = items.map(({ id, type, size, url, description, at }) => [
    colorText("yellow", id.slice(0, SHORT_ID)),
    dimText(formatDay(at)),
    type,
    size === undefined ? "" : formatSize(size),
    toShortLine(description ?? url ?? "without a description", 80),
  ]);
  const left = total - items.length;
  return [...formatTable(rows), ...(left > 0 ? [dimText(`and ${left} more`)] : [])];
}

/** Reads a file as an attachment. Throws `invalid_input` if it cannot be read, is too large, or of another format. */
export function readAttachmentFile(file: string, description: string | undefined): InputAttachment {
  let data: Uint8Array;
  try {
    if (statSync(file).size > MAX_ATTACHMENT_BYTES)
      throw invalid(`--attach ${file}: it is too large, more than ${formatSize(MAX_ATTACHMENT_BYTES)}.`);
    data = readFileSync(file);
  } catch (cause) {
    if (cause instanceof MemoryError) throw cause;
    throw new MemoryError("invalid_input", `--attach ${file}: it cannot be read.`, { cause });
  }
  const mediaType = sniffMediaType(data);
  if (mediaType === undefined)
    throw invalid(`--attach ${file}: its format is none of ${ATTACHMENT_FORMATS}.`);
  return {
    type: toAttachmentType(mediaType),
    data,
    ...(description === undefined ? {} : { description }),
  };
}
