import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { parseArgs } from "node:util";

/** A source file of the program itself: no test, no fixture, no suite for adapters. */
export interface SourceFile {
  /** Relative to `src/`, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** Files of `src/` that it imports. */
  readonly imports: readonly string[];
  /** Names that it declares and exports. */
  readonly exports: readonly ExportedName[];
}

export interface ExportedName {
  readonly name: string;
  readonly isType: boolean;
}

/** What the structure of `src/` comes to. */
export interface Structure {
  readonly files: number;
  readonly lines: number;
  /** Files that one file imports, and that have 60 lines at most. */
  readonly smallFilesOfOneImporter: readonly string[];
  /** Those of them that no entry of `SMALL_FILES` names, and whose importer is in the same layer. */
  readonly smallFilesWithoutReason: readonly string[];
  /** Names that more than one file declares and exports. */
  readonly namesDeclaredTwice: readonly string[];
  readonly typesDeclaredTwice: readonly string[];
  /** Exported names that hide a global of the language, of Node, or of TypeScript. */
  readonly shadowedGlobals: readonly string[];
  readonly largestPort: { readonly name: string; readonly methods: number };
  readonly largestFolder: { readonly path: string; readonly files: number };
  /** Groups of files that import one another in a circle. */
  readonly circles: readonly (readonly string[])[];
  /** Pairs of folders that import each other. */
  readonly foldersBothWays: readonly string[];
  /** Imports from one layer into another that `MAY_IMPORT` does not allow. */
  readonly againstDirection: readonly string[];
}

/**
 * Which layer may import which: the top folders of `src/`, and `.` for the files at its root. A name with a slash is one folder of a
 * layer. A layer may import itself, and every layer may import errors.ts.
 */
export const MAY_IMPORT: { readonly [layer: string]: readonly string[] } = {
  domain: [],
  ports: ["domain"],
  // It implements ports. Only what wires the program together names it.
  language: ["domain", "ports"],
  engine: ["domain", "ports"],
  formats: ["domain", "engine (types)"],
  adapters: ["domain", "ports", "language"],
  testing: ["domain", "ports", "adapters"],
  // The server hands out the page; the page itself knows nothing of the server's code.
  // It takes in what the command line takes in. Its public `keysFile` opens a file by its path, without the wiring.
  http: ["domain", "ports", "engine", "formats", "ui", "adapters/shared/state-files"],
  ui: ["domain", "ports", "engine"],
  config: ["domain", "ports", "engine", "adapters"],
  // Tools for models over the Model Context Protocol, and the files of the programs that call them.
  mcp: ["domain", "ports", "engine"],
  cli: ["domain", "ports", "engine", "formats", "adapters", "config", "http", "mcp", "."],
  // The files at the root of src/: memory.ts, which puts everything together, and index.ts, the public names.
  ".": ["domain", "ports", "engine", "adapters", "language", "wiring"],
  // The parts of memory.ts.
  wiring: ["domain", "ports", "engine", "formats", "adapters", "language", "."],
};

/** Small files of one importer that stay files of their own: how their paths begin, and why. */
export const SMALL_FILES: { readonly [path: string]: string } = {
  "adapters/postgres/migrations/": "a migration stays as it landed",
  "adapters/sqlite/migrations/": "a migration stays as it landed",
  "cli/commands/clients/mcp.ts": "a command is loaded when it is called",
  "cli/completion/fish-script.ts": "the script of a shell is a file",
  "cli/main.ts": "the program itself",
  "formats/importers/openai-messages.ts": "a format is a file",
  "language/en/answers/evidence/weights.ts": "a script writes it",
  "language/en/forget-requests/": "a rule for requests to forget is a file",
  "language/en/grammar/forgetting/": "a rule for requests to forget is a file",
  "language/en/needs/outdated-weights.ts": "a script writes it",
  "mcp/questions.ts": "a part of the protocol that few clients have",
};

const ROOT = join(import.meta.dirname, "..");
const SMALL = 60;
/** What TypeScript declares for everybody, beyond what a running Node can be asked for. */
const UTILITY_TYPES =
  "Awaited Partial Required Readonly Record Pick Omit Exclude Extract NonNullable Parameters ReturnType InstanceType ArrayLike Iterable Iterator";
const GLOBALS = new Set([...Object.getOwnPropertyNames(globalThis), ...UTILITY_TYPES.split(" ")]);

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

/** Reads the program's source files under a folder. */
export function readSources(folder: string): SourceFile[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .filter((path) => !path.startsWith("testing/") && !/__fixtures__|(?:^|\/)node_modules\//.test(path))
    .sort();
  const known = new Set(paths);
  return paths.map((path) => readSource(path, readFileSync(join(folder, path), "utf8"), known));
}

/** Reads one source file. `known` names the files that count as imports. */
export function readSource(path: string, text: string, known: ReadonlySet<string>): SourceFile {
  const code = withoutComments(text);
  const specifiers = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  const targets = specifiers.map((one) => posix.normalize(posix.join(posix.dirname(path), one)));
  const declared = code.matchAll(
    /^export (?:declare )?(?:abstract )?(type|interface|(?:async )?function\*?|const|class|enum) (\w+)/gm,
  );
  return {
    path,
    lines: text.split("\n").length - 1,
    imports: [...new Set(targets.filter((one) => known.has(one) && one !== path))],
    exports: [...declared].map((match) => ({
      name: match[2] ?? "",
      isType: match[1] === "type" || match[1] === "interface",
    })),
  };
}

/** Measures the structure of source files. `textOf` gives the text of one of them. */
export function measureStructure(
  sources: readonly SourceFile[],
  textOf: (path: string) => string,
): Structure {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources)
    for (const one of imports) importers.set(one, [...(importers.get(one) ?? []), path]);
  const small = sources
    .filter(({ path, lines }) => lines <= SMALL && importers.get(path)?.length === 1)
    .map(({ path }) => path);
  const exports = sources.flatMap((source) => source.exports.map((one) => ({ ...one, path: source.path })));
  const twice = repeated(exports);
  return {
    files: sources.length,
    lines: sources.reduce((sum, { lines }) => sum + lines, 0),
    smallFilesOfOneImporter: small,
    smallFilesWithoutReason: small.filter(
      (path) =>
        !Object.keys(SMALL_FILES).some((one) => path.startsWith(one)) &&
        importers.get(path)?.every((importer) => layerOf(importer) === layerOf(path)),
    ),
    namesDeclaredTwice: twice,
    typesDeclaredTwice: repeated(exports.filter(({ isType }) => isType)),
    shadowedGlobals: [...new Set(exports.map(({ name }) => name).filter((name) => GLOBALS.has(name)))],
    largestPort: largestPort(
      sources.filter(({ path }) => path.startsWith("ports/")).map(({ path }) => textOf(path)),
    ),
    largestFolder: largestFolder(sources),
    circles: circlesOf(new Map(sources.map(({ path, imports }) => [path, imports]))),
    foldersBothWays: bothWays(sources),
    againstDirection: sources.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target !== "errors.ts" && !isAllowed(layerOf(path), target))
        .map((target) => `${path} -> ${target}`),
    ),
  };
}

/** The top folder of a path; `.` for a file at the root. */
export const layerOf = (path: string): string =>
  path.includes("/") ? path.slice(0, path.indexOf("/")) : ".";

/** Whether a layer may import a file, as a type at least. */
function isAllowed(from: string, target: string): boolean {
  const to = layerOf(target);
  const allowed = MAY_IMPORT[from] ?? [];
  return (
    from === to ||
    allowed.includes(to) ||
    allowed.includes(`${to} (types)`) ||
    allowed.includes(posix.dirname(target))
  );
}

function repeated(exports: readonly { readonly name: string; readonly path: string }[]): string[] {
  const files = new Map<string, Set<string>>();
  for (const { name, path } of exports) files.set(name, (files.get(name) ?? new Set()).add(path));
  return [...files].filter(([, paths]) => paths.size > 1).map(([name]) => name);
}

/** The interface of a port with the most methods, those of the interfaces that it extends included. */
function largestPort(texts: readonly string[]): Structure["largestPort"] {
  const ports = new Map<string, { readonly own: number; readonly parents: readonly string[] }>();
  for (const [, name = "", parents = "", body = ""] of texts.flatMap((text) => [
    ...withoutComments(text).matchAll(/^export interface (\w+)(?: extends ([^{]*))? \{\n([\s\S]*?)^\}/gm),
  ])) {
    const own = body.match(/^ {2}(?:readonly )?\w+\??(?:<[^(]*>)?(?:\(|: \()/gm)?.length ?? 0;
    ports.set(name, { own, parents: parents.match(/\w+/g) ?? [] });
  }
  const count = (name: string): number => {
    const { own = 0, parents = [] } = ports.get(name) ?? {};
    return parents.reduce((sum, parent) => sum + count(parent), own);
  };
  return [...ports.keys()]
    .map((name) => ({ name, methods: count(name) }))
    .reduce((one, other) => (other.methods > one.methods ? other : one), { name: "", methods: 0 });
}

function largestFolder(sources: readonly SourceFile[]): Structure["largestFolder"] {
  const counts = Map.groupBy(sources, ({ path }) => posix.dirname(path));
  const [path = "", files = []] = [...counts].sort((a, b) => b[1].length - a[1].length)[0] ?? [];
  return { path, files: files.length };
}

/** The strongly connected groups of more than one file (Tarjan, 1972). */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): void => {
    const index = order.size;
    order.set(node, index);
    low.set(node, index);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== index) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) groups.push(group.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return groups;
}

/**
 * The folder that stands for a file in a drawing: at most two levels deep. A file at the root stands for itself: `errors.ts`, which all
 * folders import, has nothing to do with `memory.ts`, which imports them.
 */
export const roomOf = (path: string): string =>
  path.includes("/") ? posix.dirname(path).split("/").slice(0, 2).join("/") : path;

/** How many imports go from one room to another: "from -> to". */
export function arrowsOf(sources: readonly SourceFile[]): Map<string, number> {
  const arrows = new Map<string, number>();
  for (const { path, imports } of sources) {
    for (const target of imports) {
      const [from, to] = [roomOf(path), roomOf(target)];
      if (from !== to) arrows.set(`${from} -> ${to}`, (arrows.get(`${from} -> ${to}`) ?? 0) + 1);
    }
  }
  return arrows;
}

function bothWays(sources: readonly SourceFile[]): string[] {
  const arrows = arrowsOf(sources);
  return [...arrows.keys()]
    .filter((arrow) => arrows.has(arrow.split(" -> ").reverse().join(" -> ")))
    .filter((arrow) => arrow.split(" -> ").join() < arrow.split(" -> ").reverse().join());
}

/** The import graph of the rooms, in the DOT language of Graphviz. The number of imports stands at each arrow. */
export function drawGraph(sources: readonly SourceFile[]): string {
  const lines = [...arrowsOf(sources)].map(([arrow, count]) => {
    const [from = "", to = ""] = arrow.split(" -> ");
    return `  "${from}" -> "${to}" [label=${count}];`;
  });
  return `digraph src {\n  rankdir=LR;\n${lines.sort().join("\n")}\n}\n`;
}

/** The import graph of the layers, in the language of Mermaid, which a page shows as a drawing. */
export function drawLayers(sources: readonly SourceFile[]): string {
  const counts = new Map<string, number>();
  for (const { path, imports } of sources) {
    for (const target of imports) {
      const [from, to] = [layerOf(path), layerOf(target)];
      if (from !== to && target !== "errors.ts")
        counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1);
    }
  }
  const nameOf = (layer: string): string => (layer === "." ? "root" : layer);
  const lines = [...counts].sort().map(([arrow, count]) => {
    const [from = "", to = ""] = arrow.split(" ").map(nameOf);
    return `  ${from} -->|${count}| ${to}`;
  });
  return ["flowchart LR", ...lines].join("\n");
}

/** Run-time dependencies with what each of them installs, itself and what it needs, in bytes. */
export function dependencySizes(): { readonly name: string; readonly bytes: number }[] {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly dependencies: { readonly [name: string]: string };
  };
  const own = (name: string): string => join(ROOT, "node_modules", name);
  const needed = (name: string, seen: Set<string>): Set<string> => {
    if (seen.has(name) || !existsSync(own(name))) return seen;
    seen.add(name);
    const manifest = JSON.parse(readFileSync(join(own(name), "package.json"), "utf8")) as {
      readonly dependencies?: { readonly [name: string]: string };
    };
    for (const one of Object.keys(manifest.dependencies ?? {})) needed(one, seen);
    return seen;
  };
  return Object.keys(dependencies).map((name) => ({
    name,
    bytes: [...needed(name, new Set())].reduce((sum, one) => sum + sizeOf(own(one)), 0),
  }));
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
}

/** The folder `src` as a commit has it, in a folder of its own that goes when `use` has ended. */
export function atCommit<T>(commit: string, use: (src: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-structure-"));
  try {
    const archive = execFileSync("git", ["archive", commit, "src"], { cwd: ROOT, maxBuffer: 1 << 30 });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    return use(join(folder, "src"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      at: { type: "string" },
      graph: { type: "boolean" },
      json: { type: "boolean" },
      lists: { type: "boolean" },
      without: { type: "string", multiple: true, default: [] },
    },
  });
  const show = (src: string): void => {
    const sources = readSources(src).filter(
      ({ path }) => !values.without.some((one) => path.startsWith(one)),
    );
    if (values.graph) {
      console.log(drawGraph(sources));
      return;
    }
    const structure = measureStructure(sources, (path) => readFileSync(join(src, path), "utf8"));
    const counted = Object.entries(structure).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.length : value,
    ]);
    const shown = {
      ...(values.lists ? structure : Object.fromEntries(counted)),
      dependencies: dependencySizes(),
    };
    console.log(JSON.stringify(shown, null, values.json ? 0 : 2));
  };
  if (values.at === undefined) show(join(ROOT, "src"));
  else atCommit(values.at, show);
}
