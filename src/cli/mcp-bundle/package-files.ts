import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { MemoryError } from "../../errors.ts";
import type { ArchiveFile } from "./zip-archive.ts";

/** What a program needs of a package's description. */
interface PackageManifest {
  readonly name: string;
  readonly files?: readonly string[];
  readonly dependencies?: { readonly [name: string]: string };
}

/** A package, and the folder that it gets in the bundle. */
interface PlacedPackage {
  readonly folder: string;
  readonly target: string;
}

/** Files that nothing loads: types, sources of types, maps and texts. Licences stay. */
const UNUSED = /\.(?:[cm]?ts|map|md)$/;
const LICENCE = /^(?:licen[cs]e|notice|copying)/i;

/**
 * Collects a package with its dependencies, and those of `more`, as a folder `node_modules`. Throws `unsupported` if one
 * is not installed.
 */
export function collectPackages(root: string, more: readonly string[]): readonly ArchiveFile[] {
  const manifest = readManifest(root);
  const placed = new Map<string, PlacedPackage>();
  const main: PlacedPackage = { folder: root, target: `node_modules/${manifest.name}` };
  placed.set(main.target, main);
  const queue = [main];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const names = Object.keys(readManifest(next.folder).dependencies ?? {});
    for (const name of next === main ? [...names, ...more] : names) {
      const added = placePackage(placed, next, name);
      if (added) queue.push(added);
    }
  }
  return [...placed.values()].flatMap(({ folder, target }) =>
    listFiles(folder, folder === root ? manifest.files : undefined).map((file) => ({
      path: `${target}/${relative(folder, file).split(sep).join("/")}`,
      bytes: readFileSync(file),
    })),
  );
}

/** Gives a dependency its folder. Gives undefined if the dependent already finds it. */
function placePackage(
  placed: Map<string, PlacedPackage>,
  dependent: PlacedPackage,
  name: string,
): PlacedPackage | undefined {
  const folder = findPackage(dependent.folder, name);
  const found = findPlaced(placed, dependent.target, name);
  if (found?.folder === folder) return undefined;
  const added = { folder, target: `${found ? `${dependent.target}/` : ""}node_modules/${name}` };
  placed.set(added.target, added);
  return added;
}

/** Finds an installed package as Node does: in the folders `node_modules` upwards. */
function findPackage(from: string, name: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (dirname(folder) === folder) {
      throw new MemoryError(
        "unsupported",
        `the bundle needs the package ${name}, which is not installed. Install it: npm install ${name}`,
      );
    }
  }
}

/** Finds a package in the bundle as Node will from the folder `target`. */
function findPlaced(
  placed: ReadonlyMap<string, PlacedPackage>,
  target: string,
  name: string,
): PlacedPackage | undefined {
  for (let folder = target; ; folder = dirname(folder)) {
    const found = placed.get(folder === "." ? `node_modules/${name}` : `${folder}/node_modules/${name}`);
    if (found || folder === ".") return found;
  }
}

function readManifest(folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageManifest;
}

/** Lists the files of a package that a program loads, without other packages inside it. */
function listFiles(folder: string, parts: readonly string[] | undefined): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const [top = "", ...inner] = relative(folder, file).split(sep);
      if (top === "node_modules" || inner.includes("node_modules")) return false;
      if (parts && top !== "package.json" && !parts.includes(top)) return false;
      return LICENCE.test(basename(file)) || !UNUSED.test(file);
    });
}
