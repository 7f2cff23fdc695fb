/**
 * Packs the package as npm would publish it, installs it in an empty folder, and prints what that takes:
 *
 *     node scripts/ready.mjs && node scripts/package-size.ts [--json]
 *
 * The bars are those of test/package.test.ts. Ends with 0 where they hold, 1 where one does not.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** The most that the package may be. */
export const PACKAGE_BARS = {
  packedMegabytes: 36,
  unpackedMegabytes: 48,
  files: 2500,
  packages: 12,
  loadedModules: 520,
} as const;

/** What the package is, packed and installed. */
export interface PackageFigures {
  readonly packedMegabytes: number;
  readonly unpackedMegabytes: number;
  readonly files: number;
  /** Seconds that an installation takes, with packages from npm's cache where it has them. */
  readonly installSeconds: number;
  /** Packages that are installed with it. */
  readonly packages: number;
  /** All that an installation puts into the folder. */
  readonly installedMegabytes: number;
  /** Modules that `import "keepsake"` loads from files, and parts of Node. */
  readonly loadedModules: number;
  readonly loadedNodeParts: number;
  /** Packages among them. */
  readonly loadedPackages: readonly string[];
  /** How long the import takes in a new process, in ms: the median of several. */
  readonly importMs: number;
}

/** What `npm pack --json` tells of a package. */
export interface PackedPackage {
  readonly filename: string;
  /** Bytes of the archive. */
  readonly size: number;
  /** Bytes of the files in it. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const IMPORTS = 5;

/** Prints as JSON the address of every module that is loaded by the import of its argument, and what is done then. */
export const LIST_LOADED = `
import { registerHooks } from "node:module";
const loaded = [];
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    loaded.push(found.url);
    return found;
  },
});
const { createMemory } = await import(process.argv[2]);
if (process.argv[3] === "and read") {
  await using memory = await createMemory({ path: ":memory:" });
  await memory.scope({ user: "ana" }).remember("I moved to Lisbon last March.");
}
console.log(JSON.stringify(loaded));
`;

const TIME_IMPORT = `
const begun = performance.now();
await import("keepsake");
console.log(performance.now() - begun);
`;

/** Packages in the addresses of modules. */
export function listPackages(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []))];
}

/** Packages that are installed in a folder, but for Keepsake. */
export function listInstalled(folder: string): string[] {
  const names = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  return names
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(folder, "node_modules", name)).map((part) => `${name}/${part}`)
        : [name],
    )
    .filter((name) => name !== "keepsake");
}

/** Runs a program in a folder. Gives what it prints; throws if it fails. */
function runIn(folder: string, program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${stderr}`);
  return stdout;
}

/** Runs the npm that runs this program, or the machine's, in a folder. */
function runNpm(folder: string, ...args: readonly string[]): string {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  return script?.endsWith(".js") && node
    ? runIn(folder, node, script, ...args)
    : runIn(folder, "npm", ...args);
}

/** Packs the package into a folder. `dist/` must be built. */
export function packPackage(folder: string): PackedPackage {
  const printed = runNpm(
    folder,
    "pack",
    ROOT,
    "--json",
    "--ignore-scripts",
    "--loglevel=error",
    "--pack-destination",
    folder,
  );
  const [packed] = JSON.parse(printed) as PackedPackage[];
  if (!packed) throw new Error("npm packed nothing.");
  return packed;
}

/** Installs a packed package in a folder that has nothing else in it. */
export function installPackage(folder: string, filename: string): void {
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  runNpm(
    folder,
    "install",
    `./${filename}`,
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  );
}

function measurePackage(): PackageFigures {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-package-size-"));
  try {
    const packed = packPackage(folder);
    const begun = performance.now();
    installPackage(folder, packed.filename);
    const installSeconds = (performance.now() - begun) / 1000;
    writeFileSync(join(folder, "list-loaded.mjs"), LIST_LOADED);
    writeFileSync(join(folder, "time-import.mjs"), TIME_IMPORT);
    const urls = JSON.parse(runIn(folder, process.execPath, "list-loaded.mjs", "keepsake")) as string[];
    const modules = [...new Set(urls)];
    const times = Array.from({ length: IMPORTS }, () =>
      Number(runIn(folder, process.execPath, "time-import.mjs")),
    );
    return {
      packedMegabytes: packed.size / 1e6,
      unpackedMegabytes: packed.unpackedSize / 1e6,
      files: packed.files.length,
      installSeconds,
      packages: listInstalled(folder).length,
      installedMegabytes: sumBytes(join(folder, "node_modules")) / 1e6,
      loadedModules: modules.filter((url) => url.startsWith("file:")).length,
      loadedNodeParts: modules.filter((url) => url.startsWith("node:")).length,
      loadedPackages: listPackages(modules),
      importMs: times.toSorted((one, other) => one - other)[IMPORTS >> 1] ?? Number.NaN,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sumBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** The bars that figures do not hold. */
export function findTooLarge(
  figures: Partial<{ readonly [bar in keyof typeof PACKAGE_BARS]: number }>,
): string[] {
  return Object.entries(PACKAGE_BARS).flatMap(([name, most]) => {
    const value = figures[name as keyof typeof PACKAGE_BARS];
    return value !== undefined && value > most ? [`${name} is ${value}; the bar is ${most}`] : [];
  });
}

function main(): number {
  const figures = measurePackage();
  const round = (value: number): number => Math.round(value * 10) / 10;
  const rounded = Object.entries(figures).map(([name, value]) => [
    name,
    typeof value === "number" ? round(value) : value,
  ]);
  if (process.argv.includes("--json")) console.log(JSON.stringify(Object.fromEntries(rounded)));
  else for (const [name, value] of rounded) console.log(`${String(name).padEnd(18)} ${String(value)}`);
  const problems = findTooLarge(figures);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
