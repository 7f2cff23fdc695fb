import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { CampaignProgram } from "../../test/campaign/programs.ts";
import { assertHolds, type CiContext, type CiStep, nodeStep } from "./steps.ts";

const KEEPSAKE = ["npm", "run", "-s", "keepsake", "--"];

/** The command line as people in a checkout call it: stdout holds one JSON document and nothing else. */
export const commandLine: CiStep = {
  name: "command line",
  async run({ reports, read }) {
    const at = ["--db", join(reports, "ci.db"), "--json"];
    JSON.parse(await read([...KEEPSAKE, "remember", "I use Shram and Magnet as productivity tools.", ...at]));
    const answer = await read([...KEEPSAKE, "answer", "What are the productivity tools that I use?", ...at]);
    JSON.parse(await read([...KEEPSAKE, "doctor", ...at]));
    const { text } = JSON.parse(answer) as { readonly text: string };
    assertHolds(text === "You use Shram and Magnet.", `The answer is: ${text}`);
  },
};

/** A conversation imported twice: the second time adds nothing. */
export const importTwice: CiStep = {
  name: "import, twice",
  async run({ reports, read, print }) {
    const at = ["--user", "demo", "--db", join(reports, "import.db"), "--json"];
    const file = "bench/quality/small/locomo/locomo.json";
    const stored: number[] = [];
    for (const _time of ["first", "second"]) {
      const output = await read([...KEEPSAKE, "import", file, "--format", "locomo", ...at]);
      stored.push((JSON.parse(output) as { readonly stored: number }).stored);
    }
    JSON.parse(await read([...KEEPSAKE, "list", ...at]));
    print(`stored ${stored[0]}, then ${stored[1]}`);
    assertHolds((stored[0] ?? 0) > 0 && stored[1] === 0, "The second import must store nothing.");
  },
};

/** `npm start` gives a server in good health. */
export const serverStart: CiStep = {
  name: "server",
  async run({ reports, exec }) {
    const port = await freePort();
    const stop = new AbortController();
    const key = { KEEPSAKE_API_KEY: "a-key-for-this-run-only-0123456789" };
    const database = join(reports, "server.db");
    const ended = exec(["npm", "start", "--", "--port", `${port}`, "--db", database], {
      env: key,
      signal: stop.signal,
    });
    try {
      await Promise.race([healthy(`http://127.0.0.1:${port}/api/v1/health`), ended]);
    } finally {
      stop.abort();
      await ended.catch(() => undefined);
    }
  },
};

async function healthy(url: string): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await wait(200);
  }
  throw new Error("The server did not answer in good health within 30 s.");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** What the proxy adds to the first byte is at most so many times what the request takes without it, or 20 ms. */
const MOST_TIMES_DIRECT = 15;

/**
 * How much later the first byte of a chat comes through the proxy than without it. The bar is loose: 5 ms is the bar of a quiet
 * machine.
 */
export const firstByte: CiStep = {
  name: "first byte through the proxy",
  async run({ read, print }) {
    const output = await read(["node", "bench/proxy/first-byte.ts", "--turns", "100", "--json"], {
      isQuiet: true,
    });
    const { first_byte_ms: ms } = JSON.parse(output) as {
      readonly first_byte_ms: { readonly [name in "later" | "direct" | "proxied"]: { readonly p50: number } };
    };
    print(
      `first byte p50: ${ms.direct.p50} ms directly, ${ms.proxied.p50} ms proxied, ${ms.later.p50} ms later`,
    );
    // On a machine where a request to a server that answers at once takes 5 ms, everything that passes between processes is slower.
    assertHolds(ms.later.p50 <= Math.max(20, MOST_TIMES_DIRECT * ms.direct.p50), "The proxy is slow.");
  },
};

/** Loose bars, for a machine that does other work: they see a line that turned into a curve. */
export const speed: CiStep = {
  name: "speed",
  async run({ read, print }) {
    const output = await read([
      "node",
      "bench/speed/main.ts",
      "--users",
      "1",
      "--per-user",
      "3000",
      "--calls",
    ]);
    const { recall, remember } = JSON.parse(output) as {
      readonly recall: { readonly hot: { readonly p50: number } };
      readonly remember: { readonly p50: number };
    };
    print(`recall p50 ${recall.hot.p50} ms, remember p50 ${remember.p50} ms`);
    assertHolds(recall.hot.p50 <= 20 && remember.p50 <= 40, "A bar of speed is not met.");
  },
};

/** A program of the reliability campaign in the size that a pull request can wait for; `npm run campaign` runs the full size. */
export function campaignStep({ test, file, args }: CampaignProgram): CiStep {
  return nodeStep(`${test}: ${basename(file)} ${args.ci.join(" ")}`.trim(), file, ...args.ci);
}

/** Unmodified clients hold the story through the server. They are too large to be dependencies of the project. */
export const clients: CiStep = {
  name: "clients",
  async run({ reports, exec }) {
    const [python, apart] = [join(reports, "clients"), join(reports, "clients-apart")];
    const npm = [
      "--prefix",
      "test/clients",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ];
    await exec(["npm", "ci", ...npm]);
    await exec(["tsc", "-p", "test/clients"]);
    // Packages that do not go together have a Python of their own.
    for (const [folder, file] of [
      [python, "requirements.txt"],
      [apart, "requirements-apart.txt"],
    ] as const) {
      await exec(["python3", "-m", "venv", folder]);
      const pip = [join(folder, "bin/pip"), "install", "--quiet", "--disable-pip-version-check"];
      await exec([...pip, "-r", `test/clients/${file}`, "./clients/python"]);
    }
    await exec([join(python, "bin/mypy"), "--strict", "clients/python/src", "clients/python/tests"]);
    const pythons = ["--python", join(python, "bin/python"), "--python-apart", join(apart, "bin/python")];
    await exec(["node", "test/clients/run.ts", ...pythons]);
    await exec(["node", "test/clients/python-versions.ts"]);
  },
};

/** A command of tests, with a second reporter that counts. */
export function testStep(command: string, report: string): CiStep {
  return {
    name: `npm run ${command}`,
    run: ({ exec }) =>
      exec([
        "npm",
        "run",
        command,
        "--",
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
      ]),
  };
}

/** The table of suites by adapter in the documentation is of today's adapters, and every suite passed. */
export function suitesStep(reports: readonly string[], absent: readonly string[]): CiStep {
  return {
    name: "suite by adapter: the table is of today's adapters",
    run: ({ exec }: CiContext) =>
      exec([
        "node",
        "scripts/suites.ts",
        ...reports,
        "--check",
        ...absent.flatMap((name) => ["--absent", name]),
      ]),
  };
}

/** Every test that the page on coverage names ran and passed. `absent` are folders of suites whose packages are not here. */
export function coverageStep(reports: readonly string[], absent: readonly string[]): CiStep {
  return {
    name: "coverage: every test that is named ran and passed",
    run: ({ exec }: CiContext) =>
      exec(["node", "scripts/coverage.ts", ...reports, ...absent.flatMap((folder) => ["--absent", folder])]),
  };
}

export interface TestCount {
  readonly passed: number;
  /** Failed tests, skipped tests, and files that could not be run. */
  readonly failed: number;
  /** File and title of each failed test, and each file that could not be run. */
  readonly failures: readonly string[];
}

/** Vitest's JSON report, as far as it is read here. */
interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/**
 * Counts the tests of a report. A skipped test counts as failed, except in files whose path holds `absent`: their model is not
 * installed. A report that is missing counts as one failure.
 */
export async function countTests(path: string, absent: readonly string[]): Promise<TestCount> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1, failures: [`no report: ${path}`] };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text) as TestReport;
  const isSkipped = ({ status }: { readonly status: string }): boolean =>
    status !== "passed" && status !== "failed";
  const skipped = testResults
    .filter(({ name }) => !absent.some((folder) => name.replaceAll("\\", "/").includes(folder)))
    .flatMap(({ assertionResults }) => assertionResults.filter(isSkipped)).length;
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  if (skipped > 0) console.error(`${skipped} tests were skipped`);
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName }) => `${basename(name)}: ${fullName}`),
  );
  return {
    passed: numPassedTests,
    failed: numFailedTests + skipped + broken.length,
    failures: [...failures, ...broken.map(({ name }) => `${basename(name)}: not run`)],
  };
}
