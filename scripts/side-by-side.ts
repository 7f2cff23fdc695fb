/**
 * Compares ten source files of an earlier commit with the files that hold their code now, and writes the page
 * `docs/results/ten-files.md`:
 *
 *   node scripts/side-by-side.ts --seed 1 > docs/results/ten-files.md
 *
 * A seeded random generator picks the files, so everybody gets the same ten.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type ExportedName, readSource } from "./structure.ts";

const ROOT = join(import.meta.dirname, "..");
const EARLIER_COMMIT = "8e76640";
const SAMPLE_SIZE = 10;
/** Shorter lines (brackets, `return;`) occur in every file and identify none. */
const SHORTEST_TELLING_LINE = 20;
/** Files with fewer lines in common are unrelated. */
const MIN_SHARED_LINES = 3;

/** One state of a file. */
export interface FileState {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** A file of the earlier commit with its successor. */
export interface FilePair {
  readonly before: FileState;
  /** Undefined if no file holds its code any more. */
  readonly after: FileState | undefined;
  /** The method that found the successor. */
  readonly foundBy: "path" | "rename" | "name" | "lines" | "nothing";
  /** Lines of the earlier file, of at least 20 characters, that occur in the later one. */
  readonly sharedLines: number;
}

/** Picks items with a seeded generator (mulberry32). The same seed and items give the same choice, in the same order. */
export function pickSeeded<T>(items: readonly T[], size: number, seed: number): T[] {
  let state = seed | 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pool = [...items];
  const picked: T[] = [];
  while (picked.length < size && pool.length > 0) {
    picked.push(...pool.splice(Math.floor(random() * pool.length), 1));
  }
  return picked;
}

/** Follows a path through renames in the order of their commits. */
export function followRenames(
  path: string,
  renames: readonly { readonly from: string; readonly to: string }[],
): string {
  return renames.reduce((current, { from, to }) => (from === current ? to : current), path);
}

/** The text of a file's first doc comment on one line, or an empty string. */
export function readFirstDocComment(text: string): string {
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
  return comment
    .replace(/^\s*\* ?/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

const exportsOf = ({ path, text }: FileState): readonly ExportedName[] =>
  readSource(path, text, new Set()).exports;
const countLines = ({ text }: FileState): number => text.split("\n").length - 1;

/** The lines of a file that are long enough to identify it. Imports are left out. */
const listTellingLines = ({ text }: FileState): Set<string> =>
  new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line.length >= SHORTEST_TELLING_LINE && !line.startsWith("import ")),
  );

/**
 * Finds the file that holds an earlier file's code now: by path, by git's renames, by the name of its main export, and last by
 * the most lines in common. The main export is the first that the file declares.
 */
export function findSuccessor(
  before: FileState,
  renames: readonly { readonly from: string; readonly to: string }[],
  now: readonly FileState[],
): FilePair {
  const lines = listTellingLines(before);
  const countShared = (file: FileState): number =>
    [...listTellingLines(file)].filter((line) => lines.has(line)).length;
  const toPair = (after: FileState, foundBy: FilePair["foundBy"]): FilePair => {
    return { before, after, foundBy, sharedLines: countShared(after) };
  };

  const path = followRenames(before.path, renames);
  const renamed = now.find((file) => file.path === path);
  if (renamed !== undefined) return toPair(renamed, path === before.path ? "path" : "rename");

  const main = exportsOf(before)[0]?.name;
  const named = now.find((file) => exportsOf(file).some(({ name }) => name === main));
  if (named !== undefined) return toPair(named, "name");

  const [similar] = now
    .map((file) => ({ file, shared: countShared(file) }))
    .sort((one, other) => other.shared - one.shared);
  if (similar !== undefined && similar.shared >= MIN_SHARED_LINES) return toPair(similar.file, "lines");
  return { before, after: undefined, foundBy: "nothing", sharedLines: 0 };
}

const FOUND_BY = {
  path: "same path",
  rename: "git's rename detection",
  name: "its main export's name",
  lines: "most lines in common",
  nothing: "no successor found",
} as const;

const SHOWN_WITHOUT = "src/";
const escapeCell = (text: string): string => text.replaceAll("|", "\\|");
const formatPath = (file: FileState | undefined): string =>
  file === undefined ? "(none)" : `\`${file.path.slice(SHOWN_WITHOUT.length)}\``;
const formatExports = (file: FileState | undefined): string =>
  file === undefined
    ? ""
    : exportsOf(file)
        .map(({ name }) => `\`${name}\``)
        .join(", ") || "(none)";
const formatComment = (file: FileState | undefined): string =>
  file === undefined ? "" : escapeCell(readFirstDocComment(file.text)) || "(none)";

/** The page in Markdown. */
export function renderPage(
  pairs: readonly FilePair[],
  commits: { readonly before: string; readonly after: string; readonly seed: number; readonly files: number },
): string {
  const overview = pairs.map(({ before, after, foundBy, sharedLines }, index) => {
    const cells = [
      String(index + 1),
      formatPath(before),
      formatPath(after),
      String(countLines(before)),
      after === undefined ? "" : String(countLines(after)),
      String(sharedLines),
      FOUND_BY[foundBy],
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const details = pairs.flatMap(({ before, after }, index) => [
    `## File ${index + 1}`,
    "",
    "| | Before | After |",
    "|---|---|---|",
    `| Name | ${formatPath(before)} | ${formatPath(after)} |`,
    `| Lines | ${countLines(before)} | ${after === undefined ? "" : countLines(after)} |`,
    `| Exported names | ${formatExports(before)} | ${formatExports(after)} |`,
    `| First doc comment | ${formatComment(before)} | ${formatComment(after)} |`,
    "",
  ]);
  return [
    "# Ten files before and after",
    "",
    `This page compares ten source files of commit ${commits.before} with the files that hold their code at commit ${commits.after}.`,
    `A random generator with seed ${commits.seed} picked them from ${commits.files} files: all TypeScript files of \`src\` at the earlier`,
    "commit, without tests. Nobody chose them by hand.",
    "",
    "A successor is the file with the same path, or the target of git's renames. If there is none, it is the file that exports",
    "the same main name, and otherwise the file with the most lines in common. A successor may also hold the code of other files,",
    "so it may be longer. Shared lines are unchanged lines of at least 20 characters, imports excluded. Paths are relative to",
    "`src`. Exported names are those that the file declares.",
    "",
    "To write the page again:",
    "",
    "```sh",
    `node scripts/side-by-side.ts --seed ${commits.seed} --to ${commits.after} > docs/results/ten-files.md`,
    "```",
    "",
    "| File | Before | After | Lines before | Lines after | Shared lines | Found by |",
    "|---|---|---|---|---|---|---|",
    ...overview,
    "",
    ...details,
  ].join("\n");
}

const git = (...words: string[]): string =>
  execFileSync("git", words, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });

function listSources(commit: string): string[] {
  return git("ls-tree", "-r", "--name-only", commit, "src")
    .split("\n")
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("__fixtures__"))
    .sort();
}

/** The renames that git detects in each commit between the two, oldest first. */
function listRenames(from: string, to: string): { from: string; to: string }[] {
  const range = `${from}..${to}`;
  return git(
    "log",
    "--reverse",
    "--topo-order",
    "-M50%",
    "-l0",
    "--diff-filter=R",
    "--name-status",
    "--format=",
    range,
  )
    .split("\n")
    .map((line) => line.split("\t"))
    .flatMap(([status = "", source = "", target = ""]) =>
      status.startsWith("R") ? [{ from: source, to: target }] : [],
    );
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      from: { type: "string", default: EARLIER_COMMIT },
      to: { type: "string", default: "HEAD" },
      seed: { type: "string", default: "1" },
    },
  });
  const after = git("rev-parse", "--short=7", values.to).trim();
  const read = (commit: string, path: string): FileState => ({
    path,
    text: git("show", `${commit}:${path}`),
  });
  const earlier = listSources(values.from);
  const now = listSources(after).map((path) => read(after, path));
  const renames = listRenames(values.from, after);
  const seed = Number(values.seed);
  const pairs = pickSeeded(earlier, SAMPLE_SIZE, seed).map((path) =>
    findSuccessor(read(values.from, path), renames, now),
  );
  process.stdout.write(renderPage(pairs, { before: values.from, after, seed, files: earlier.length }));
}
