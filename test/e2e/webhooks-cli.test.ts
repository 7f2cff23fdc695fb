import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const { PATH = "" } = process.env;

let folder: string;
let receiver: Server;
let url: string;
let status: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-webhooks-cli-"));
  receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(() => {
  receiver.close();
  rmSync(folder, { recursive: true });
});

/** Not synchronous: this process answers the requests. */
async function webhooks(words: readonly string[], env: { readonly [name: string]: string } = {}) {
  const child = spawn(process.execPath, [MAIN, "webhooks", ...words, "--db", "memory.db"], {
    cwd: folder,
    env: { PATH, KEEPSAKE_WEBHOOKS: "loopback", ...env },
  });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => err.push(text));
  const [code] = await once(child, "close");
  return { code, out: out.join(""), err: err.join("") };
}
const read = async (...words: readonly string[]) => JSON.parse((await webhooks([...words, "--json"])).out);

describe("keepsake webhooks", () => {
  it("registers, lists, tests, changes, rotates and removes a webhook", async () => {
    expect(await webhooks(["list"])).toMatchObject({ code: 0, out: "" });
    const added = await read(
      "add",
      url,
      "--event",
      "content.erased",
      "--label",
      "audit",
      "--project",
      "shop",
    );
    expect(added).toMatchObject({ url, project: "shop", events: ["content.erased"], status: "active" });
    expect(added.secret).toMatch(/^whsec_/);
    expect(await read("list")).toEqual({ items: [], total: 0 });
    const { out: listed } = await webhooks(["list", "--project", "shop"]);
    expect(listed).toMatch(/^id +url +events +status +delivered +last problem +label\n/);
    expect(listed).toMatch(/content\.erased +active +0 +audit\n/);
    expect(listed).not.toContain("whsec_");

    const { id } = added;
    const shop = ["--project", "shop"];
    status = 204;
    expect(await webhooks(["test", id, ...shop])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Delivered: status 204/),
    });
    status = 500;
    expect(await webhooks(["test", id, ...shop])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Not delivered: status 500, refused_by_receiver/),
    });
    expect(await read("attempts", id, ...shop)).toEqual({ items: [] });
    expect(await read("update", id, "--disable", ...shop)).toMatchObject({
      enabled: false,
      status: "disabled",
      label: "audit",
    });
    const rotated = await read("rotate", id, "--grace", "1h", ...shop);
    expect(rotated.secret).not.toBe(added.secret);
    expect(rotated.old_secret_until).toEqual(expect.any(String));
    expect(await webhooks(["remove", id, ...shop])).toMatchObject({
      code: 0,
      out: `Removed the webhook ${id}.\n`,
    });
    expect(await webhooks(["remove", id, ...shop])).toMatchObject({ code: 3 });
  });

  it.each([
    [["add", "http://example.com/hook"], {}, 2, /https/],
    [
      ["add", "https://example.com/hook", "--event", "everything"],
      {},
      2,
      /Allowed choices are content\.erased/,
    ],
    [["update", "some-id"], {}, 2, /--url, --event, --label, --enable or --disable/],
    [["test", "some-id"], {}, 3, /There is no webhook with this id/],
    [["list"], { KEEPSAKE_WEBHOOKS: "off" }, 1, /KEEPSAKE_WEBHOOKS=off/],
  ])("says what is wrong with %j", async (words, env, code, problem) => {
    const ran = await webhooks(words, { KEEPSAKE_WEBHOOKS: "", ...env });
    expect([ran.code, ran.err]).toEqual([code, expect.stringMatching(problem)]);
  });
});
