/**
 * Runs the tests of the Python client against a real server on each Python that it supports, and builds its wheel:
 *
 *     node test/clients/python-versions.ts [--only 3.12] [--every]
 *
 * Prints a table, the wheel's size and its dependencies, and compares them with docs/python.md. A version that is not on this
 * machine is named, and fails the run with `--every`. Ends with 0 where all tests passed and the page is right, 1 otherwise.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
const PROGRAM = join(ROOT, "src/cli/main.ts");
const CLIENT = join(ROOT, "clients/python");
const PAGE = join(ROOT, "docs/python.md");
const VERSIONS = ["3.10", "3.11", "3.12", "3.13"];
const QUIET = ["--quiet", "--disable-pip-version-check"];
/** Prints the dependencies in the metadata of a wheel, one a line. */
const LIST_REQUIREMENTS = `
import email, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(one for one in wheel.namelist() if one.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
print("\\n".join([metadata["Requires-Python"], *(metadata.get_all("Requires-Dist") or [])]))
`;

const run = promisify(execFile);

/** What the client came to on one version of Python. */
interface VersionOutcome {
  readonly version: string;
  /** The exact version; absent if there is none on this machine. */
  readonly exact?: string;
  readonly passed: number;
  readonly seconds: number;
  /** Why it has failed. */
  readonly problem?: string;
}

interface BuiltWheel {
  readonly bytes: number;
  readonly python: string;
  readonly requirements: readonly string[];
}

/** Finds a Python by its version: on the PATH, or among those of pyenv. */
function findPython(version: string): { readonly path: string; readonly exact: string } | undefined {
  const folder = join(process.env.PYENV_ROOT ?? join(homedir(), ".pyenv"), "versions");
  const installed = existsSync(folder) ? readdirSync(folder) : [];
  const ofPyenv = installed
    .filter((name) => name.startsWith(`${version}.`))
    .map((name) => join(folder, name, "bin/python"));
  for (const path of [...ofPyenv, `python${version}`]) {
    try {
      const printed = execFileSync(path, ["--version"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
      const exact = printed.replace("Python ", "").trim();
      if (exact.startsWith(`${version}.`)) return { path, exact };
    } catch {
      // It is not there, or is a shim of a version that is not chosen.
    }
  }
  return undefined;
}

/** The pinned requirement of a package that the clients' tests use. */
function requirementOf(name: string): string {
  const lines = readFileSync(join(import.meta.dirname, "requirements.txt"), "utf8").split("\n");
  const line = lines.find((one) => one.startsWith(`${name}==`));
  if (line === undefined) throw new Error(`requirements.txt does not pin ${name}.`);
  return line;
}

/** Copies the client, so that a build leaves nothing in the checkout. */
function copyClient(folder: string): string {
  const copy = join(folder, "client");
  if (!existsSync(copy))
    cpSync(CLIENT, copy, {
      recursive: true,
      filter: (path) => !/(?:egg-info|__pycache__|[/\\]build)$/.test(path),
    });
  return copy;
}

async function testOn(
  version: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<VersionOutcome> {
  const python = findPython(version);
  if (!python) return { version, passed: 0, seconds: 0 };
  const begun = performance.now();
  const home = join(folder, `venv-${version}`);
  const own = join(home, "bin/python");
  try {
    await run(python.path, ["-m", "venv", home]);
    const packages = [requirementOf("pytest"), requirementOf("openai-agents")];
    await run(own, ["-m", "pip", "install", ...QUIET, ...packages, copyClient(folder)]);
    const tests = join(CLIENT, "tests");
    const { stdout } = await run(own, ["-m", "pytest", "-q", "-p", "no:cacheprovider", tests], {
      env: { ...environment, PYTHONDONTWRITEBYTECODE: "1" },
    });
    const passed = Number(/(\d+) passed/.exec(stdout)?.[1] ?? 0);
    const seconds = (performance.now() - begun) / 1000;
    const problem = passed > 0 ? {} : { problem: "no test ran" };
    return { version, exact: python.exact, passed, seconds, ...problem };
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    const problem = (stdout || stderr || String(error)).trim().split("\n").slice(-4).join(" ");
    const seconds = (performance.now() - begun) / 1000;
    return { version, exact: python.exact, passed: 0, seconds, problem };
  }
}

async function buildWheel(folder: string, version: string): Promise<BuiltWheel> {
  const python = join(folder, `venv-${version}`, "bin/python");
  const wheels = join(folder, "wheels");
  await run(python, ["-m", "pip", "wheel", ...QUIET, "--no-deps", "--wheel-dir", wheels, copyClient(folder)]);
  const [name] = readdirSync(wheels).filter((one) => one.endsWith(".whl"));
  if (name === undefined) throw new Error("pip built no wheel.");
  const path = join(wheels, name);
  const { stdout } = await run(python, ["-c", LIST_REQUIREMENTS, path]);
  const [required = "", ...requirements] = stdout.trim().split("\n");
  return { bytes: statSync(path).size, python: required, requirements };
}

/** The page's size of the wheel may differ by less than this. */
const WHEEL_TOLERANCE_KB = 2;

/** What the page says otherwise than it is. */
function comparePage(wheel: BuiltWheel, outcomes: readonly VersionOutcome[]): string[] {
  const page = readFileSync(PAGE, "utf8");
  // Compression differs a little from one Python to another.
  const claimedSize = Number(/The wheel has (\d+) KB/.exec(page)?.[1]);
  const isSize = Math.abs(claimedSize - wheel.bytes / 1000) < WHEEL_TOLERANCE_KB;
  const size = isSize
    ? `The wheel has ${claimedSize} KB`
    : `The wheel has ${Math.round(wheel.bytes / 1000)} KB`;
  const [least = "", ...others] = [wheel.python.replace(">=", ""), ...wheel.requirements];
  const names = others.map((one) => /^[\w.-]+/.exec(one)?.[0] ?? one);
  const needs = `It needs Python ${least} or newer and one package, ${names.join(" and ")}`;
  const claimed: readonly string[] =
    /have passed on Python ([\d., and]+\d)/.exec(page)?.[1]?.match(/3\.\d+/g) ?? [];
  const failed = outcomes.filter(({ exact, problem }) => exact !== undefined && problem !== undefined);
  const passed = outcomes.filter(({ exact, problem }) => exact !== undefined && problem === undefined);
  return [
    ...[size, needs].filter((sentence) => !page.includes(sentence)).map((one) => `it lacks "${one}"`),
    ...failed
      .filter(({ version }) => claimed.includes(version))
      .map(({ version }) => `it says that the tests have passed on Python ${version}`),
    ...passed
      .filter(({ version }) => !claimed.includes(version))
      .map(({ version }) => `it does not say that the tests have passed on Python ${version}`),
  ];
}

async function startServer(
  folder: string,
): Promise<{ readonly environment: NodeJS.ProcessEnv; stop(): Promise<void> }> {
  const database = join(folder, "memory.db");
  const server = spawn(process.execPath, [PROGRAM, "serve", "--db", database, "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, KEEPSAKE_EXTRACTOR: "rules" },
  });
  let printed = "";
  for await (const part of server.stdout) {
    printed += String(part);
    if (printed.includes("\n")) break;
  }
  const made = execFileSync(process.execPath, [PROGRAM, "keys", "create", "--db", database, "--json"], {
    encoding: "utf8",
  });
  const environment = {
    ...process.env,
    KEEPSAKE_TEST_URL: (JSON.parse(printed) as { url: string }).url,
    KEEPSAKE_TEST_KEY: (JSON.parse(made) as { key: string }).key,
  };
  const stop = async (): Promise<void> => {
    const ended = once(server, "exit");
    if (server.kill()) await ended;
  };
  return { environment, stop };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, every: { type: "boolean", default: false } },
  });
  const versions = values.only === undefined ? VERSIONS : values.only.split(",");
  const folder = mkdtempSync(join(tmpdir(), "keepsake-python-"));
  const { environment, stop } = await startServer(folder);
  try {
    const outcomes: VersionOutcome[] = [];
    console.log("| Python | Tests passed | Seconds |\n|---|---|---|");
    for (const version of versions) {
      const outcome = await testOn(version, folder, environment);
      outcomes.push(outcome);
      const { exact, passed, seconds, problem } = outcome;
      const result = exact === undefined ? "not on this machine" : (problem ?? `${passed}`);
      console.log(`| ${exact ?? version} | ${result} | ${Math.round(seconds)} |`);
    }
    const built = outcomes.find(({ exact, problem }) => exact !== undefined && problem === undefined);
    if (!values.every && outcomes.every(({ exact }) => exact === undefined)) {
      console.log("None of these is on this machine: nothing was tested.");
      return 0;
    }
    if (!built) throw new Error("The client could be tested on no Python of this machine.");
    const wheel = await buildWheel(folder, built.version);
    console.log(`\nWheel: ${(wheel.bytes / 1000).toFixed(1)} KB, Requires-Python: ${wheel.python}`);
    for (const one of wheel.requirements) console.log(`Requires-Dist: ${one}`);
    const wrong = comparePage(wheel, outcomes);
    for (const one of wrong) console.log(`docs/python.md is wrong: ${one}.`);
    const isMissing = values.every && outcomes.some(({ exact }) => exact === undefined);
    const isFailed = outcomes.some(({ problem }) => problem !== undefined);
    return wrong.length > 0 || isMissing || isFailed ? 1 : 0;
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();
