import type { Scope } from "../domain/scope.ts";
import { asksForAll } from "./answer/overview.ts";
import { answer } from "./answer.ts";
import type { Ports } from "./ports.ts";
import { remember } from "./remember.ts";
import { composeReply } from "./reply.ts";
import type { RememberOptions, Reply } from "./surface.ts";

/**
 * One turn of a conversation without a model. A question is answered from what was known before it was asked, so that
 * it cannot answer itself. The reply is composed from memory and not kept: it would only be an echo.
 */
export async function converse(
  ports: Ports,
  scope: Scope,
  message: string,
  options: RememberOptions = {},
): Promise<Reply> {
  const asks = ports.questions.isQuestion(message) || asksForAll(message);
  const signal = options.signal ? { signal: options.signal } : {};
  const before = asks ? await answer(ports, scope, message, signal) : undefined;
  const receipt = await remember(ports, scope, message, options);
  const text = composeReply({ receipt, said: message, ...(before ? { answer: before } : {}) });
  const { messages } = await ports.states.of(scope);
  const turn = messages.get(receipt.messages[0] ?? "")?.turn ?? 0;
  return { text, receipt, turn, ...(before ? { answer: before } : {}) };
}
