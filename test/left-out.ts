import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** What the suites read that need a server; `test/services/up` sets all of them. */
const SERVERS: readonly string[] = [
  "KEEPSAKE_TEST_POSTGRES",
  "KEEPSAKE_TEST_MARIADB",
  "KEEPSAKE_TEST_REDIS",
  "KEEPSAKE_TEST_CHROMA",
  "KEEPSAKE_TEST_FAISS",
  "KEEPSAKE_TEST_S3_VECTORS",
];

/** The coordinator of a Citus cluster, which `test/services/up` does not start. CONTRIBUTING.md says what it needs. */
const CITUS = "KEEPSAKE_TEST_CITUS";

/** Programs that some tests start. */
const PROGRAMS: readonly string[] = ["nginx", "strace"];

/** Whether a program is on the PATH. */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** What to say of tests that were left out for want of a server; nothing where there are none, or all servers are there. */
export function leftOutLine(
  count: number,
  environment: { readonly [name: string]: string | undefined },
  uninstalled: readonly string[] = [],
): string | undefined {
  const unset = [...SERVERS, CITUS].filter((name) => !environment[name]).map((name) => `${name} not set`);
  const missing = [...unset, ...uninstalled.map((program) => `${program} not installed`)];
  if (count === 0 || missing.length === 0) return undefined;
  const howTo = missing.some((line) => !line.startsWith(CITUS))
    ? 'To run them too: eval "$(test/services/up)" && npm run test:services'
    : "CONTRIBUTING.md says what they need.";
  return `${count} tests were left out, for want of servers (${missing.join(", ")}). ${howTo}`;
}

/** Says at the end what was left out, and how it is run. */
export function leftOut(): Reporter {
  return {
    onTestRunEnd(modules) {
      const line = leftOutLine(
        modules.reduce((sum, module) => sum + skippedIn(module), 0),
        process.env,
        PROGRAMS.filter((program) => !isInstalled(program)),
      );
      if (line !== undefined) process.stdout.write(`\n${line}\n`);
    },
  };
}

function skippedIn(module: TestModule): number {
  return [...module.children.allTests("skipped")].length;
}
