import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEditor } from "../../../config/home-places.ts";
import type { Kind } from "../../../domain/memory.ts";
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
    const text = await readNewText(before.text, given, Object.keys(fields).length > 0, print.json);
    const changes = { ...fields, ...(text === undefined || text === before.text ? {} : { text }) };
    if (Object.keys(changes).length === 0) {
      print.result({ revision: await memory.revision(), memories: [] }, () => ["Nothing was changed."]);
      return EXIT.done;
    }
    if ((await memory.get(id)).version !== before.version)
      throw new MemoryError("conflict", "the memory has changed meanwhile. Run the command again.");
    const receipt = await memory.update(id, changes);
    print.result(receipt, () => [
      ...(changes.text === undefined ? [] : [dimText(`before: ${toShortLine(before.text)}`)]),
      ...receipt.memories.map(({ text: now }) => `changed: ${toShortLine(now)}`),
      dimText(`revision ${receipt.revision}; \`keepsake undo ${receipt.revision}\` reverts it`),
    ]);
    return EXIT.done;
  });
}

function toChangedFields({ kind, importance, validTo, expires }: EditCommandOptions): MemoryChanges {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(importance === undefined ? {} : { importance }),
    ...(validTo === undefined ? {} : { validTo }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
}

/** The new text: as given, from stdin for "-", or from the editor. Undefined if the text stays. */
async function readNewText(
  before: string,
  given: string | undefined,
  hasOtherChanges: boolean,
  isForProgram: boolean,
): Promise<string | undefined> {
  if (given === "-") return (await readStdin()).trim();
  if (given !== undefined) return given;
  if (hasOtherChanges) return undefined;
  if (process.stdin.isTTY && !isForProgram) return readFromEditor(before);
  throw invalid("give the new TEXT, or - to read it from stdin. On a terminal, an editor opens without it.");
}

/** Opens the editor on a copy of the text that only this user can read, and removes the copy afterwards. */
function readFromEditor(before: string): string {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-edit-"));
  try {
    const file = join(folder, "memory.txt");
    writeFileSync(file, `${before}\n`, { mode: 0o600 });
    openEditor(file);
    const text = readFileSync(file, "utf8").trim();
    if (text === "")
      throw invalid("the text is empty, so nothing was changed. `keepsake forget` erases a memory.");
    return text;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
