import {
  type FileMemory,
  type FileTree,
  isUnder,
  loadTree,
  parentOf,
  resolvePath,
  toFileText,
} from "./file-tree.ts";

export type { FileMemory } from "./file-tree.ts";

/** What the memory tool's commands ask for. The field names are Anthropic's. */
export interface MemoryToolCommands {
  readonly view: { readonly path: string; readonly view_range?: readonly number[] };
  readonly create: { readonly path: string; readonly file_text: string };
  readonly str_replace: { readonly path: string; readonly old_str: string; readonly new_str: string };
  readonly insert: { readonly path: string; readonly insert_line: number; readonly insert_text: string };
  readonly delete: { readonly path: string };
  readonly rename: { readonly old_path: string; readonly new_path: string };
}

/** Handlers for `betaMemoryTool` of `@anthropic-ai/sdk`. Each gives its reply, or throws an error for the model. */
export type UserMemoryToolHandlers = {
  readonly [Command in keyof MemoryToolCommands]: (command: MemoryToolCommands[Command]) => Promise<string>;
};

/** Options of the handlers. */
export interface MemoryToolOptions {
  /** True: `delete` erases for good. By default it removes, and the history keeps what was there. */
  readonly erases?: boolean;
}

/**
 * Keeps the files of Anthropic's memory tool in a user's memory, under `/memories`. Each file is one memory, found by
 * `recall`, with its versions in the history, and erased by `forget`. Commands of one set of handlers run one at a time.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { createMemoryToolHandlers } from "keepsake/adapters/anthropic";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const handlers = createMemoryToolHandlers(memory.scope({ user: "ana" }));
 * console.log(await handlers.create({ path: "/memories/tea.md", file_text: "Ana likes tea." }));
 * ```
 *
 * ```text
 * File created successfully at: /memories/tea.md
 * ```
 */
export function createMemoryToolHandlers(
  memory: FileMemory,
  { erases = false }: MemoryToolOptions = {},
): UserMemoryToolHandlers {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Command>(run: (files: MemoryFiles, command: Command) => Promise<string>) => {
    return (command: Command): Promise<string> => {
      const result = last.then(async () => run({ memory, erases, tree: await loadTree(memory) }, command));
      last = result.catch(() => {});
      return result;
    };
  };
  return {
    view: inTurn(view),
    create: inTurn(create),
    str_replace: inTurn(replaceText),
    insert: inTurn(insertText),
    delete: inTurn(deletePath),
    rename: inTurn(renamePath),
  };
}

/** A memory with its files, as they are when a command begins. */
interface MemoryFiles {
  readonly memory: FileMemory;
  readonly erases: boolean;
  readonly tree: FileTree;
}

const LINE_NUMBER_WIDTH = 6;
const MAX_LINES = 999_999;

async function view(
  { tree }: MemoryFiles,
  { path, view_range: range }: MemoryToolCommands["view"],
): Promise<string> {
  const place = resolvePath(tree, path);
  const file = tree.files.get(place);
  if (!file) {
    if (!tree.folders.has(place)) throw createMissingError(path);
    const listed = tree.list(place).map(({ size, name }) => `${size}\t${path}/${name}`);
    const title = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;
    return [title, `4K\t${path}`, ...listed].join("\n");
  }
  const lines = file.content.split("\n");
  if (lines.length > MAX_LINES)
    throw new Error(
      `File ${path} has too many lines (${lines.length}). Maximum is ${MAX_LINES.toLocaleString()} lines.`,
    );
  const [from, to] = range?.length === 2 ? [Math.max(1, range[0] ?? 1) - 1, range[1] ?? -1] : [0, -1];
  const shown = lines.slice(from, to === -1 ? lines.length : to);
  return `Here's the content of ${path} with line numbers:\n${numberLines(shown, from + 1)}`;
}

function numberLines(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${String(i + first).padStart(LINE_NUMBER_WIDTH, " ")}\t${line}`).join("\n");
}

function createMissingError(path: string): Error {
  return new Error(`The path ${path} does not exist. Please provide a valid path.`);
}

async function create(
  { memory, tree }: MemoryFiles,
  { path, file_text: content }: MemoryToolCommands["create"],
): Promise<string> {
  const place = resolvePath(tree, path);
  if (tree.files.has(place) || tree.folders.has(place)) throw new Error(`File ${path} already exists`);
  await memory.add({ text: toFileText(place, content), kind: "context", metadata: { memory_file: place } });
  await dropMarkers({ memory, tree }, place);
  return `File created successfully at: ${path}`;
}

/** Gives the file that a command changes. */
function requireFile({ tree }: MemoryFiles, path: string): { place: string; id: string; content: string } {
  const place = resolvePath(tree, path);
  const file = tree.files.get(place);
  if (file) return { place, ...file };
  throw tree.folders.has(place) ? new Error(`The path ${path} is not a file.`) : createMissingError(path);
}

async function replaceText(
  files: MemoryFiles,
  { path, old_str: before, new_str: after }: MemoryToolCommands["str_replace"],
): Promise<string> {
  const { place, id, content } = requireFile(files, path);
  const found = content.split("\n").flatMap((line, i) => (line.includes(before) ? i + 1 : []));
  const [line] = found;
  if (line === undefined)
    throw new Error(
      `No replacement was performed, old_str \`${before}\` did not appear verbatim in ${path}.`,
    );
  if (found.length > 1) {
    throw new Error(
      `No replacement was performed. Multiple occurrences of old_str \`${before}\` in lines: ${found.join(", ")}. Please ensure it is unique`,
    );
  }
  const changed = content.replace(before, () => after);
  await files.memory.update(id, { text: toFileText(place, changed), metadata: { memory_file: place } });
  const from = Math.max(0, line - 3);
  const snippet = numberLines(changed.split("\n").slice(from, line + 2), from + 1);
  return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`;
}

async function insertText(
  files: MemoryFiles,
  { path, insert_line: at, insert_text: text }: MemoryToolCommands["insert"],
): Promise<string> {
  const { place, id, content } = requireFile(files, path);
  const lines = content.split("\n");
  if (at < 0 || at > lines.length) {
    throw new Error(
      `Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  }
  lines.splice(at, 0, text.replace(/\n$/, ""));
  await files.memory.update(id, {
    text: toFileText(place, lines.join("\n")),
    metadata: { memory_file: place },
  });
  return `The file ${path} has been edited.`;
}

async function deletePath(
  { memory, tree, erases }: MemoryFiles,
  { path }: MemoryToolCommands["delete"],
): Promise<string> {
  const place = resolvePath(tree, path);
  if (place === tree.root) throw new Error("Cannot delete the /memories directory itself");
  if (!tree.files.has(place) && !tree.folders.has(place)) throw new Error(`The path ${path} does not exist`);
  const ids = tree.idsUnder(place);
  if (erases && ids.length > 0) await memory.forget({ ids });
  else for (const id of ids) await memory.remove(id);
  await keepFolder({ memory, tree }, parentOf(place), place);
  return `Successfully deleted ${path}`;
}

async function renamePath(
  { memory, tree }: MemoryFiles,
  { old_path: oldPath, new_path: newPath }: MemoryToolCommands["rename"],
): Promise<string> {
  const from = resolvePath(tree, oldPath);
  const to = resolvePath(tree, newPath);
  if (from === tree.root) throw new Error("Cannot rename the /memories directory itself");
  if (tree.files.has(to) || tree.folders.has(to))
    throw new Error(`The destination ${newPath} already exists`);
  if (!tree.files.has(from) && !tree.folders.has(from)) {
    // The folder of the destination is there from now on, as with files on a disk.
    await keepFolder({ memory, tree }, parentOf(to));
    if (to === from || !isUnder(to, from)) throw new Error(`The path ${oldPath} does not exist`);
  }
  if (isUnder(to, from)) throw new Error(`The path ${newPath} lies within ${oldPath}`);
  for (const [place, { id, content }] of tree.entriesUnder(from)) {
    const moved = to + place.slice(from.length);
    await memory.update(id, { text: toFileText(moved, content), metadata: { memory_file: moved } });
  }
  await keepFolder({ memory, tree }, parentOf(from), from);
  await dropMarkers({ memory, tree }, to);
  return `Successfully renamed ${oldPath} to ${newPath}`;
}

type WritableTree = Pick<MemoryFiles, "memory" | "tree">;

/** Keeps a folder that would be empty without what is under `leaving`, by a memory that represents it. */
async function keepFolder({ memory, tree }: WritableTree, folder: string, leaving?: string): Promise<void> {
  if (folder === tree.root) return;
  const left = tree
    .entriesUnder(folder)
    .filter(([place]) => leaving === undefined || !isUnder(place, leaving));
  if (left.length > 0) return;
  const marker = `${folder}/`;
  await memory.add({ text: marker, kind: "context", metadata: { memory_file: marker } });
  await dropMarkers({ memory, tree }, folder);
}

/** Removes the memories that represent folders that are no longer empty. */
async function dropMarkers({ memory, tree }: WritableTree, place: string): Promise<void> {
  for (const [marker, { id }] of tree.markers)
    if (isUnder(place, marker.slice(0, -1))) await memory.remove(id);
}
