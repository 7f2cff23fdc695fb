import type { ImportFormatName } from "../domain/operations/import-format.ts";
import type { ImportEntry } from "../engine/api/transfer-types.ts";
import { invalid } from "../errors.ts";
import { readLetta, readMem0 } from "./importers/agent-memories.ts";
import { readCharacterCard } from "./importers/character-card.ts";
import { readChatGpt } from "./importers/chatgpt.ts";
import { readClaude } from "./importers/claude.ts";
import { readLocomo, readLongMemEval } from "./importers/datasets.ts";
import { readGemini } from "./importers/gemini.ts";
import type { ImportReader, ImportSource } from "./importers/import-source.ts";
import { readJsonl, readKeepsakeExport } from "./importers/json-lines.ts";
import { readOpenAiMessages } from "./importers/openai-messages.ts";
import { readPam } from "./importers/pam.ts";
import { readTelegram } from "./importers/telegram.ts";
import { readWhatsApp } from "./importers/whatsapp.ts";
import type { ReadFormat } from "./read-format.ts";
import { recogniseFormat } from "./recognise.ts";

export type { ImportReader, ImportSource } from "./importers/import-source.ts";

/** Readers by the names that `--format` accepts. */
export const FORMATS: { readonly [name in ReadFormat]: ImportReader } = {
  jsonl: readJsonl,
  keepsake: readKeepsakeExport,
  pam: readPam,
  chatgpt: readChatGpt,
  claude: readClaude,
  gemini: readGemini,
  mem0: readMem0,
  letta: readLetta,
  telegram: readTelegram,
  whatsapp: readWhatsApp,
  character: readCharacterCard,
  openai: readOpenAiMessages,
  locomo: readLocomo,
  longmemeval: readLongMemEval,
};

export type ImportFormat = ReadFormat;

/** Detects a file's format from its content. Throws `invalid_input` if it is unknown. */
export function detectFormat(path: string): Promise<ImportFormat> {
  return recogniseFormat(path);
}

/** Reads the entries of a file or of its bytes, in the named format or in the one that it is recognised to have. */
export async function* readImportFile(
  source: ImportSource,
  format: ImportFormatName = "auto",
): AsyncGenerator<ImportEntry, void, void> {
  if (format !== "auto") yield* FORMATS[format](source);
  else if (typeof source === "string") yield* FORMATS[await recogniseFormat(source)](source);
  else {
    const { peek, rest } = createPeekableBytes(source);
    const recognised = await recogniseFormat(peek);
    yield* FORMATS[recognised](rest());
  }
}

/** Bytes that can be read from the beginning several times, until the rest is read once. */
interface PeekableBytes {
  /** Iterates from the beginning. What it reads is kept. */
  readonly peek: AsyncIterable<Uint8Array>;
  /** Iterates from the beginning to the end, and keeps nothing more. */
  rest(): AsyncIterable<Uint8Array>;
}

/** Bytes of a stream that are kept to recognise its format. */
const MOST_PEEKED_BYTES = 32 * 1024 * 1024;

function createPeekableBytes(source: AsyncIterable<Uint8Array>): PeekableBytes {
  const iterator = source[Symbol.asyncIterator]();
  const kept: Uint8Array[] = [];
  let size = 0;
  async function* readKept(): AsyncGenerator<Uint8Array, void, void> {
    for (let i = 0; ; i += 1) {
      const known = kept[i];
      if (known) yield known;
      else {
        const { done, value } = await iterator.next();
        if (done) return;
        kept.push(value);
        size += value.byteLength;
        if (size > MOST_PEEKED_BYTES)
          throw invalid("the format is not recognised by the beginning of the file. Name it as `format`.");
        yield value;
      }
    }
  }
  async function* readRest(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* kept.splice(0);
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
  return { peek: { [Symbol.asyncIterator]: readKept }, rest: readRest };
}
