import { parseMessages } from "../../engine/take-messages.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { ImportedMessage } from "../../formats/index.ts";

/** What stands in a file. */
export interface CheckedFile {
  readonly read: number;
  /** How many of them have an id that an earlier one has. */
  readonly repeated: number;
  readonly sessions: number;
  /** When the first and the last of those that name a time was said. */
  readonly from?: string;
  readonly to?: string;
}

const SCOPE = { project: "default", user: "me" };
const REPORT_EVERY = 1000;

/**
 * Reads through what is to be imported and checks each message as it will be when it is stored. `invalid_input` names
 * the first bad one by its place in the file.
 */
export async function checkFile(
  entries: AsyncIterable<ImportedMessage>,
  clock: () => Date,
  onRead: (read: number) => void,
): Promise<CheckedFile> {
  const ids = new Set<string>();
  const sessions = new Set<string>();
  const span: { from?: string; to?: string } = {};
  let [read, repeated] = [0, 0];
  for await (const entry of entries) {
    const checked = checkMessage(entry, clock);
    read += 1;
    // A message without words is not stored.
    if (!checked) continue;
    const { id, at, session } = checked;
    if (ids.has(id)) repeated += 1;
    ids.add(id);
    if (session !== undefined) sessions.add(session);
    if (entry.message.at !== undefined) extendSpan(span, at);
    if (read % REPORT_EVERY === 0) onRead(read);
  }
  return { read, repeated, sessions: sessions.size, ...span };
}

function extendSpan(span: { from?: string; to?: string }, at: string): void {
  if (span.from === undefined || at < span.from) span.from = at;
  if (span.to === undefined || at > span.to) span.to = at;
}

function checkMessage({ place, message }: ImportedMessage, clock: () => Date) {
  try {
    // Not as one of a batch: the error names the place in the file instead.
    if (typeof message.content === "string" && message.content.trim() === "") return undefined;
    return parseMessages({ clock, ids: () => place }, SCOPE, message, { origin: "import" }).messages[0];
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    throw new MemoryError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}
