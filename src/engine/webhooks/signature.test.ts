import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeWebhook } from "../../testing/memory-store/webhook-cases.ts";
import { createWebhookMessage, deriveWebhookSecret, signWebhook } from "./sign-webhook.ts";

type Check = (headers: Readonly<Record<string, string>>, body: string, secret: string) => boolean;

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/webhooks.md"), "utf8");
/** HMAC is not needed here: any text of 32 bytes in hex stands for a key. */
const secret = { sign: (text: string) => Buffer.from(text).toString("hex").slice(-64).padStart(64, "0") };

/** The check that the documentation shows, as it stands there. */
async function loadShownCheck(): Promise<Check> {
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(PAGE) ?? [];
  const script = `${stripTypeScriptTypes(code)}\nexport { isFromKeepsake };`;
  const url = `data:text/javascript;base64,${Buffer.from(script).toString("base64")}`;
  return ((await import(/* @vite-ignore */ url)) as { isFromKeepsake: Check }).isFromKeepsake;
}

const ENTRY = {
  revision: 7,
  at: "2026-03-01T12:00:00.000Z",
  cause: "remember",
  messages: ["m1"],
  memories: [{ id: "a1", version: 1, action: "added" }],
  erased: [],
} as const;
const ANA = { project: "default", user: "ana" };
const WEBHOOK = makeWebhook("hook");

it("The check in the documentation accepts a delivery, and nothing that was changed, old or signed by others", async () => {
  const check = await loadShownCheck();
  const now = new Date();
  const message = createWebhookMessage(WEBHOOK, ANA, ENTRY);
  const body = message?.body ?? "";
  const sign = (at: Date) => signWebhook(secret, WEBHOOK, { id: message?.id ?? "", body }, at);
  const shown = deriveWebhookSecret(secret, WEBHOOK, WEBHOOK.generation);
  expect(check(sign(now), body, shown)).toBe(true);
  expect(check(sign(now), `${body} `, shown)).toBe(false);
  expect(check({ ...sign(now), "webhook-id": "msg_other" }, body, shown)).toBe(false);
  expect(check(sign(new Date(now.getTime() - 400_000)), body, shown)).toBe(false);
  expect(check(sign(now), body, deriveWebhookSecret(secret, WEBHOOK, "second"))).toBe(false);
});

it("A delivery is signed with the old secret too until the grace period ends", async () => {
  const check = await loadShownCheck();
  const now = new Date();
  const until = new Date(now.getTime() + 1000).toISOString();
  const rotated = { ...WEBHOOK, generation: "second", previous: { generation: "first", until } };
  const [old, current] = ["first", "second"].map((one) => deriveWebhookSecret(secret, WEBHOOK, one));
  const accepts = (at: Date): boolean[] => {
    const headers = signWebhook(secret, rotated, { id: "msg_1", body: "{}" }, at);
    return [old, current].map((one) => check(headers, "{}", one ?? ""));
  };
  expect(accepts(now)).toEqual([true, true]);
  expect(accepts(new Date(now.getTime() + 1001))).toEqual([false, true]);
});

it("An event has the same id at each attempt, and another for another webhook, user or revision", () => {
  const ids = [
    createWebhookMessage(WEBHOOK, ANA, ENTRY),
    createWebhookMessage(makeWebhook("other"), ANA, ENTRY),
    createWebhookMessage(WEBHOOK, { ...ANA, user: "bo" }, ENTRY),
    createWebhookMessage(WEBHOOK, ANA, { ...ENTRY, revision: 8 }),
    // After a restore, another change may have the same revision.
    createWebhookMessage(WEBHOOK, ANA, { ...ENTRY, at: "2026-03-02T12:00:00.000Z" }),
  ].map((message) => message?.id);
  expect(new Set(ids).size).toBe(5);
  expect(createWebhookMessage(WEBHOOK, ANA, ENTRY)?.id).toBe(ids[0]);
});

it("An event has the first type that fits, and goes to webhooks that want any that fits", () => {
  const erasure = { ...ENTRY, erased: ["m0"] };
  const wanting = (...events: ("content.erased" | "memories.changed" | "messages.added")[]) =>
    createWebhookMessage(makeWebhook("hook", { events }), ANA, erasure)?.type;
  expect(wanting("content.erased")).toBe("content.erased");
  expect(wanting("messages.added")).toBe("content.erased");
  const bare = { ...ENTRY, messages: [], memories: [] };
  expect(createWebhookMessage(WEBHOOK, ANA, bare)).toBeUndefined();
  const linked = [{ from: "a", type: "extends" as const, to: "b", strength: 1 }];
  expect(createWebhookMessage(WEBHOOK, ANA, { ...bare, linked })?.type).toBe("memories.changed");
});

it("An event of a large change is cut, and says so", () => {
  const messages = Array.from({ length: 1001 }, (_, i) => `m${i}`);
  const { data } = JSON.parse(createWebhookMessage(WEBHOOK, ANA, { ...ENTRY, messages })?.body ?? "");
  expect([data.messages.length, data.is_cut]).toEqual([1000, true]);
});
