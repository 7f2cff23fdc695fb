import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
let folder: string;

/** A project of one source file, in which everything is installed and nothing is compiled. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-ready-"));
  for (const name of ["scripts", "src", "node_modules"]) mkdirSync(join(folder, name));
  for (const name of ["scripts/ready.mjs", "tsconfig.json", "tsconfig.build.json"]) {
    copyFileSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(join(ROOT, "node_modules/typescript"), join(folder, "node_modules/typescript"));
  symlinkSync(join(ROOT, "node_modules/@types"), join(folder, "node_modules/@types"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "package-lock.json"), "{}");
  const installed = createHash("sha256").update("{}").digest("hex");
  writeFileSync(join(folder, "node_modules/.keepsake-installed"), installed);
  writeFileSync(join(folder, "src/index.ts"), "export const one: number = 1;\n");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ready = () => spawnSync(process.execPath, [join(folder, "scripts/ready.mjs")], { encoding: "utf8" });
const dist = (file: string): string => join(folder, "dist", file);

it("compiles what is not compiled, and says so on stderr only", () => {
  const { status, stdout, stderr } = ready();
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: "",
    stderr: "Compiling src/ into dist/…\n",
  });
  expect(readFileSync(dist("index.js"), "utf8")).toContain("export const one = 1");
});

it("does nothing and says nothing when nothing has changed", () => {
  ready();
  const long = new Date("2001-01-01");
  utimesSync(dist("index.js"), long, long);
  expect(ready().stderr).toBe("");
  expect(readFileSync(dist("index.js"), "utf8")).toContain("one");
});

it("compiles anew when a file was changed, and drops what its source no longer gives", () => {
  writeFileSync(join(folder, "src/old.ts"), "export const old: number = 1;\n");
  ready();
  rmSync(join(folder, "src/old.ts"));
  writeFileSync(join(folder, "src/index.ts"), "export const two: number = 2;\n");
  ready();
  expect(readFileSync(dist("index.js"), "utf8")).toContain("two");
  expect(existsSync(dist("old.js"))).toBe(false);
});

it("copies what is not TypeScript, and leaves tests out", () => {
  writeFileSync(join(folder, "src/page.css"), "p { color: red }");
  writeFileSync(join(folder, "src/index.test.ts"), "export const test: number = 1;\n");
  ready();
  expect(readdirSync(join(folder, "dist")).sort()).toEqual(["index.d.ts", "index.js", "page.css"]);
});

it("compiles in spite of a type that does not fit, shows it, and tries again next time", () => {
  writeFileSync(join(folder, "src/index.ts"), 'export const one: number = "1";\n');
  expect(ready().stderr).toContain("error TS2322");
  expect(ready().stderr).toContain("error TS2322");
  expect(readFileSync(dist("index.js"), "utf8")).toContain('one = "1"');
});

it("lets two at once compile one after the other, and the second finds the work done", async () => {
  const both = [1, 2].map(() => spawn(process.execPath, [join(folder, "scripts/ready.mjs")]));
  const said = await Promise.all(both.map(outputOf));
  expect(said.sort()).toEqual(["", "Compiling src/ into dist/…\n"]);
  expect(readdirSync(folder).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
});

it("takes the lock of a process that has died", () => {
  const dead = execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }).trim();
  writeFileSync(join(folder, "dist.lock"), dead);
  expect(ready().status).toBe(0);
  expect(existsSync(dist("index.js"))).toBe(true);
  expect(existsSync(join(folder, "dist.lock"))).toBe(false);
});

async function outputOf(child: ChildProcess): Promise<string> {
  let text = "";
  child.stderr?.on("data", (part: Buffer) => {
    text += part.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}
