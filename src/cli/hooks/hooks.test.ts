import { describe, expect, it } from "vitest";
import { formatHookOutput, HOOK_CLIENTS, HOOK_EVENTS, parseHookEvent } from "./hook-events.ts";
import { dropHooks, formatShellCommand, putHooks } from "./hook-files.ts";

describe("an event", () => {
  it("has a session of at most 512 bytes, without half a character", () => {
    const long = `${"x".repeat(159)}\u{1f9ed}${"\u6f22".repeat(200)}`;
    const { session = "" } = parseHookEvent("codex", "SessionStart", { session_id: long }) ?? {};
    expect(Buffer.byteLength(session)).toBeLessThanOrEqual(512);
    expect(session.isWellFormed()).toBe(true);
    const wide = parseHookEvent("codex", "SessionStart", { session_id: "\u6f22".repeat(200) });
    expect(Buffer.byteLength(wide?.session ?? "")).toBeLessThanOrEqual(512);
  });

  it.each([
    [
      "claude-code",
      "SessionStart",
      { session_id: "s", source: "startup" },
      { kind: "start", text: "", session: "s" },
    ],
    [
      "claude-code",
      "UserPromptSubmit",
      { session_id: "s", prompt: "Hi" },
      { kind: "prompt", text: "Hi", session: "s" },
    ],
    [
      "codex",
      "Stop",
      { session_id: "s", last_assistant_message: "Done" },
      { kind: "reply", text: "Done", session: "s" },
    ],
    [
      "cursor",
      "beforeSubmitPrompt",
      { conversation_id: "c", prompt: "Hi" },
      { kind: "prompt", text: "Hi", session: "c" },
    ],
    [
      "cursor",
      "afterAgentResponse",
      { conversation_id: "c", text: "Done" },
      { kind: "reply", text: "Done", session: "c" },
    ],
    [
      "claude-code",
      "SessionStart",
      { session_id: "s", cwd: "/home/ana/larder/" },
      { kind: "start", text: "", session: "s", folder: "larder" },
    ],
    [
      "codex",
      "SessionStart",
      { cwd: "C:\\Users\\ana\\larder" },
      { kind: "start", text: "", folder: "larder" },
    ],
    [
      "cursor",
      "sessionStart",
      { conversation_id: "c", workspace_roots: ["/home/ana/larder", "/home/ana/other"] },
      { kind: "start", text: "", session: "c", folder: "larder" },
    ],
    [
      "claude-code",
      "UserPromptSubmit",
      { session_id: "s", prompt: "Hi", cwd: "/home/ana/larder" },
      { kind: "prompt", text: "Hi", session: "s" },
    ],
  ] as const)("of %s, %s, is read", (client, event, input, expected) => {
    expect(parseHookEvent(client, event, input)).toEqual(expected);
  });

  it.each([
    ["of another name", "PreToolUse", { prompt: "x" }],
    ["of an object's own name", "constructor", { prompt: "x" }],
    ["without words", "UserPromptSubmit", { prompt: " " }],
    ["with words of another type", "Stop", { last_assistant_message: 7 }],
    ["that is no object", "UserPromptSubmit", "x"],
    ["that is null", "SessionStart", null],
  ])("%s is left out", (_what, event, input) => {
    expect(parseHookEvent("claude-code", event, input)).toBeUndefined();
  });

  it("with a very long text is cut, and stays well-formed", () => {
    const { text = "" } =
      parseHookEvent("codex", "UserPromptSubmit", { prompt: `${"x".repeat(99_999)}😀` }) ?? {};
    expect([text.length, text.isWellFormed()]).toEqual([100_000, true]);
  });
});

describe("the output", () => {
  it("is JSON that the client adds to the context, and nothing where it would be misread", () => {
    expect(JSON.parse(formatHookOutput("claude-code", "UserPromptSubmit", "known"))).toEqual({
      hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "known" },
    });
    expect(JSON.parse(formatHookOutput("cursor", "sessionStart", "known"))).toEqual({
      additional_context: "known",
    });
    expect(formatHookOutput("cursor", "beforeSubmitPrompt", "known")).toBe("");
    expect(formatHookOutput("codex", "Stop", "")).toBe("");
  });
});

const toCommand = (client: string) => (event: string) =>
  `node main.js hook ${event} --client ${client} --db /m.db`;

describe.each(HOOK_CLIENTS)("the hooks of %s", (client) => {
  it("are put into a new file, which is gone after the removal", () => {
    const text = putHooks(client, undefined, toCommand(client));
    const { hooks } = JSON.parse(text);
    expect(Object.keys(hooks)).toEqual(Object.keys(HOOK_EVENTS[client]));
    expect(dropHooks(client, text)).toBeUndefined();
  });

  it.each([
    '{\n  "version": 1,\n  "hooks": {}\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "type": "command", "command": "say done" }] }\n    ],\n    "stop": []\n  },\n  "x": 1\n}\n',
    '{\n\t// mine\n\t"model": "opus", // best\n}\n',
    '{"hooks":{"SessionStart":[{"command":"mine"}],"sessionStart":[{"command":"mine"}]}}',
  ])("keep every byte of %j, are put once, and leave it as it was", (before) => {
    const after = putHooks(client, before, toCommand(client));
    expect(putHooks(client, after, toCommand(client))).toBe(after);
    expect(after).not.toBe(before);
    expect(dropHooks(client, after)).toBe(before);
    expect(dropHooks(client, before)).toBe(before);
  });

  it("are changed in place when the database is another", () => {
    const first = putHooks(client, undefined, toCommand(client));
    const second = putHooks(client, first, (event) => toCommand(client)(event).replace("/m.db", "/other.db"));
    expect(second.split("/other.db").length - 1).toBe(3);
    expect(second).not.toContain("/m.db");
  });
});

it("a command is quoted for its shell", () => {
  expect(formatShellCommand(["/a b/node", "it's", "--db", "/m.db"], "linux")).toBe(
    "'/a b/node' 'it'\\''s' --db /m.db",
  );
  expect(formatShellCommand(["C:\\a b\\node", "hook"], "win32")).toBe('"C:\\a b\\node" hook');
});
