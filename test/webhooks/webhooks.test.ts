import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import {
  deliverUnderKills,
  findWebhookProblems,
  isSigned,
  type WebhookFigures,
  type WebhookRun,
} from "./deliver-under-kills.ts";

const RUN: WebhookRun = { events: 200, users: 8, failOneIn: 3, kills: 2, servers: 1 };

it("a webhook gets every event in order, signed, although its server is killed twice and the receiver fails one in three", {
  timeout: 240_000,
}, async () => {
  const figures = await deliverUnderKills(RUN);
  expect(findWebhookProblems(RUN, figures)).toEqual([]);
  // What was sent in the fifth of a second before each kill, and a little.
  expect(figures.repeated).toBeLessThan(100);
});

it("a run of webhooks has failed if an event is lost or out of order, a signature does not fit, or no fault was made", () => {
  const whole: WebhookFigures = {
    events: 201,
    delivered: 201,
    repeated: 3,
    outOfOrder: 0,
    badSignatures: 0,
    refused: 90,
    kills: 2,
    writingSeconds: 1,
    restSeconds: 1,
  };
  const planted: readonly (readonly [Partial<WebhookFigures>, RegExp])[] = [
    [{ events: 199, delivered: 199 }, /199 of 200 events were made/],
    [{ delivered: 200 }, /1 of 201 events did not arrive/],
    [{ outOfOrder: 1 }, /1 events came before/],
    [{ badSignatures: 2 }, /2 requests had a signature/],
    [{ refused: 0 }, /refused nothing/],
    [{ kills: 1 }, /1 of 2 kills/],
  ];
  expect(findWebhookProblems(RUN, whole)).toEqual([]);
  for (const [fault, words] of planted)
    expect(findWebhookProblems(RUN, { ...whole, ...fault })).toEqual([expect.stringMatching(words)]);
});

it("a signature of another secret, of another body or of an hour ago is not accepted", () => {
  const [secret, other] = ["whsec_c2VjcmV0LW9mLXRoZS10ZXN0", "whsec_YW5vdGhlci1zZWNyZXQ="];
  const body = '{"type":"memories.changed"}';
  const headersOf = (at: Date) => ({
    "webhook-id": "one",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("one", at, body),
  });
  const now = headersOf(new Date());
  const old = headersOf(new Date(Date.now() - 3_600_000));
  expect([
    isSigned(secret, now, body),
    isSigned(other, now, body),
    isSigned(secret, now, `${body} `),
    isSigned(secret, old, body),
  ]).toEqual([true, false, false, false]);
});
