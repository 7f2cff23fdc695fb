import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { bytes, keepsake, MAIN, place } from "./shell.ts";

describe("serve", () => {
  /** Starts it on a free port; gives what it printed first, and how to stop it. */
  async function started(...words: readonly string[]) {
    const { PATH = "" } = process.env;
    const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", ...words], {
      cwd: place,
      env: { PATH },
    });
    let out = "";
    const begun = new Promise<void>((resolve) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text;
        if (out.includes("\n")) resolve();
      });
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await begun;
    return {
      out: () => out,
      stop: (signal: NodeJS.Signals) => {
        child.kill(signal);
        return ended;
      },
    };
  }

  it("makes a key once, answers with it, and ends in good order", { timeout: 60_000 }, async () => {
    const server = await started("--json");
    const { url, key, sign_in_url: link } = JSON.parse(server.out());
    expect(link).toBe(`${url}/#key=${key}`);
    const message = async (text: string, bearer: string) => {
      const response = await fetch(`${url}/message`, {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify({ userId: "ana", message: text }),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await message("I use Shram.", "wrong")).toMatchObject({ status: 401 });
    expect(await message("I use Shram.", key)).toMatchObject({ status: 200 });
    // The command line sees at once what the server stored.
    expect((await keepsake("answer", "What do I use?", "--user", "ana")).out).toBe("You use Shram.\n");
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(bytes()).not.toContain(key);

    const again = await started();
    expect(await again.stop("SIGINT")).toBe(0);
    expect(again.out()).toMatch(
      /^Keepsake listens on http:\/\/127\.0\.0\.1:\d+, with keepsake\.db\.\nThe page: /,
    );
    expect(again.out()).not.toContain("ks_");
  });

  it("prints the key and a link to the page at the first start", { timeout: 30_000 }, async () => {
    const server = await started();
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(server.out()).toMatch(
      /Your key, shown this once: {2}(ks_\S+)\n.*http:\/\/127\.0\.0\.1:\d+\/#key=\1\n/,
    );
  });
});
