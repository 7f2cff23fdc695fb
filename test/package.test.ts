import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  findTooLarge,
  installPackage,
  LIST_LOADED,
  listInstalled,
  listPackages,
  PACKAGE_BARS,
  type PackedPackage,
  packPackage,
} from "../scripts/package-size.ts";
import { findNodeProblem } from "../src/domain/operations/node-version.ts";

/** These tests pack the package as npm would publish it, install it in an empty folder, and use it there. */

const ROOT = join(import.meta.dirname, "..");

/** All that is loaded from other packages when the first sentence is read. */
const LOADED_TO_READ = ["chrono-node", "compromise"];

/** Parts of Node that mean a server, a client or another program. */
const NO_BUSINESS_OF_A_LIBRARY = [
  "http",
  "http2",
  "https",
  "net",
  "tls",
  "dgram",
  "child_process",
  "cluster",
  "repl",
];

const STORY = `
import { createMemory } from "keepsake";
const memory = await createMemory({ path: "./memory.db" });
const ana = memory.scope({ user: "ana" });
await ana.remember("I use Shram and Magnet as productivity tools.");
console.log((await ana.answer("What are the productivity tools that I use?")).text);
await ana.remember("I don't use Magnet anymore.");
console.log((await ana.answer("What are the productivity tools that I use?")).text);
const { complete } = await ana.forget("Magnet");
console.log(complete, (await ana.recall("Magnet")).items.length);
await memory.close();
`;

const LOG = `
import { createMemory } from "keepsake";
const memory = await createMemory({ path: ":memory:" });
const ana = memory.scope({ user: "ana" });
console.log(await ana.remember("I live in Porto."));
console.log(await ana.recall("Where do I live?", { explain: true }));
console.log(await ana.answer("Where do I live?"), await ana.list(), await ana.profile());
console.log(await ana.forget("Porto"));
await memory.close();
`;

/** Loads every vendor's package as the settings do, and prints what is said where it is not there. */
const ASK_FOR_VENDORS = `
import { loadVendorPackage, VENDOR_PACKAGES } from "./node_modules/keepsake/dist/config/vendor-packages.js";
for (const name of Object.keys(VENDOR_PACKAGES)) {
  await loadVendorPackage(name, "A_SETTING").then(
    () => console.log("there"),
    ({ code, message }) => console.log(code + ": " + message),
  );
}
`;

/** What the author of another record would write. */
const CONFORMANCE = `
import { memoryRecord } from "keepsake/adapters/memory";
import { recordConformance } from "keepsake/testing";
recordConformance({ name: "somebody else's", open: async () => memoryRecord(), lacks: ["maintenance"] });
`;

let folder: string;
let tarball: PackedPackage;
let packed: readonly string[];

function run(program: string, ...args: readonly string[]) {
  return spawnSync(program, args, { cwd: folder, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

/** The npm that runs these tests, or the machine's. */
function npm(...args: readonly string[]) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const ran = script?.endsWith(".js") && node ? run(node, script, ...args) : run("npm", ...args);
  if (ran.status !== 0) throw new Error(`npm ${args[0]} failed: ${ran.stderr}`);
  return ran.stdout;
}

const node = (...args: readonly string[]) => run(process.execPath, ...args);

/** A Node of this machine that cannot run Keepsake. */
function findOldNode(): string | undefined {
  return [process.env.KEEPSAKE_TEST_OLD_NODE ?? "", "/usr/bin/node", "/usr/local/bin/node"].find((path) => {
    const version = existsSync(path) ? run(path, "--version").stdout.trim().slice(1) : "";
    return version !== "" && findNodeProblem(version) !== undefined;
  });
}

function loadedBy(...what: readonly string[]): string[] {
  writeFileSync(join(folder, "list-loaded.mjs"), LIST_LOADED);
  const ran = node("list-loaded.mjs", ...what);
  expect(ran.stderr).toBe("");
  return JSON.parse(ran.stdout) as string[];
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-package-"));
  // dist/ is there: it was built before the tests began.
  tarball = packPackage(folder);
  packed = tarball.files.map(({ path }) => path);
  installPackage(folder, tarball.filename);
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const installed = (...path: readonly string[]): string => join(folder, "node_modules/keepsake", ...path);

describe("the packed package", () => {
  it("holds what runs, the assets and the papers, and no tests, sources or databases", () => {
    const strange = packed.filter(
      (path) =>
        !/^(dist\/.*\.(js|d\.ts|css|svg|html|sql|py)|assets\/.*|README\.md|LICENSE|NOTICE|CHANGELOG\.md|package\.json)$/.test(
          path,
        ),
    );
    expect(strange).toEqual([]);
    expect(packed.filter((path) => path.includes(".test."))).toEqual([]);
    expect(packed).toEqual(
      expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "dist/cli/main.js", "LICENSE"]),
    );
    expect(packed.filter((path) => path.startsWith("assets/")).length).toBeGreaterThan(0);
    // The worker of FAISS, and what it imports.
    const worker = ["worker", "store", "index_file", "narrowing"].map(
      (name) => `dist/adapters/faiss/${name}.py`,
    );
    expect(packed).toEqual(expect.arrayContaining(worker));
  });

  it("brings few packages with it", () => {
    expect(listInstalled(folder).length).toBeLessThanOrEqual(PACKAGE_BARS.packages);
  });

  it("stays under the bars of its size, packed and unpacked, and of its number of files", () => {
    const { size, unpackedSize, files } = tarball;
    expect(size).toBeGreaterThan(1_000_000);
    const figures = {
      packedMegabytes: size / 1e6,
      unpackedMegabytes: unpackedSize / 1e6,
      files: files.length,
    };
    expect(findTooLarge(figures)).toEqual([]);
    // A bar that lets twice the package pass sees nothing.
    const { packedMegabytes, unpackedMegabytes } = PACKAGE_BARS;
    expect([packedMegabytes < size / 5e5, unpackedMegabytes < unpackedSize / 5e5]).toEqual([true, true]);
  });

  it("has a file for everything that it exports, with types", () => {
    const { exports } = JSON.parse(readFileSync(installed("package.json"), "utf8")) as {
      exports: { [path: string]: string | { types: string; default: string } };
    };
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === "string" ? [target] : [target.types, target.default],
    );
    const missing = targets.filter((target) => !target.includes("*") && !existsSync(installed(target)));
    expect(missing).toEqual([]);
  });

  it("has nothing that publint warns of", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed(), pack: false });
    const warnings = messages.filter(({ type }) => type !== "suggestion");
    expect(warnings.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it("tells the story on one file: remembers, changes and forgets", () => {
    writeFileSync(join(folder, "story.mjs"), STORY);
    const ran = node("story.mjs");
    expect(ran.stderr).toBe("");
    expect(ran.stdout.split("\n")).toEqual(["You use Shram and Magnet.", "You use Shram.", "true 0", ""]);
  });

  it("prints values when a recall, an answer, a receipt or a list is logged", () => {
    writeFileSync(join(folder, "log.mjs"), LOG);
    const { stdout, stderr } = node("log.mjs");
    expect(stderr).toBe("");
    expect(stdout).toContain("You live in Porto.");
    expect(stdout).toMatch(/context: .*I live in Porto/);
    expect(stdout).toMatch(/quote: 'I live in Porto/);
    expect(stdout).toMatch(/tokens: \d/);
    expect(stdout).not.toMatch(/\[(Getter|Function|AsyncFunction)|Symbol\(/);
  });

  it("says on an old Node which versions run, when it is imported and when its command is called", (test) => {
    const old = findOldNode();
    test.skip(old === undefined, "this machine has no Node that is too old");
    const sentence = /[Kk]eepsake:? requires Node 22\.22\.3\+ or 24\.15\+; this is [\d.]+\./;
    for (const specifier of ["keepsake", "keepsake/adapters/sqlite"]) {
      writeFileSync(join(folder, "old.mjs"), `import * as all from "${specifier}"; console.log(all);`);
      const ran = run(old ?? "", "old.mjs");
      expect(ran.stderr).toMatch(sentence);
      expect(ran.status).toBe(1);
    }
    const command = run(old ?? "", installed("dist/cli/main.js"), "--help");
    expect(command.stderr).toMatch(sentence);
    expect(command.status).toBe(1);
  });

  it("keeps its file and the secret beside it from other people's eyes", () => {
    const modes = readdirSync(folder)
      .filter((name) => name.startsWith("memory.db"))
      .map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
    expect(modes.length).toBeGreaterThan(1);
    expect(modes.filter(([, mode]) => mode !== "600")).toEqual([]);
  });

  it("has the command that npx runs", () => {
    const help = npm("exec", "--no", "--", "keepsake", "--help");
    expect(help).toMatch(/^Usage: keepsake/);
    expect(help).toMatch(/\bremember\b[\s\S]*\brecall\b[\s\S]*\bforget\b/);
  });

  it("comes without the vendors' packages, and says which command installs the one that a setting needs", () => {
    writeFileSync(join(folder, "vendors.mjs"), ASK_FOR_VENDORS);
    const said = node("vendors.mjs").stdout.trim().split("\n");
    expect(said).toEqual(
      [
        ["pg", 8],
        ["mysql2", 3],
        ["ioredis", 6],
        ["bullmq", 6],
        ["chromadb", 3],
        ["@pinecone-database/pinecone", 9],
        ["@aws-sdk/client-kms", 3],
        ["@aws-sdk/client-s3", 3],
        ["@aws-sdk/client-s3vectors", 3],
        ["jose", 6],
        ["@modelcontextprotocol/server", 2],
      ].map(
        ([name, major]) =>
          `unsupported: A_SETTING needs the package ${name}, which is not installed: npm install ${name}@${major}`,
      ),
    );
  });

  it("runs its conformance suite for somebody else's adapter", () => {
    for (const name of ["vitest", "fast-check"]) {
      symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
    }
    writeFileSync(join(folder, "record.test.mjs"), CONFORMANCE);
    const ran = node(
      join(ROOT, "node_modules/vitest/vitest.mjs"),
      "run",
      "--root",
      folder,
      "record.test.mjs",
    );
    expect(ran.stdout).toMatch(/Tests {2}\d+ passed/);
    expect(ran.status).toBe(0);
  });
});

describe("an import", () => {
  it("an import of keepsake loads no server, no command line and no other package", () => {
    const loaded = loadedBy("keepsake");
    expect(loaded.length).toBeGreaterThan(10);
    const loadedModules = new Set(loaded.filter((url) => url.startsWith("file:"))).size;
    expect(findTooLarge({ loadedModules })).toEqual([]);
    expect(
      loaded.filter((url) => /\/keepsake\/dist\/(cli|http|ui|config|formats|testing)\//.test(url)),
    ).toEqual([]);
    expect(listPackages(loaded)).toEqual(["keepsake"]);
    const parts = loaded.filter((url) => NO_BUSINESS_OF_A_LIBRARY.includes(url.replace("node:", "")));
    expect(parts).toEqual([]);
  });

  it("and the first sentence load two packages for the language, and no more", () => {
    expect(listPackages(loadedBy("keepsake", "and read")).sort()).toEqual(
      ["keepsake", ...LOADED_TO_READ].sort(),
    );
  });

  it("of an adapter loads no other adapter", () => {
    const names = readdirSync(installed("dist/adapters")).filter((name) => name !== "shared");
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) {
      const loaded = loadedBy(`keepsake/adapters/${name}`);
      expect(loaded.some((url) => url.includes(`/dist/adapters/${name}/index.js`))).toBe(true);
      const others = loaded.filter(
        (url) => /\/dist\/adapters\/(?!shared\/)/.test(url) && !url.includes(`/adapters/${name}/`),
      );
      expect(others).toEqual([]);
    }
  });

  it("of the server's part gives a server without starting it", () => {
    const loaded = loadedBy("keepsake/http");
    expect(loaded.filter((url) => /\/keepsake\/dist\/(cli|config)\//.test(url))).toEqual([]);
  });
});
