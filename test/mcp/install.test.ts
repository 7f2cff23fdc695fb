import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
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

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "keepsake-home-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function run(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
  const db = words[1] === "install" ? ["--db", join(home, "memory.db")] : [];
  const args = [MAIN, ...words, ...db];
  return spawnSync(process.execPath, args, { cwd: home, env, encoding: "utf8" });
}

/** The file of each client on Linux, and something that stands in it already. */
const FILES: readonly (readonly [client: string, file: string, content: string])[] = [
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

it.skipIf(process.platform !== "linux").each(FILES)(
  "the file of %s gets the command with all else as it was, and is as before after the removal",
  (client, path, before) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    expect(run("mcp", "install", client, "--dry-run")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Would change [\s\S]*\+ .*keepsake/),
    });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(run("mcp", "install", client)).toMatchObject({ status: 0 });
    const after = readFileSync(file, "utf8");
    expect(after).toContain(join(home, "memory.db"));
    expect(run("mcp", "install", client)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("stays as it is"),
    });
    expect(readFileSync(file, "utf8")).toBe(after);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(run("mcp", "uninstall", client)).toMatchObject({ status: 0 });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(run("mcp", "uninstall", client)).toMatchObject({ status: 3 });
  },
);

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
