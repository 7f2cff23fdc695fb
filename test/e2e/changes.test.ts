import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");

it("a stream of changes carries what another process stores, and ends when the server is told to stop", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-changes-"));
  const database = join(folder, "m.db");
  const environment = { PATH: process.env.PATH, HOME: folder };
  const server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--json", "--db", database], {
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [printed] = await once(server.stdout, "data");
    const { url, key } = JSON.parse(String(printed)) as { url: string; key: string };
    const response = await fetch(`${url}/api/v1/changes?user_id=ana`, {
      headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const remember = ["remember", "I use Shram.", "--user", "ana", "--db", database];
    const other = spawn(process.execPath, [MAIN, ...remember], { env: environment, stdio: "ignore" });
    expect((await once(other, "exit"))[0]).toBe(0);
    let text = "";
    while (!/^id: 1$/m.test(text)) {
      const part = await reader?.read();
      if (!part || part.done) break;
      text += part.value;
    }
    expect(text).toContain('"user_id":"ana","revision":1');
    const exited = once(server, "exit");
    server.kill("SIGTERM");
    const last = await reader?.read();
    expect(last?.done).toBe(true);
    expect((await exited)[0]).toBe(0);
  } finally {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);
