import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { aiSdk, aiSdkReferences } from "./ai-sdk-client.ts";
import { anthropicMessages } from "./anthropic-client.ts";
import { type FrameworkCheck, type ShownProofs, showStory } from "./framework-check.ts";
import { findRowsWithoutProofs, gatherProofs, writeFrameworkTables } from "./framework-table.ts";
import { FRAMEWORK_CHECKS } from "./frameworks.ts";
import { langchain } from "./langchain-client.ts";
import { openaiChat, openaiResponses } from "./openai-client.ts";
import {
  agentsConversations,
  conversationsApart,
  openaiReferences,
  openaiStored,
  referencesApart,
} from "./openai-conversations.ts";
import { pythonExampleChecks } from "./python-examples.ts";
import { readingClaude, readingModel } from "./reading-model.ts";
import { story, type Talker } from "./story.ts";

// Each client, unmodified but for the base URL and the key, holds the story with a model that knows only what it is sent.
// `node run.ts`; with `--python PATH` also those of Python, run by the Python at that path, and with `--python-apart PATH` those
// whose packages do not go together with the others'. What the checks of frameworks showed
// must be what docs/frameworks.md says of them; with `--write` it is written there.

const { values: options } = parseArgs({
  options: {
    python: { type: "string" },
    "python-apart": { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const PROGRAM = join(import.meta.dirname, "../../src/cli/main.ts");
const PAGE = join(import.meta.dirname, "../../docs/frameworks.md");
const folder = mkdtempSync(join(tmpdir(), "keepsake-clients-"));
const database = join(folder, "memory.db");
const upstream = await readingModel();
const claude = await readingClaude();

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
    ANTHROPIC_API_KEY: "sk-ant-upstream",
    ANTHROPIC_BASE_URL: claude.url,
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

/** Clients by the address that ends with the version. */
const CLIENTS: readonly ((url: string, key: string) => Talker)[] = [
  openaiChat,
  openaiResponses,
  (url, key) => openaiStored(url, key, "conversation"),
  (url, key) => openaiStored(url, key, "chain"),
  openaiReferences,
  agentsConversations,
  (url, key) => langchain(url, key, false),
  (url, key) => langchain(url, key, true),
  (url, key) => aiSdk(url, key, "chat"),
  (url, key) => aiSdk(url, key, "responses"),
  // These clients add the version themselves.
  (url, key) => anthropicMessages(new URL(url).origin, key),
];

/** Runs the tests of our own client, which that Python has installed, with a key that reaches every user of a project. */
async function testPythonClient(python: string, url: string): Promise<readonly string[]> {
  const printed = execFileSync(process.execPath, [PROGRAM, "keys", "create", "--db", database, "--json"], {
    encoding: "utf8",
  });
  const environment = {
    ...process.env,
    KEEPSAKE_TEST_URL: new URL(url).origin,
    KEEPSAKE_TEST_KEY: (JSON.parse(printed) as { key: string }).key,
  };
  const tests = join(import.meta.dirname, "../../clients/python/tests");
  const child = spawn(python, ["-m", "pytest", "-q", "-p", "no:cacheprovider", tests], { env: environment });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += String(part)));
  const status = await new Promise((resolve) => child.on("close", resolve));
  return status === 0 ? [] : said.trim().split("\n");
}

let held = 0;
let failed = 0;
const tell = (name: string, problems: readonly string[]): void => {
  if (problems.length === 0) held += 1;
  else failed += 1;
  console.log(`${problems.length === 0 ? "held  " : "FAILED"}  ${name}`);
  for (const problem of problems) console.log(`        ${problem}`);
};

const shown: ShownProofs[] = [];
async function runChecks(checks: readonly FrameworkCheck[]): Promise<void> {
  for (const { name, shows, run } of checks) {
    const problems = await run().catch((error: unknown) => [String(error)]);
    tell(name, problems);
    if (shows && problems.length === 0) shown.push(shows);
  }
}

/** The tables of the page, beside what was shown. A framework of Python keeps its row where no Python was given. */
function checkPage(): readonly string[] {
  const page = readFileSync(PAGE, "utf8");
  const proofs = gatherProofs(shown);
  const written = writeFrameworkTables(page, proofs);
  if (options.write) writeFileSync(PAGE, written);
  const missing = options["python-apart"] === undefined ? [] : findRowsWithoutProofs(proofs);
  return [
    ...(options.write || page === written ? [] : ["it says something else: run this program with --write"]),
    ...missing.map((row) => `no check that held shows anything of ${row}`),
  ];
}

try {
  const url = await addressOf();
  const sentTo = (server: typeof upstream | typeof claude) => (): string =>
    server.received.at(-1)?.raw.toString("utf8") ?? "";
  for (const [i, client] of CLIENTS.entries()) {
    for (const stream of [false, true]) {
      const talker = client(url, keyOf(`client-${i}-${stream ? "streaming" : "whole"}`));
      const name = `${talker.name}${stream ? ", streaming" : ""}`;
      const sent = sentTo(client === CLIENTS.at(-1) ? claude : upstream);
      tell(name, await story(talker, stream, sent).catch((error: unknown) => [String(error)]));
    }
  }
  tell(
    "OpenAI Agents SDK, OpenAIConversationsSession: two conversations",
    await conversationsApart(url, keyOf("conversations"), sentTo(upstream)).catch((error: unknown) => [
      String(error),
    ]),
  );
  tell(
    "openai (Node): references to items that are there, erased, another user's, and named twice",
    await referencesApart(url, { ana: keyOf("referring"), bo: keyOf("another") }, sentTo(upstream)).catch(
      (error: unknown) => [String(error)],
    ),
  );
  tell(
    "AI SDK, responses: three turns by references",
    await aiSdkReferences(url, keyOf("ai-sdk-referring"), sentTo(upstream)).catch((error: unknown) => [
      String(error),
    ]),
  );
  await runChecks(FRAMEWORK_CHECKS);
  const { python } = options;
  if (python !== undefined) {
    const ways = [
      ...["openai-chat", "openai-responses", "openai-conversation", "openai-chain", "openai-agents"],
      ...["langchain-chat", "langchain-responses", "anthropic"],
    ];
    for (const way of ways) {
      for (const mode of ["whole", "streaming"]) {
        const key = keyOf(`python-${way}-${mode}`);
        const environment = {
          ...process.env,
          OPENAI_BASE_URL: url,
          OPENAI_API_KEY: key,
          ANTHROPIC_BASE_URL: new URL(url).origin,
          ANTHROPIC_API_KEY: key,
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
        const forgotten = sentTo(way === "anthropic" ? claude : upstream)().includes("Magnet")
          ? ["after the forgetting the model was still sent it"]
          : [];
        tell(
          `Python: ${way}, ${mode}`,
          ran.status === 0 ? forgotten : [ran.said.trim().split("\n").slice(-2).join(" ")],
        );
      }
    }
    const agentsChecks = {
      name: "Python: keepsake-client",
      shows: showStory("OpenAI Agents SDK for Python", true),
      run: () => testPythonClient(python, url),
    };
    const pythonApart = options["python-apart"];
    const examples = pythonExampleChecks({ python, pythonApart, url: new URL(url).origin, keyOf });
    await runChecks([agentsChecks, ...examples]);
  }
  tell("docs/frameworks.md: the tables say what was shown", checkPage());
} finally {
  server.kill();
  await upstream.close();
  await claude.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${held} held, ${failed} failed`);
process.exitCode = failed === 0 && held > 0 ? 0 : 1;
