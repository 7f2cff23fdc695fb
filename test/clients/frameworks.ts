import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { examplesOf } from "../examples.ts";
import { aiSdkMiddlewareChecks } from "./ai-sdk-middleware.ts";
import { aiSdkToolsChecks } from "./ai-sdk-tools.ts";
import type { FrameworkCheck } from "./framework-check.ts";
import { julepChecks } from "./julep-chat.ts";
import { julepServer } from "./julep-server.ts";
import { langChainChecks } from "./langchain-memory.ts";
import { langGraphGraphChecks } from "./langgraph-graph.ts";
import { langGraphStoreChecks } from "./langgraph-store.ts";
import { libreChatChecks } from "./librechat-config.ts";
import { mastraChecks } from "./mastra-processor.ts";
import { mcpChecks } from "./mcp/conformance.ts";
import { mcpClientChecks } from "./mcp/real-clients.ts";
import { bundleChecks } from "./mcp-bundle.ts";
import { openaiAgentsChecks } from "./openai-agents-session.ts";
import { readingModel } from "./reading-model.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = "docs/frameworks.md";
const JULEP_EXAMPLE = "examples/julep/chat.mjs";
const PACKAGES = ["@ai-sdk", "@julep", "@langchain", "@mastra", "@openai", "ai"];

/** Runs a program with the package as it is built, and with the real frameworks. Gives what it printed. */
async function runProgram(code: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-frameworks-"));
  await using upstream = await readingModel();
  await using julep = await julepServer({ url: upstream.url, apiKey: "sk-upstream" });
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
      JULEP_API_KEY: "julep-key",
      JULEP_BASE_URL: julep.url,
    };
    const { stdout } = await promisify(execFile)(process.execPath, ["program.mjs"], {
      cwd: folder,
      env: { ...process.env, PATH: dirname(process.execPath), ...environment },
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function programCheck(name: string, code: string, output: string): FrameworkCheck {
  return {
    name,
    async run() {
      const printed = await runProgram(code);
      return printed === output ? [] : [`it printed ${JSON.stringify(printed)}`];
    },
  };
}

/** The programs of the page on frameworks. */
const pageChecks = examplesOf(PAGE, readFileSync(join(ROOT, PAGE), "utf8"))
  .filter(({ language }) => language === "js")
  .map(({ line, code, output }) => programCheck(`${PAGE}:${line}`, code, output ?? "All right.\n"));

function julepExampleCheck(): FrameworkCheck {
  const [code = "", lines = ""] = readFileSync(join(ROOT, JULEP_EXAMPLE), "utf8").split(
    "// Prints, with a model that always says the same:\n",
  );
  return programCheck(JULEP_EXAMPLE, code, lines.replaceAll(/^\/\/ /gm, ""));
}

/** The adapters for frameworks, each with the real package. `node frameworks.ts` runs them alone. */
export const FRAMEWORK_CHECKS: readonly FrameworkCheck[] = [
  ...aiSdkMiddlewareChecks,
  ...aiSdkToolsChecks,
  ...langChainChecks,
  ...langGraphStoreChecks,
  ...langGraphGraphChecks,
  ...mastraChecks,
  ...julepChecks,
  ...bundleChecks,
  ...mcpChecks,
  ...mcpClientChecks,
  ...openaiAgentsChecks,
  ...pageChecks,
  julepExampleCheck(),
  ...libreChatChecks,
];

if (import.meta.main) {
  for (const { name, run } of FRAMEWORK_CHECKS) {
    const problems = await run().catch((error: unknown) => [String(error)]);
    console.log([`${problems.length === 0 ? "held  " : "FAILED"}  ${name}`, ...problems].join("\n        "));
    if (problems.length > 0) process.exitCode = 1;
  }
}
