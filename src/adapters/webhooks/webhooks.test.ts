import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { isLoopbackAddress, isPublicAddress } from "../shared/address-guard.ts";
import { createWebhookSender, type WebhookSenderOptions } from "./index.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const request = (url: string, signal = new AbortController().signal) => ({
  url,
  headers: { "content-type": "application/json" },
  body: "{}",
  signal,
});

const send = (url: string, options: WebhookSenderOptions = { allowsLoopback: true }) =>
  createWebhookSender(options).send(request(url));

describe("the addresses that a webhook may have", () => {
  it.each([
    "10.0.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "169.254.169.254",
    "168.63.129.16",
    "172.31.255.255",
    "192.168.1.1",
    "198.19.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::a00:1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::1",
    "2001::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "example.com",
    "",
  ])("do not include %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["8.8.8.8", "172.15.0.1", "172.32.0.1", "193.0.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "include %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it("include those of this machine only if it is allowed", async () => {
    expect(["127.0.0.1", "::1", "8.8.8.8", "10.0.0.1"].map(isLoopbackAddress)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const open = createWebhookSender({ allowsLoopback: true });
    expect(await open.check("http://127.0.0.1:9/hook#part")).toBe("http://127.0.0.1:9/hook");
    await expect(open.check("http://8.8.8.8/")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(open.check("https://10.0.0.1/")).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a URL of a webhook", () => {
  const resolve = async (host: string): Promise<readonly string[]> => {
    if (host === "nowhere.example") throw new Error("ENOTFOUND");
    return host === "mixed.example"
      ? ["8.8.8.8", "10.0.0.1"]
      : host === "inside.example"
        ? ["10.0.0.1"]
        : ["8.8.8.8"];
  };
  const { check } = createWebhookSender({ resolve });

  it("is accepted with https and a public host", async () => {
    expect(await check("https://example.com")).toBe("https://example.com/");
    expect(await check("https://[2606:4700::1111]:8443/a?b=c")).toBe("https://[2606:4700::1111]:8443/a?b=c");
  });

  it.each([
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "example.com",
    "https://user:word@example.com/",
    "https://mixed.example/",
    "https://inside.example/",
    "https://nowhere.example/",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://169.254.169.254/latest/meta-data",
    `https://example.com/${"a".repeat(2048)}`,
  ])("is refused: %s", async (url) => {
    await expect(check(url)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("a request to a webhook", () => {
  it("goes to the address that was checked, and not where the name leads later", async () => {
    let requests = 0;
    const port = await listen((_request, response) => {
      requests += 1;
      response.end();
    });
    const names = ["8.8.8.8", "127.0.0.1"];
    const sender = createWebhookSender({ resolve: async () => [names.shift() ?? "127.0.0.1"] });
    const url = await sender.check(`https://rebound.example:${port}/`);
    expect(await sender.send(request(url))).toEqual({ problem: "refused_address" });
    expect(requests).toBe(0);
  });

  it("does not reach this machine unless it is allowed, also by its number", async () => {
    let requests = 0;
    const port = await listen((_request, response) => {
      requests += 1;
      response.end();
    });
    for (const url of [
      `https://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}/`,
      `https://localhost:${port}/`,
    ])
      expect(await send(url, {})).toEqual({ problem: "refused_address" });
    expect(requests).toBe(0);
  });

  it("follows no redirect", async () => {
    let requests = 0;
    const port = await listen((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: "/elsewhere" }).end();
    });
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ status: 302 });
    expect(requests).toBe(1);
  });

  it("ends within its time, whether the receiver is silent or sends without end", async () => {
    const silent = await listen(() => {});
    const options = { allowsLoopback: true, timeoutMs: 200 };
    expect(await send(`http://127.0.0.1:${silent}/`, options)).toEqual({ problem: "timeout" });
    let isClosed = false;
    const endless = await listen((_request, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      const write = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), write);
      };
      write();
    });
    expect(await send(`http://127.0.0.1:${endless}/`)).toEqual({ status: 200 });
    await expect.poll(() => isClosed).toBe(true);
  });

  it("says why it failed", async () => {
    const dropping = await listen(({ socket }) => socket.destroy());
    expect(await send(`http://127.0.0.1:${dropping}/`)).toEqual({ problem: "broken_off" });
    expect(await send("http://127.0.0.1:1/")).toEqual({ problem: "no_connection" });
    expect(await send("https://nowhere.invalid/")).toEqual({ problem: "unresolved_host" });
    const plain = await listen((_request, response) => response.end());
    expect(await send(`https://127.0.0.1:${plain}/`)).toEqual({ problem: "tls" });
    const stop = new AbortController();
    stop.abort();
    const sender = createWebhookSender({ allowsLoopback: true });
    expect(await sender.send(request(`http://127.0.0.1:${plain}/`, stop.signal))).toEqual({
      problem: "stopped",
    });
  });

  it("is sent again at once if the receiver had closed the kept connection", async () => {
    let requests = 0;
    const port = await listen(({ socket }, response) => {
      requests += 1;
      response.end();
      // Closed while the client believes that it is open.
      if (requests === 1) response.on("finish", () => socket.destroy());
    });
    const sender = createWebhookSender({ allowsLoopback: true });
    for (let i = 0; i < 5; i += 1)
      expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual({ status: 200 });
  });

  it("passes on how long the receiver wants to be left alone", async () => {
    const port = await listen((_request, response) => response.writeHead(429, { "retry-after": "7" }).end());
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ status: 429, retryAfterMs: 7000 });
  });
});
