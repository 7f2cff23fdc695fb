import type { Scope } from "../domain/scope.ts";
import { asksForAll } from "./answer/overview.ts";
import { answered } from "./answer.ts";
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
  const session = options.session ?? scope.session;
  const before = asks ? await answered(ports, scope, message, signal, session) : undefined;
  const receipt = await remember(ports, scope, message, options);
  const [asking] = receipt.messages;
  if (before && asking !== undefined) ports.recalls?.note(scope, before.recall.id, { message: asking });
  const text = composeReply({ receipt, said: message, ...(before ? { answer: before } : {}) });
  const { messages } = await ports.states.of(scope);
  const turn = messages.get(receipt.messages[0] ?? "")?.turn ?? 0;
  return { text, receipt, turn, ...(before ? { answer: before } : {}) };
}
