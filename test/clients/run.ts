import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aiSdk } from "./ai-sdk-client.ts";
import { langchain } from "./langchain-client.ts";
import { openaiChat, openaiResponses } from "./openai-client.ts";
import { readingModel } from "./reading-model.ts";
import { story, type Talker } from "./story.ts";

// Each client, unmodified but for the base URL and the key, holds the story with a model that knows only what it is sent.
// `node run.ts`; with `--python PATH` also those of Python, run by the Python at that path.

const PROGRAM = join(import.meta.dirname, "../../src/cli/main.ts");
const folder = mkdtempSync(join(tmpdir(), "keepsake-clients-"));
const database = join(folder, "memory.db");
const upstream = await readingModel();

/** A key that is bound to a user, so that a client needs to say nothing of them. */
function keyOf(user: string): string {
  const printed = execFileSync(
    process.execPath,
    [PROGRAM, "keys", "create", "--only-user", user, "--db", database, "--json"],
    { encoding: "utf8" },
  );
  return (JSON.parse(printed) as { key: string }).key;
}

const server = spawn(process.execPath, [PROGRAM, "serve", "--db", database, "--port", "0", "--json"], {
  stdio: ["ignore", "pipe", "inherit"],
  env: {
    ...process.env,
    OPENAI_API_KEY: "sk-upstream",
    OPENAI_BASE_URL: upstream.url,
    KEEPSAKE_EXTRACTOR: "rules",
  },
});

async function addressOf(): Promise<string> {
  let text = "";
  for await (const part of server.stdout) {
    text += String(part);
    try {
      return `${(JSON.parse(text) as { url: string }).url}/v1`;
    } catch {
      // Not all of it is there yet.
    }
  }
  throw new Error("the server stopped before it listened");
}

const CLIENTS: readonly ((url: string, key: string) => Talker)[] = [
  openaiChat,
  openaiResponses,
  (url, key) => langchain(url, key, false),
  (url, key) => langchain(url, key, true),
  (url, key) => aiSdk(url, key, "chat"),
  (url, key) => aiSdk(url, key, "responses"),
];

let held = 0;
let failed = 0;
const tell = (name: string, problems: readonly string[]): void => {
  if (problems.length === 0) held += 1;
  else failed += 1;
  console.log(`${problems.length === 0 ? "held  " : "FAILED"}  ${name}`);
  for (const problem of problems) console.log(`        ${problem}`);
};

try {
  const url = await addressOf();
  const sent = (): string => upstream.received.at(-1)?.raw.toString("utf8") ?? "";
  for (const [i, client] of CLIENTS.entries()) {
    for (const stream of [false, true]) {
      const talker = client(url, keyOf(`client-${i}-${stream ? "streaming" : "whole"}`));
      const name = `${talker.name}${stream ? ", streaming" : ""}`;
      tell(name, await story(talker, stream, sent).catch((error: unknown) => [String(error)]));
    }
  }
  const [, , flag, python] = process.argv;
  if (flag === "--python" && python !== undefined) {
    for (const way of ["openai-chat", "openai-responses", "langchain-chat", "langchain-responses"]) {
      for (const mode of ["whole", "streaming"]) {
        const environment = {
          ...process.env,
          OPENAI_BASE_URL: url,
          OPENAI_API_KEY: keyOf(`python-${way}-${mode}`),
        };
        const ran = await new Promise<{ status: number | null; said: string }>((resolve) => {
          const child = spawn(python, [join(import.meta.dirname, "story.py"), way, mode], {
            env: environment,
          });
          let said = "";
          for (const stream of [child.stdout, child.stderr])
            stream.on("data", (part) => (said += String(part)));
          child.on("close", (status) => resolve({ status, said }));
        });
        const forgotten = sent().includes("Magnet")
          ? ["after the forgetting the model was still sent it"]
          : [];
        tell(
          `Python: ${way}, ${mode}`,
          ran.status === 0 ? forgotten : [ran.said.trim().split("\n").slice(-2).join(" ")],
        );
      }
    }
  }
} finally {
  server.kill();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${held} held, ${failed} failed`);
process.exitCode = failed === 0 && held > 0 ? 0 : 1;
