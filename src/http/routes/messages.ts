import { Hono } from "hono";
import * as z from "zod";
import type { Metadata } from "../../domain/filter.ts";
import type { Part } from "../../domain/message.ts";
import type { Keepsake } from "../../engine/surface.ts";
import type { App, RequestFacts } from "../app-types.ts";
import { readBody } from "../body.ts";
import { maybe, metadata, text } from "../fields.ts";
import { given, receiptToWire } from "../wire.ts";

/** In OpenAI's shapes; what is not understood is kept as it came. */
const PART = z.looseObject({ type: text });

const MESSAGE = z
  .strictObject({
    id: maybe(text),
    role: z.enum(["user", "assistant", "system", "tool"]),
    content: z.union([text, z.array(PART)]),
    name: maybe(text),
    at: maybe(text),
    session_id: maybe(text),
    metadata: maybe(metadata),
  })
  .transform(({ role, content, session_id, metadata: held, ...rest }) => ({
    role,
    content: content as string | Part[],
    ...given({ ...rest, session: session_id, metadata: held as Metadata | undefined }),
  }));

const MESSAGES = z.strictObject({
  user_id: text,
  session_id: maybe(text),
  messages: z.array(MESSAGE).min(1).max(1000),
});

/** Takes in messages as they were said, all or none; the same `Idempotency-Key` again gives the same answer. */
export function messageRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  app.post("/messages", async (context) => {
    const body = await readBody(context, MESSAGES);
    const receipt = await keepsake
      .scope({ project: context.get("project"), user: body.user_id })
      .remember(
        body.messages,
        given({ session: body.session_id, idempotencyKey: context.req.header("idempotency-key") }),
      );
    return context.json(receiptToWire(receipt), 201);
  });
  return app;
}
