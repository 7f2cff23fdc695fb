import type { ScopedMemory } from "../engine/api/scoped-memory.ts";
import { invalid, isMemoryError } from "../errors.ts";

/** Characters of an id that lists show on a terminal, unless two entries then look alike. */
const SHOWN_CHARACTERS = 8;

/** The shortest part of an id that identifies it. */
const LEAST_CHARACTERS = 6;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const PART = new RegExp(`^[\\da-f-]{${LEAST_CHARACTERS},}$`);

/**
 * Gives a function that shortens the ids of a list to their ends, which are random: their beginnings are the time. It gives ids
 * as they are where the output is not a terminal, so that scripts get whole ones.
 */
export function createIdShortener(
  ids: readonly string[],
  isTerminal: boolean = process.stdout.isTTY === true,
): (id: string) => string {
  const long = [...new Set(ids)].filter((id) => UUID.test(id));
  if (!isTerminal || long.length === 0) return (id) => id;
  let length = SHOWN_CHARACTERS;
  while (new Set(long.map((id) => id.slice(-length))).size < long.length) length += 1;
  return (id) => (UUID.test(id) ? id.slice(-length) : id);
}

/**
 * Whether a command that erases or changes something takes a part of an id: only where a person sees what it identifies. In a
 * script, the part of an id that is gone may fit another one.
 */
export function allowsParts({
  json,
  yes = false,
}: {
  readonly json: boolean;
  readonly yes?: boolean;
}): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && !json && !yes;
}

/**
 * Gives the id that begins or ends with `part`; `part` itself if it is one of the ids, or if none fits. Throws `invalid_input`
 * if several fit, and if one fits where parts are not allowed. `what` names them in the message: "memories".
 */
export function selectId(ids: Iterable<string>, part: string, what: string, areAllowed = true): string {
  const wanted = part.replace(/^…|…$/g, "").toLowerCase();
  const found: string[] = [];
  for (const id of ids) {
    if (id === part) return id;
    if (PART.test(wanted) && (id.startsWith(wanted) || id.endsWith(wanted))) found.push(id);
  }
  const [only, ...others] = found;
  if (others.length > 0) {
    throw invalid(
      `this part of an id fits ${found.length} ${what}. Give more of its characters; lists with --json show whole ids.`,
    );
  }
  if (only !== undefined && !areAllowed)
    throw invalid(
      "this is a part of an id. Give the whole id: only a person at a terminal may give a part, and without --yes and --json. " +
        "Lists with --json show whole ids.",
    );
  return only ?? part;
}

/** Whether a text may be a part of an id: a whole one needs no search. */
const mayBePart = (text: string): boolean =>
  !UUID.test(text) && PART.test(text.replace(/^…|…$/g, "").toLowerCase());

/** Gives the id of the memory that a part of it identifies. Throws `invalid_input` as `selectId` does. */
export async function findMemoryId(memory: ScopedMemory, part: string, areAllowed = true): Promise<string> {
  if (!mayBePart(part)) return part;
  const ids: string[] = [];
  for await (const { id } of memory.list({ status: "all", limit: 1000 })) ids.push(id);
  return selectId(ids, part, "memories", areAllowed);
}

/** The same where an id of a message, which its sender may have chosen, is possible too. It goes first. */
export async function findItemId(memory: ScopedMemory, part: string, areAllowed = true): Promise<string> {
  if (!mayBePart(part)) return part;
  try {
    return (await memory.message(part)).id;
  } catch (error) {
    if (isMemoryError(error) && error.code === "not_found") return findMemoryId(memory, part, areAllowed);
    throw error;
  }
}

/** Gives the id of the grant, given or received, that a part of it identifies. Throws `invalid_input` as `selectId` does. */
export async function findGrantId(memory: ScopedMemory, part: string, areAllowed = true): Promise<string> {
  if (!mayBePart(part)) return part;
  const { given, received } = await memory.grants({ all: true });
  return selectId(
    [...given, ...received].map(({ id }) => id),
    part,
    "grants",
    areAllowed,
  );
}

/** Gives the id of the image or recording that a part of it identifies. Throws `invalid_input` as `selectId` does. */
export async function findAttachmentId(
  memory: ScopedMemory,
  part: string,
  areAllowed = true,
): Promise<string> {
  if (!mayBePart(part)) return part;
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await memory.attachments({ limit: 1000, ...(cursor === undefined ? {} : { cursor }) });
    for (const { id } of page.items) ids.add(id);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return selectId(ids, part, "images and recordings", areAllowed);
}
