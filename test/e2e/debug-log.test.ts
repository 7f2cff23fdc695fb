import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const KEY = "k".repeat(24);
const USER = "anastasia.quill@example.org";
/** Said in every way; each is a word that nothing else contains. */
const SAID = ["Zanzibarquux", "Vellichor", "Sassafras", "Quetzalbird", "Brobdingnag"];
const [BOAT = "", CITY = "", PLANT = "", BIRD = "", GIANT = ""] = SAID;

let folder: string;
let server: ChildProcess | undefined;
let printed = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-debug-"));
  printed = "";
});
afterEach(() => {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

async function start(form: string): Promise<string> {
  server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--db", join(folder, "memory.db")], {
    env: { PATH: process.env.PATH, KEEPSAKE_API_KEY: KEY, LOG_LEVEL: "DEBUG", KEEPSAKE_LOG: form },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  await expect.poll(() => printed, { timeout: 30_000 }).toMatch(/listens on http:\S+,/);
  return /listens on (http:\S+),/.exec(printed)?.[1] ?? "";
}

it.each(["text", "json"])(
  "logs each step with LOG_LEVEL=DEBUG as %s, and no word, user or session of anybody",
  {
    timeout: 120_000,
  },
  async (form) => {
    const url = await start(form);
    const statuses: number[] = [];
    const call = async (method: string, path: string, body?: object, key = KEY): Promise<string> => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      statuses.push(response.status);
      return response.text();
    };
    const user = encodeURIComponent(USER);
    const session_id = `session-of-${GIANT}`;
    await call("POST", "/api/v1/conversation", {
      user_id: USER,
      message: `My boat is called ${BOAT}.`,
      session_id,
    });
    await call("POST", "/message", { userId: USER, message: `I live in ${CITY}.` });
    await call("POST", "/api/v1/messages", {
      user_id: USER,
      messages: [{ role: "assistant", content: `Your boat ${BOAT} is at sea.` }],
    });
    await call("POST", "/api/v1/memories", {
      user_id: USER,
      content: `The user likes ${PLANT}.`,
      type: "preference",
    });
    const found = await call("POST", `/api/v1/memories/${user}/search`, { query: `What about ${PLANT}?` });
    expect(found).toContain(PLANT);
    expect(await call("POST", "/message", { userId: USER, message: "What is my boat called?" })).toContain(
      BOAT,
    );
    await call("POST", "/api/v1/context", { user_id: USER, request: `Plan a day with ${BIRD}.` });
    await call("POST", "/v1/chat/completions", {
      model: "keepsake",
      user: USER,
      messages: [{ role: "user", content: `My bird is a ${BIRD}.` }],
    });
    await call("POST", `/api/v1/memories/${user}/optimize`, {});
    // What is refused or not found is not logged either.
    await call("POST", "/api/v1/memories", { user_id: USER, content: GIANT, type: GIANT });
    await call("GET", `/api/v1/memories/${user}?status=${GIANT}`);
    await call("GET", `/${GIANT}/${user}`);
    await call("GET", `/api/v1/memories/${user}`, undefined, `wrong-${GIANT}-key-0123456789`);
    const forgotten = await call("POST", "/forget", { userId: USER, message: `Forget ${CITY}.` });
    expect(forgotten).toMatch(/Forgotten/);
    expect(statuses.filter((status) => status === 200 || status === 201).length).toBeGreaterThan(8);
    expect(statuses.filter((status) => status >= 400).length).toBeGreaterThan(2);

    const ended = new Promise((resolve) => server?.once("close", resolve));
    server?.kill("SIGTERM");
    await ended;
    const spans = printed
      .split("\n")
      .filter((line) => /DEBUG span|"level":"debug","event":"span"/.test(line));
    expect(spans.length).toBeGreaterThan(20);
    for (const name of ["recall", "remember", "forget"]) expect(spans.join("\n")).toContain(name);
    const lower = printed.toLowerCase();
    const personal = [...SAID, "anastasia", "quill", "example.org", user];
    expect(personal.filter((word) => lower.includes(word.toLowerCase()))).toEqual([]);
    expect(printed).not.toContain(KEY);
  },
);
