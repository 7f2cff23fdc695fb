import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  dropClientEntry,
  findClientFile,
  type HomePlaces,
  MCP_CLIENTS,
  type McpClientName,
  putClientEntry,
} from "./clients.ts";

const COMMAND = { command: "npx", args: ["-y", "keepsake", "mcp", "--db", "/home/ana/my memory.db"] };
const OTHER = { command: "node", args: ["main.js", "mcp", "--db", "/m.db"] };
const JSON_CLIENTS = MCP_CLIENTS.filter((name) => name !== "codex");
const containerOf = (name: McpClientName): string => (name === "vscode" ? "servers" : "mcpServers");
const put = (name: McpClientName, text: string | undefined): string => putClientEntry(name, text, COMMAND);

/** Files as people have them, by what is special in them. `SERVERS` stands for the name of the container. */
const JSON_FILES: readonly (readonly [string, string])[] = [
  ["nothing but an object", "{}"],
  ["an empty object with white space", "{\n}\n"],
  ["other settings", '{\n  "theme": "dark",\n  "list": [1, 2]\n}\n'],
  ["an empty container", '{\n  "SERVERS": {}\n}\n'],
  ["an empty container with white space", '{\n  "SERVERS": {\n  }\n}\n'],
  ["another server", '{\n  "SERVERS": {\n    "other": { "command": "x" }\n  },\n  "theme": "dark"\n}\n'],
  ["tabs and no last line end", '{\n\t"SERVERS": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}'],
  ["lines that end with CR LF", '{\r\n  "SERVERS": {\r\n    "other": { "command": "x" }\r\n  }\r\n}\r\n'],
  ["all on one line", '{"SERVERS":{"other":{"command":"x"}},"theme":"dark"}'],
  ["a mark of the byte order", '\ufeff{\n  "theme": "dark"\n}\n'],
  [
    "comments and trailing commas",
    '// mine\n{\n  /* of all */ "SERVERS": {\n    // the other one\n    "other": { "command": "x" }, // why not\n    /* "old": {} */\n  }, // end\n}\n',
  ],
  [
    "a comment after the last member",
    '{\n  "SERVERS": {\n    "other": { "command": "x" } // why not\n  }\n}\n',
  ],
  [
    "brackets in strings",
    '{\n  "a": "}{ // no comment \\" ,",\n  "SERVERS": { "b": { "args": ["]", "{"] } }\n}\n',
  ],
];

describe.each(JSON_CLIENTS)("the file of %s", (name) => {
  const own = (text: string): string => text.replaceAll("SERVERS", containerOf(name));

  it("is made with the entry alone, and is gone after the removal", () => {
    const text = put(name, undefined);
    expect(JSON.parse(text)).toEqual({ [containerOf(name)]: { keepsake: expect.objectContaining(COMMAND) } });
    expect(text.endsWith("}\n")).toBe(true);
    expect(dropClientEntry(name, text)).toBeUndefined();
  });

  it.each(JSON_FILES)(
    "with %s keeps every byte, gets the entry once, and is as before after the removal",
    (_what, file) => {
      const before = own(file);
      const after = put(name, before);
      expect(after).not.toBe(before);
      expect(put(name, after)).toBe(after);
      expect(dropClientEntry(name, after)).toBe(before);
      // What was there stands there still, in its order.
      const added = after.length - before.length;
      const start = [...before].findIndex((_sign, i) => before[i] !== after[i]);
      expect(added).toBeGreaterThan(40);
      expect(after.startsWith(before.slice(0, start))).toBe(true);
    },
  );

  it("has its entry changed in place", () => {
    const before = own(
      '{\n  "SERVERS": {\n    "a": {},\n    "keepsake": { "args": ["old.js", "mcp", "--db", "/m.db"] },\n    "b": {}\n  }\n}\n',
    );
    const after = putClientEntry(name, before, OTHER);
    const { keepsake, ...others } = JSON.parse(after)[containerOf(name)];
    expect(keepsake).toMatchObject(OTHER);
    expect(Object.keys(others)).toEqual(["a", "b"]);
    expect(dropClientEntry(name, after)).toBe(own('{\n  "SERVERS": {\n    "a": {},\n    "b": {}\n  }\n}\n'));
  });

  it.each([
    "",
    " \n",
    "{",
    '{ "a": }',
    '{ "a": 1 "b": 2 }',
    "[]",
    "nonsense",
    '{"SERVERS": []}',
    '{"a": 1} x',
    '{"a": 01}',
    "{,}",
    "/* {}",
  ])("is refused if it is %j", (text) => {
    expect(() => put(name, own(text))).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  it("keeps an entry of the same name that is not ours, unless that is forced", () => {
    const before = own('{\n  "SERVERS": {\n    "keepsake": { "url": "https://x.example/mcp" }\n  }\n}\n');
    const refusal = expect.objectContaining({ code: "conflict" });
    expect(() => put(name, before)).toThrow(refusal);
    expect(() => dropClientEntry(name, before)).toThrow(refusal);
    const after = putClientEntry(name, before, COMMAND, { force: true });
    expect(JSON.parse(after)[containerOf(name)].keepsake).toMatchObject(COMMAND);
    expect(dropClientEntry(name, before, { force: true })).toBeUndefined();
  });

  it("without the entry is not changed by a removal", () => {
    for (const [, file] of JSON_FILES) expect(dropClientEntry(name, own(file))).toBe(own(file));
  });
});

it("any JSON file, however it is laid out, is as before after an entry was put in and taken out", () => {
  const value = fc
    .jsonValue({ maxDepth: 3 })
    // JSON has no -0.
    .map((one): unknown => JSON.parse(JSON.stringify(one)))
    .filter((one) => typeof one === "object" && one !== null && !Array.isArray(one));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, 2, 4, "\t"), fc.boolean(), (content, indent, hasServers) => {
      const settings = { ...(content as object), mcpServers: hasServers ? { other: content } : undefined };
      const before = JSON.stringify(settings, undefined, indent);
      const after = put("cursor", before);
      expect(JSON.parse(after)).toEqual({
        ...JSON.parse(before),
        mcpServers: { ...(hasServers ? { other: content } : {}), keepsake: COMMAND },
      });
      expect(dropClientEntry("cursor", after)).toBe(before);
    }),
    { numRuns: 300 },
  );
});

const TOML_FILES: readonly (readonly [string, string])[] = [
  ["nothing in it", ""],
  ["other settings", 'model = "o9" # mine\n\n[features]\nhooks = true\n'],
  ["no last line end", '[mcp_servers.other]\ncommand = "x"'],
  ["blank lines at the end", 'model = "o9"\n\n\n'],
  ["lines that end with CR LF", '[mcp_servers.other]\r\ncommand = "x"\r\n'],
  ["long strings", 'notes = """\n[mcp_servers.keepsake]\n"""\npath = \'C:\\x\'\n'],
  ["values on many lines", 'args = [ # all\n  "a",\n  { b = "]" },\n]\n[[profiles]]\nname = "x"\n'],
];

describe("the file of codex", () => {
  it("is made with the table alone, and is gone after the removal", () => {
    const text = put("codex", undefined);
    expect(text).toBe(
      '[mcp_servers.keepsake]\ncommand = "npx"\nargs = ["-y", "keepsake", "mcp", "--db", "/home/ana/my memory.db"]\n',
    );
    expect(dropClientEntry("codex", text)).toBeUndefined();
  });

  it.each(TOML_FILES)(
    "with %s keeps every byte, gets the table once, and is as before after the removal",
    (_what, before) => {
      const after = put("codex", before);
      expect(after.startsWith(before)).toBe(true);
      expect(put("codex", after)).toBe(after);
      expect(dropClientEntry("codex", after)).toBe(before);
      expect(dropClientEntry("codex", before)).toBe(before);
    },
  );

  it("keeps a table of the same name that is not ours, unless that is forced", () => {
    const before = '[mcp_servers.keepsake]\nurl = "https://x.example/mcp"\n\n[other]\nb = 2\n';
    const refusal = expect.objectContaining({ code: "conflict" });
    expect(() => put("codex", before)).toThrow(refusal);
    expect(() => dropClientEntry("codex", before)).toThrow(refusal);
    expect(putClientEntry("codex", before, COMMAND, { force: true })).toContain("my memory.db");
    expect(dropClientEntry("codex", before, { force: true })).toBe("\n[other]\nb = 2\n");
  });

  it("loses the table with its sub-tables, and keeps what stands after it", () => {
    const text = `${put("codex", 'model = "o9"\n')}\n[mcp_servers.keepsake.env]\nA = "1"\n\n[other]\nb = 2\n`;
    expect(dropClientEntry("codex", text)).toBe('model = "o9"\n\n[other]\nb = 2\n');
    const changed = putClientEntry("codex", put("codex", 'model = "o9"\n'), OTHER);
    expect(changed).toBe(
      'model = "o9"\n\n[mcp_servers.keepsake]\ncommand = "node"\nargs = ["main.js", "mcp", "--db", "/m.db"]\n',
    );
  });

  it.each([
    "model =",
    'model = "o9',
    "[mcp_servers",
    "args = [1, 2",
    "just words",
    'a = "x" b = 2',
    "a = 1 b = 2",
    "a = [1}",
    'mcp_servers = { other = { command = "x" } }',
    "[mcp_servers]\nkeepsake = { command = 'x' }",
    "mcp_servers.keepsake.command = 'x'",
  ])("is refused if it is %j", (text) => {
    expect(() => put("codex", text)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });
});

it.each<[McpClientName, HomePlaces, string]>([
  ["claude-code", { platform: "linux", home: "/home/ana" }, "/home/ana/.claude.json"],
  [
    "claude-desktop",
    { platform: "darwin", home: "/Users/ana" },
    "/Users/ana/Library/Application Support/Claude/claude_desktop_config.json",
  ],
  [
    "claude-desktop",
    { platform: "win32", home: "C:", config: "C:/Roaming" },
    "C:/Roaming/Claude/claude_desktop_config.json",
  ],
  [
    "claude-desktop",
    { platform: "linux", home: "/home/ana" },
    "/home/ana/.config/Claude/claude_desktop_config.json",
  ],
  ["cursor", { platform: "linux", home: "/home/ana" }, "/home/ana/.cursor/mcp.json"],
  ["vscode", { platform: "linux", home: "/home/ana", config: "/cfg" }, "/cfg/Code/User/mcp.json"],
  ["codex", { platform: "linux", home: "/home/ana" }, "/home/ana/.codex/config.toml"],
  ["codex", { platform: "linux", home: "/home/ana", codex: "/codex" }, "/codex/config.toml"],
  ["gemini", { platform: "linux", home: "/home/ana" }, "/home/ana/.gemini/settings.json"],
])("the file of %s with %j is %s", (name, places, file) => {
  expect(findClientFile(name, places)?.join("/")).toBe(file);
});
