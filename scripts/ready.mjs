// Makes a checkout ready to run: installs what package-lock.json names, and compiles src/ into dist/. npm runs it
// before start, test, keepsake, eval, bench and pack. It must run on the machine's own Node (20 and newer), so it is
// plain JavaScript without dependencies; what comes after it in the npm script runs on the Node in node_modules.
// It speaks only when it has something to do, and only on stderr: stdout belongs to the command that follows.
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const MODULES = join(ROOT, "node_modules");
const DIST = join(ROOT, "dist");
// Not inside node_modules: `npm ci` empties that folder.
const LOCK = join(ROOT, "dist.lock");
const INSTALLED = join(MODULES, ".keepsake-installed");
const BUILT = join(MODULES, ".keepsake-built");
const LONGEST_WAIT_MS = 10 * 60 * 1000;

/** What stands in a small file, or "" where there is none. */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
    throw error;
  }
}

const lockHash = () =>
  createHash("sha256")
    .update(read(join(ROOT, "package-lock.json")))
    .digest("hex");

/** Files under src/ that go into dist/: compiled, or copied where they are not TypeScript. */
function sources() {
  return readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** Changes whenever a file that goes into dist/ does. Times and sizes, not contents: it runs before every command. */
function sourceHash() {
  const hash = createHash("sha256").update(lockHash());
  for (const file of ["tsconfig.json", "tsconfig.build.json", "scripts/ready.mjs", ...sources()]) {
    const { mtimeMs, size } = statSync(join(ROOT, file));
    hash.update(`${file}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest("hex");
}

const isInstalled = () => read(INSTALLED) === lockHash();
const isBuilt = () => existsSync(DIST) && read(BUILT) === sourceHash();

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Takes the lock if it is free or its holder is dead; false where somebody has it. */
function takeLock() {
  // A link appears with its content, so nobody ever reads a lock without a holder.
  const mine = `${LOCK}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, LOCK);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    const holder = read(LOCK);
    if (holder !== "" && !isAlive(Number(holder))) dropDeadLock(holder);
    return false;
  } finally {
    unlinkSync(mine);
  }
}

function dropDeadLock(holder) {
  const dead = `${LOCK}.dead.${process.pid}`;
  try {
    renameSync(LOCK, dead);
    // Somebody else may have dropped it and taken it anew between our look and our move: theirs goes back.
    if (read(dead) !== holder) linkSync(dead, LOCK);
    unlinkSync(dead);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
}

async function withLock(work) {
  const since = Date.now();
  while (!takeLock()) {
    if (Date.now() - since > LONGEST_WAIT_MS) {
      throw new Error(`Another set-up has been at work for ten minutes. If there is none, delete ${LOCK}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  try {
    await work();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

/** Runs a program with its output on stderr; gives its exit status. */
async function run(program, args) {
  const { spawnSync } = await import("node:child_process");
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (error) throw error;
  return status ?? 1;
}

/** The npm that runs us, on the Node that runs it: ours may lie in the folder that is about to be replaced. */
function npm(args) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  if (script?.endsWith("js") && node && existsSync(node)) return run(node, [script, ...args]);
  return run("npm", args);
}

async function install() {
  // npm writes this file last, so without it the folder is missing or half there.
  const isWhole = existsSync(join(MODULES, ".package-lock.json"));
  console.error(isWhole ? "Updating node_modules…" : "Installing what package-lock.json names…");
  // `--include=dev`: the compiler and the pinned Node are needed even where NODE_ENV says production.
  const how = isWhole ? ["install", "--no-save"] : ["ci"];
  const status = await npm([...how, "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (status !== 0)
    throw new Error('npm could not install the packages; what it said stands above. Try "npm ci".');
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isOld = major < 24 || (major === 24 && minor < 15);
  if (isOld && !existsSync(join(MODULES, ".bin", "node"))) {
    throw new Error(
      'The package "node" could not put its binary in place. Try "npm rebuild node --ignore-scripts=false".',
    );
  }
  writeFileSync(INSTALLED, lockHash());
}

async function build() {
  const hash = sourceHash();
  console.error("Compiling src/ into dist/…");
  const fresh = `${DIST}.new`;
  const old = `${DIST}.old`;
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(fresh);
  const compiler = join(MODULES, "typescript", "bin", "tsc");
  const status = await run(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", fresh]);
  if (readdirSync(fresh).length === 0)
    throw new Error("The compiler wrote nothing; what it said stands above.");
  // A .wat is the source of a .wasm that stands in the code, a .md a map for who reads it; fixtures are for tests alone.
  for (const file of sources().filter((file) => !/\.(ts|wat|md)$|__fixtures__/.test(file))) {
    cpSync(join(ROOT, file), join(fresh, relative("src", file)));
  }
  const program = join(fresh, "cli", "main.js");
  if (existsSync(program)) chmodSync(program, 0o755);
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(fresh, DIST);
  rmSync(old, { recursive: true, force: true });
  // Types that do not fit are for `npm run types` to refuse. What was written runs; it is written anew next time.
  if (status === 0) writeFileSync(BUILT, hash);
  else console.error("Compiled in spite of the errors above.");
}

if (!isInstalled() || !isBuilt()) {
  try {
    await withLock(async () => {
      if (!isInstalled()) await install();
      if (!isBuilt()) await build();
    });
  } catch (error) {
    console.error(`keepsake is not ready: ${error.message}`);
    process.exitCode = 1;
  }
}
