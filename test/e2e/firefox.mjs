#!/usr/bin/env node
// Starts Firefox for a driver that speaks WebDriver BiDi, and stands between the two: a command that this release of Firefox does
// not know, and that only sets how a page is shown, is answered with success. Firefox's own answers pass as they are.
// The driver takes this file for the browser. FIREFOX_PATH names the real one.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";

/** Commands of the draft standard that Firefox's long-term release lacks. They change no behaviour of the page. */
const UNKNOWN = new Set(["emulation.setMediaFeaturesOverride"]);
const LISTENS = /WebDriver BiDi listening on ws:\/\/127\.0\.0\.1:(\d+)/;

const firefox = spawn(process.env.FIREFOX_PATH ?? "/usr/bin/firefox-esr", process.argv.slice(2), {
  stdio: ["inherit", "inherit", "pipe"],
});
firefox.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => firefox.kill(signal));

firefox.stderr.setEncoding("utf8");
firefox.stderr.on("data", async (text) => {
  const port = LISTENS.exec(text)?.[1];
  const told =
    port === undefined ? text : text.replace(`127.0.0.1:${port}`, `127.0.0.1:${await listen(Number(port))}`);
  process.stderr.write(told);
});

/** Listens at a port of its own for the driver, and gives it. */
function listen(port) {
  const server = createServer((driver) => pass(driver, connect(port, "127.0.0.1"), port));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}

/** Passes the bytes of both sides on. The driver's are looked at frame by frame once the connection is a WebSocket. */
function pass(driver, browser, port) {
  for (const [one, other] of [
    [driver, browser],
    [browser, driver],
  ]) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
  const toDriver = inFrames((frame) => driver.write(frame.bytes));
  const toBrowser = inFrames((frame) => {
    const id = unknownCommand(frame.text());
    if (id === undefined) browser.write(frame.bytes);
    else driver.write(toFrame(JSON.stringify({ type: "success", id, result: {} })));
  });
  // Without extensions, no frame is compressed. The browser checks that it is asked for by its own address.
  driver.on(
    "data",
    afterHead(
      (head) =>
        browser.write(
          head
            .replace(/^sec-websocket-extensions:.*\r\n/gim, "")
            .replace(/^host:.*\r\n/im, `Host: 127.0.0.1:${port}\r\n`),
        ),
      toBrowser,
    ),
  );
  browser.on(
    "data",
    afterHead((head) => driver.write(head), toDriver),
  );
}

/** Gives the head of an HTTP message to the first function, and all bytes after it to the second. */
function afterHead(takeHead, takeRest) {
  let waiting = Buffer.alloc(0);
  let isOpen = false;
  return (bytes) => {
    if (isOpen) return takeRest(bytes);
    waiting = Buffer.concat([waiting, bytes]);
    const end = waiting.indexOf("\r\n\r\n");
    if (end < 0) return;
    isOpen = true;
    takeHead(waiting.subarray(0, end + 4).toString("latin1"));
    if (waiting.length > end + 4) takeRest(waiting.subarray(end + 4));
  };
}

/** Cuts bytes into the frames of a WebSocket (RFC 6455). */
function inFrames(take) {
  let waiting = Buffer.alloc(0);
  return (bytes) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
    for (
      let size = sizeOf(waiting);
      size !== undefined && size.end <= waiting.length;
      size = sizeOf(waiting)
    ) {
      const { mask, start, end } = size;
      const frame = waiting.subarray(0, end);
      take({ bytes: frame, text: () => unmask(frame.subarray(start), mask).toString("utf8") });
      waiting = waiting.subarray(end);
    }
  };
}

function sizeOf(bytes) {
  if (bytes.length < 2) return undefined;
  const isMasked = bytes[1] >= 128;
  const short = bytes[1] & 127;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  const start = head + (isMasked ? 4 : 0);
  if (bytes.length < start) return undefined;
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return { mask: isMasked ? bytes.subarray(head, start) : undefined, start, end: start + length };
}

function unmask(bytes, mask) {
  return mask === undefined ? bytes : Buffer.from(bytes.map((byte, place) => byte ^ mask[place % 4]));
}

function toFrame(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, bytes.length]), bytes]);
}

/** The id of a command that Firefox does not know, and whose answer nobody needs. */
function unknownCommand(text) {
  if (![...UNKNOWN].some((name) => text.includes(name))) return undefined;
  const { id, method } = JSON.parse(text);
  return UNKNOWN.has(method) ? id : undefined;
}
