import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenaiServer } from "../../src/testing/openai/openai-server.ts";
import { plainModel, toolModel } from "./example-models.ts";
import { type FrameworkCheck, showStory } from "./framework-check.ts";

const ROOT = join(import.meta.dirname, "../..");
const PRINTS = "# Prints, with a model that says little:\n";

/** An example in Python: its row of the table, its program, and the model behind it. */
interface PythonExample {
  readonly row: string;
  readonly path: string;
  /** Whether its packages do not go together with those of the other clients: it has a Python of its own. */
  readonly isApart: boolean;
  model(): Promise<OpenaiServer>;
}

const EXAMPLES: readonly PythonExample[] = [
  // Its package for OpenAI asks for an earlier version of OpenAI's own.
  { row: "LlamaIndex", path: "examples/llama-index/agent.py", isApart: true, model: plainModel },
  { row: "Pydantic AI", path: "examples/pydantic-ai/agent.py", isApart: false, model: toolModel },
];

/** Where the examples run. */
interface ExampleSetting {
  readonly python: string;
  /** The Python for examples that are apart. Without it they do not run. */
  readonly pythonApart: string | undefined;
  /** The address of the server, without a path. */
  readonly url: string;
  /** Makes a key for one user. */
  keyOf(user: string): string;
}

/** The examples of frameworks in Python: each program runs as it stands, on the real server. */
export const pythonExampleChecks = (setting: ExampleSetting): readonly FrameworkCheck[] =>
  EXAMPLES.flatMap((example) => {
    const python = example.isApart ? setting.pythonApart : setting.python;
    if (python === undefined) return [];
    return {
      name: `Python: ${example.path}`,
      shows: showStory(example.row, true),
      run: () => checkExample(example, python, setting),
    };
  });

async function checkExample(
  example: PythonExample,
  python: string,
  { url, keyOf }: ExampleSetting,
): Promise<string[]> {
  const file = join(ROOT, example.path);
  const [, lines = ""] = readFileSync(file, "utf8").split(PRINTS);
  const user = example.path.replaceAll(/\W/g, "-");
  await using model = await example.model();
  const { status, printed, failed } = await runPython(python, file, {
    KEEPSAKE_URL: url,
    KEEPSAKE_API_KEY: keyOf(user),
    KEEPSAKE_USER: user,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "sk-upstream",
  });
  if (status !== 0) return [failed.trim().split("\n").slice(-3).join(" ")];
  const sent = model.received.map(({ raw }) => raw.toString("utf8"));
  return [
    ...(lines !== "" && printed === lines.replaceAll(/^# /gm, "")
      ? []
      : [`it printed ${JSON.stringify(printed)}`]),
    ...(model.received.some(({ body }) => body.stream === true) ? [] : ["nothing was streamed"]),
    ...(sent.some((one) => one.includes("Magnet")) ? [] : ["the model was never given the memory"]),
    ...(sent.at(-1)?.includes("Magnet")
      ? ["after the erasure the model was still sent what was erased"]
      : []),
  ];
}

async function runPython(
  python: string,
  file: string,
  variables: { readonly [name: string]: string },
): Promise<{ readonly status: number | null; readonly printed: string; readonly failed: string }> {
  const child = spawn(python, [file], { env: { ...process.env, ...variables } });
  let [printed, failed] = ["", ""];
  child.stdout.on("data", (part) => (printed += String(part)));
  child.stderr.on("data", (part) => (failed += String(part)));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, printed, failed };
}
