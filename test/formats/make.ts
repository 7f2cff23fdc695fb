import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { type FileFormat, FORMATS } from "./formats.ts";

/**
 * Makes the files of a format by the code of its own commit: checks it out beside this checkout, installs what it depends on,
 * and has it tell the story of `story.ts`. The secret is made for the file alone and protects nothing.
 */
function makeFormat({ name, commit, version }: FileFormat): void {
  if (commit === undefined) {
    process.stdout.write(`${name}: the commit that made it is not in the history\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "keepsake-format-"));
  const checkout = join(folder, "checkout");
  const git = (...words: string[]) => execFileSync("git", words, { cwd: import.meta.dirname, stdio: "pipe" });
  try {
    git("worktree", "add", "--detach", checkout, commit);
    execFileSync("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: checkout,
    });
    const story = join(import.meta.dirname, "story.ts");
    execFileSync(process.execPath, ["--no-warnings", story, checkout, folder], { stdio: "inherit" });
    const path = join(folder, "story");
    settle(path, version);
    const put = (end: string, bytes: Buffer) =>
      writeFileSync(join(import.meta.dirname, `${name}${end}`), bytes);
    // Shorter blocks pack what alternates between text and vectors better.
    put(".db.gz", gzipSync(readFileSync(path), { level: 9, memLevel: 5 }));
    put(".secret", readFileSync(`${path}.secret`));
    put(".json.gz", gzipSync(readFileSync(`${path}.json`), { level: 9 }));
    if (existsSync(`${path}.erasures`)) put(".erasures", readFileSync(`${path}.erasures`));
    process.stdout.write(`${name}, made at ${commit}\n`);
  } finally {
    if (existsSync(checkout)) git("worktree", "remove", "--force", checkout);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One file without a log, of the version that it must have. */
function settle(path: string, version: number): void {
  const handle = new DatabaseSync(path);
  handle.exec("PRAGMA journal_mode = DELETE");
  const found = handle.prepare("PRAGMA user_version").get()?.user_version;
  handle.close();
  if (found !== version) throw new Error(`the file is of version ${found}, not ${version}`);
}

if (import.meta.main) {
  // `node test/formats/make.ts NAME…`: makes the files of these formats anew, or of all.
  const names = process.argv.slice(2);
  for (const format of FORMATS) if (names.length === 0 || names.includes(format.name)) makeFormat(format);
}
