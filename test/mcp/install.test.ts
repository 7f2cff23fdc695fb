import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "dist/cli/main.js");
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "keepsake-home-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function run(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return runProgram(MAIN, ...words);
}

function runProgram(main: string, ...words: readonly string[]): ReturnType<typeof run> {
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
  const db = words[1] === "install" ? ["--db", join(home, "memory.db")] : [];
  return spawnSync(process.execPath, [main, ...words, ...db], { cwd: home, env, encoding: "utf8" });
}

/** The file of each client on Linux, and something that stands in it already. */
const MCP_FILES: readonly (readonly [client: string, file: string, content: string])[] = [
  ["claude-code", ".claude.json", '{\n  "numStartups": 7,\n  "mcpServers": {}\n}'],
  ["claude-desktop", ".config/Claude/claude_desktop_config.json", '{"mcpServers":{"x":{"command":"y"}}}\n'],
  [
    "cursor",
    ".cursor/mcp.json",
    '{\r\n  "mcpServers": {\r\n    "x": { "url": "https://x.example" }\r\n  }\r\n}\r\n',
  ],
  [
    "vscode",
    ".config/Code/User/mcp.json",
    '{\n\t// mine\n\t"servers": {\n\t\t"x": { "command": "y" },\n\t},\n\t"inputs": []\n}\n',
  ],
  ["codex", ".codex/config.toml", 'model = "o9" # mine\n\n[mcp_servers.x]\ncommand = "y"'],
  ["gemini", ".gemini/settings.json", '{\n    "theme": "dark"\n}\n'],
];

const HOOK_FILES: readonly (readonly [client: string, file: string, content: string])[] = [
  [
    "claude-code",
    ".claude/settings.json",
    '{\n  "model": "opus", // best\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "type": "command", "command": "say done" }] }\n    ]\n  }\n}\n',
  ],
  [
    "codex",
    ".codex/hooks.json",
    '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"date"}]}]}}',
  ],
  ["cursor", ".cursor/hooks.json", '{\r\n  "version": 1,\r\n  "hooks": {}\r\n}\r\n'],
];

const FILES = [
  ...MCP_FILES.map((file) => ["mcp", ...file] as const),
  ...HOOK_FILES.map((file) => ["hooks", ...file] as const),
];

it.skipIf(process.platform !== "linux").each(FILES)(
  "%s install puts the command into the file of %s with all else as it was, and its removal leaves it as before",
  (kind, client, path, before) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    expect(run(kind, "install", client, "--dry-run")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Would change [\s\S]*\+ .*memory\.db/),
    });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(run(kind, "install", client)).toMatchObject({ status: 0 });
    const after = readFileSync(file, "utf8");
    expect(after.split(join(home, "memory.db")).length - 1).toBe(kind === "hooks" ? 3 : 1);
    expect(run(kind, "install", client)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("stays as it is"),
    });
    expect(readFileSync(file, "utf8")).toBe(after);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(run(kind, "uninstall", client)).toMatchObject({ status: 0 });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(run(kind, "uninstall", client)).toMatchObject({ status: 3 });
  },
);

it.skipIf(process.platform !== "linux")(
  "a hook that is written runs in a shell and keeps the prompt",
  async () => {
    expect(run("hooks", "install", "claude-code").status).toBe(0);
    const { hooks } = JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8"));
    const [{ command }] = hooks.UserPromptSubmit[0].hooks;
    const input = JSON.stringify({ session_id: "s1", prompt: "I live in Porto." });
    // Clients run it with any PATH.
    const env = { PATH: "/nowhere", HOME: home };
    const ran = spawnSync("/bin/sh", ["-c", command], { input, env, encoding: "utf8" });
    expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, "", ""]);
    const folder = join(home, ".keepsake/hooks");
    const readLog = (): string =>
      readFileSync(join(folder, readdirSync(folder)[0] ?? "", "hooks.log"), "utf8");
    await expect.poll(readLog, { timeout: 50_000 }).toContain('"stored":"user"');
    process.kill(Number(/"pid":(\d+)/.exec(readLog())?.[1]), "SIGKILL");
  },
);

it("hooks are refused under npx, with what to do instead, and nothing is written", () => {
  const installed = join(home, "_npx/0a1b/node_modules/keepsake");
  for (const name of ["dist", "package.json"])
    cpSync(join(ROOT, name), join(installed, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(installed, "node_modules"));
  const { status, stderr } = runProgram(
    join(installed, "dist/cli/main.js"),
    "hooks",
    "install",
    "claude-code",
  );
  expect([status, stderr]).toEqual([1, expect.stringContaining("npm install -g keepsake")]);
  expect(existsSync(join(home, ".claude/settings.json"))).toBe(false);
});

it("an entry keepsake that somebody else has written is refused, and replaced or taken out with --force", () => {
  const file = join(home, ".claude.json");
  const before = '{\n  "mcpServers": {\n    "keepsake": { "url": "https://x.example/mcp" }\n  }\n}\n';
  writeFileSync(file, before);
  for (const command of ["install", "uninstall"]) {
    const { status, stderr } = run("mcp", command, "claude-code");
    expect([status, stderr]).toEqual([1, expect.stringMatching(/\.claude\.json: .*--force/)]);
    expect(readFileSync(file, "utf8")).toBe(before);
  }
  expect(run("mcp", "install", "claude-code", "--force").status).toBe(0);
  expect(readFileSync(file, "utf8")).not.toContain("x.example");
  writeFileSync(file, before);
  expect(run("mcp", "uninstall", "claude-code", "--force").status).toBe(0);
  expect(existsSync(file) && readFileSync(file, "utf8").includes("keepsake")).toBe(false);
});

it.skipIf(process.platform !== "linux")(
  "a file that was not there is gone after the removal, and a link stays a link",
  () => {
    expect(run("mcp", "install", "gemini").status).toBe(0);
    expect(statSync(join(home, ".gemini/settings.json")).mode & 0o777).toBe(0o600);
    expect(run("mcp", "uninstall", "gemini").status).toBe(0);
    expect(existsSync(join(home, ".gemini/settings.json"))).toBe(false);

    writeFileSync(join(home, "dotfile"), "{}\n");
    symlinkSync("dotfile", join(home, ".claude.json"));
    expect(run("mcp", "install", "claude-code").status).toBe(0);
    expect(lstatSync(join(home, ".claude.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(home, "dotfile"), "utf8")).toContain("keepsake");
  },
);

it("a file that is not valid is refused with its place, and not touched", () => {
  writeFileSync(join(home, ".claude.json"), '{\n  "mcpServers": {\n');
  const refused = run("mcp", "install", "claude-code");
  expect([refused.status, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/\.claude\.json: it is not valid JSON, at line 3/),
  ]);
  expect(readFileSync(join(home, ".claude.json"), "utf8")).toBe('{\n  "mcpServers": {\n');
});

it("a database that is a server is not written into a file, because of its password", () => {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    MEMORY_DB_URL: "postgresql://ana:secret@db.example/x",
    KEEPSAKE_SECRET: "a long secret of this test",
  };
  const { status, stderr } = spawnSync(process.execPath, [MAIN, "mcp", "install", "cursor"], {
    env,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining("keepsake serve")]);
  expect(stderr).not.toMatch(/secret@|of this test/);
  expect(existsSync(join(home, ".cursor/mcp.json"))).toBe(false);
});

it("the command that is written starts a server that answers", async () => {
  expect(run("mcp", "install", "claude-code").status).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(home, ".claude.json"), "utf8"));
  const { command, args } = mcpServers.keepsake;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore", cwd: tmpdir() }));
  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  await client.close();
});
