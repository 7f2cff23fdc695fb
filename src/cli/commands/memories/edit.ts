import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findEditor } from "../../../config/home-places.ts";
import type { Kind } from "../../../domain/memory.ts";
import type { Receipt } from "../../../domain/receipt.ts";
import type { ShownMemory } from "../../../engine/api/listing-types.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { MemoryChanges } from "../../../engine/api/writing-types.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { dimText, toShortLine } from "../../printer.ts";
import { allowsParts, findMemoryId } from "../../short-ids.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";
import { readStdin } from "./remember.ts";

interface EditCommandOptions extends CommonOptions {
  readonly kind?: Kind;
  readonly importance?: number;
  readonly validTo?: string;
  readonly expires?: string;
}

/** Changes a memory by hand. Without a text and other changes, it opens the person's editor. */
export async function runEdit(
  part: string,
  given: string | undefined,
  options: EditCommandOptions,
): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const id = await findMemoryId(memory, part, allowsParts(print));
    const before = await memory.get(id);
    const fields = toChangedFields(options);
    const { text, copy } = await readNewText(before.text, given, Object.keys(fields).length > 0, print.json);
    const changes = { ...fields, ...(text === undefined || text === before.text ? {} : { text }) };
    if (Object.keys(changes).length === 0) {
      removeCopy(copy);
      print.result({ revision: await memory.revision(), memories: [] }, () => ["Nothing was changed."]);
      return EXIT.done;
    }
    const receipt = await updateUnchanged(memory, before, changes).catch((error: unknown) => {
      if (copy !== undefined) print.note(`Your text is in ${copy}.`);
      throw error;
    });
    removeCopy(copy);
    print.result(receipt, () => [
      ...(changes.text === undefined ? [] : [dimText(`before: ${toShortLine(before.text)}`)]),
      ...receipt.memories.map(({ text: now }) => `changed: ${toShortLine(now)}`),
      dimText(`revision ${receipt.revision}; \`keepsake undo ${receipt.revision}\` reverts it`),
    ]);
    return EXIT.done;
  });
}

async function updateUnchanged(
  memory: ScopedMemory,
  { id, version }: ShownMemory,
  changes: MemoryChanges,
): Promise<Receipt> {
  if ((await memory.get(id)).version !== version)
    throw new MemoryError("conflict", "the memory has changed meanwhile. Run the command again.");
  return memory.update(id, changes);
}

function toChangedFields({ kind, importance, validTo, expires }: EditCommandOptions): MemoryChanges {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(importance === undefined ? {} : { importance }),
    ...(validTo === undefined ? {} : { validTo }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
}

/** A new text, undefined if the text stays, and the file in which a person typed it. */
interface NewText {
  readonly text: string | undefined;
  readonly copy?: string;
}

/** The new text: as given, from stdin for "-", or from the editor. */
async function readNewText(
  before: string,
  given: string | undefined,
  hasOtherChanges: boolean,
  isForProgram: boolean,
): Promise<NewText> {
  if (given === "-") return { text: (await readStdin()).trim() };
  if (given !== undefined || hasOtherChanges) return { text: given };
  if (process.stdin.isTTY && !isForProgram) return readFromEditor(before);
  throw invalid("give the new TEXT, or - to read it from stdin. On a terminal, an editor opens without it.");
}

/** Opens the editor on a copy of the text that only this user can read. The copy remains until the text is processed. */
function readFromEditor(before: string): NewText {
  const copy = join(mkdtempSync(join(tmpdir(), "keepsake-edit-")), "memory.txt");
  try {
    writeFileSync(copy, `${before}\n`, { mode: 0o600 });
    openEditor(copy);
    const text = readFileSync(copy, "utf8").trim();
    if (text === "")
      throw invalid("the text is empty, so nothing was changed. `keepsake forget` erases a memory.");
    return { text, copy };
  } catch (error) {
    removeCopy(copy);
    throw error;
  }
}

function removeCopy(copy: string | undefined): void {
  if (copy !== undefined) rmSync(dirname(copy), { recursive: true, force: true });
}

function openEditor(file: string): void {
  const editor = findEditor();
  const ran =
    process.platform === "win32"
      ? spawnSync(`${editor} "${file}"`, { shell: true, stdio: "inherit" })
      : spawnSync("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  if (ran.status === 0) return;
  throw new MemoryError(
    "unavailable",
    `the editor ended with ${ran.status ?? ran.signal ?? "an error"}, so nothing was changed. Set EDITOR, or give the new TEXT.`,
  );
}
