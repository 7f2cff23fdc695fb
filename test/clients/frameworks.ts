import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { examplesOf } from "../examples.ts";
import { aiSdkMiddlewareChecks } from "./ai-sdk-middleware.ts";
import { aiSdkToolsChecks } from "./ai-sdk-tools.ts";
import type { FrameworkCheck } from "./framework-check.ts";
import { langChainChecks } from "./langchain-memory.ts";
import { langGraphChecks } from "./langgraph-store.ts";
import { mastraChecks } from "./mastra-processor.ts";
import { bundleChecks } from "./mcp-bundle.ts";
import { mcpChecks } from "./mcp-conformance.ts";
import { openaiAgentsChecks } from "./openai-agents-session.ts";
import { readingModel } from "./reading-model.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "docs/frameworks.md";
const PACKAGES = ["@ai-sdk", "@langchain", "@mastra", "@openai", "ai"];

/** The programs of the page on frameworks, run with the package as it is built, and with the real frameworks. */
const pageChecks = examplesOf(PAGE, readFileSync(join(ROOT, PAGE), "utf8"))
  .filter(({ language }) => language === "js")
  .map(({ line, code, output }): FrameworkCheck => {
    return {
      name: `${PAGE}:${line}`,
      async run() {
        const folder = mkdtempSync(join(tmpdir(), "keepsake-frameworks-"));
        const upstream = await readingModel();
        try {
          mkdirSync(join(folder, "node_modules"));
          symlinkSync(ROOT, join(folder, "node_modules/keepsake"));
          for (const name of PACKAGES)
            symlinkSync(join(import.meta.dirname, "node_modules", name), join(folder, "node_modules", name));
          writeFileSync(join(folder, "program.mjs"), code);
          const environment = {
            OPENAI_API_KEY: "sk-upstream",
            OPENAI_BASE_URL: upstream.url,
            OPENAI_AGENTS_DISABLE_TRACING: "1",
            MASTRA_TELEMETRY_DISABLED: "1",
          };
          const { stdout } = await promisify(execFile)(process.execPath, ["program.mjs"], {
            cwd: folder,
            env: { ...process.env, PATH: dirname(process.execPath), ...environment },
          });
          return stdout === (output ?? "All right.\n") ? [] : [`it printed ${JSON.stringify(stdout)}`];
        } finally {
          await upstream.close();
          rmSync(folder, { recursive: true, force: true });
        }
      },
    };
  });

/** The adapters for frameworks, each with the real package. `node frameworks.ts` runs them alone. */
export const FRAMEWORK_CHECKS: readonly FrameworkCheck[] = [
  ...aiSdkMiddlewareChecks,
  ...aiSdkToolsChecks,
  ...langChainChecks,
  ...langGraphChecks,
  ...mastraChecks,
  ...bundleChecks,
  ...mcpChecks,
  ...openaiAgentsChecks,
  ...pageChecks,
];

if (import.meta.main) {
  for (const { name, run } of FRAMEWORK_CHECKS) {
    const problems = await run().catch((error: unknown) => [String(error)]);
    console.log([`${problems.length === 0 ? "held  " : "FAILED"}  ${name}`, ...problems].join("\n        "));
    if (problems.length > 0) process.exitCode = 1;
  }
}
