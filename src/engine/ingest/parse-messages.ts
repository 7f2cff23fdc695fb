import { isAttachmentPart } from "../../domain/attachment.ts";
import {
  checkCharacters,
  checkMetadata,
  checkName,
  checkNewName,
  checkText,
  INPUT_LIMITS,
  toStorableText,
} from "../../domain/limits.ts";
import type { Message, Origin, Part, Role } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { redactCredentials } from "../../domain/text/credentials.ts";
import { stripPromptBlocks } from "../../domain/text/prompt-safety.ts";
import { findOffset, toIsoTime } from "../../domain/time.ts";
import { runAtOnce, runInSlices } from "../../domain/time-slicing.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { InputMessage, RememberInput, RememberOptions } from "../api/writing-types.ts";
import type { Ports } from "../ports.ts";

const ROLES: readonly Role[] = ["user", "assistant", "system", "tool"];
const ORIGINS: Readonly<Record<Role, Origin>> = {
  user: "user_message",
  assistant: "assistant_message",
  system: "document",
  tool: "tool_result",
};

/** The messages to store, and a line for each part that cannot be stored. */
interface ParsedMessages {
  readonly messages: readonly Message[];
  readonly lines: readonly ReceiptLine[];
}

/**
 * Parses and checks the input of `remember`. In a batch an empty message is left out, because real chats have
 * some. Characters that no store accepts become spaces. Otherwise all or nothing: `invalid_input` names the
 * first invalid message by its number in the batch, from 1.
 */
export function parseMessages(...given: Parameters<typeof parseMessagesSteps>): ParsedMessages {
  return runAtOnce(parseMessagesSteps(...given));
}

/** The same in slices, so that a thousand messages, or one of a megabyte, block no other work. */
export function parseMessagesInSlices(
  ...given: Parameters<typeof parseMessagesSteps>
): Promise<ParsedMessages> {
  return runInSlices(parseMessagesSteps(...given));
}

function* parseMessagesSteps(
  ports: Pick<Ports, "clock" | "ids" | "redact">,
  scope: Scope,
  input: RememberInput,
  options: RememberOptions,
): Generator<void, ParsedMessages, void> {
  const single = !Array.isArray(input);
  const inputs = toInputs(input);
  if (inputs.length > INPUT_LIMITS.messages) {
    throw invalid(
      `${inputs.length} messages in one call; the limit is ${INPUT_LIMITS.messages}. Send them in batches.`,
    );
  }
  const now = ports.clock();
  const lines: ReceiptLine[] = [];
  const messages: Message[] = [];
  for (const [i, one] of inputs.entries()) {
    yield;
    try {
      const { given, replaced } = toStorableInput(one);
      if (!single && isBlank(given.content)) {
        lines.push(toRefusedLine("a message without words was left out"));
        continue;
      }
      yield;
      messages.push(yield* parseMessageSteps(ports, scope, given, options, now));
      if (replaced > 0) {
        lines.push(toRefusedLine(`characters of a message that cannot be stored were replaced: ${replaced}`));
      }
    } catch (error) {
      if (single || !isMemoryError(error)) throw error;
      throw new MemoryError(
        error.code,
        `message ${i + 1} of ${inputs.length}: ${error.message} Nothing was stored.`,
        {
          cause: error,
        },
      );
    }
  }
  return { messages, lines };
}

function toInputs(input: RememberInput): readonly InputMessage[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input : [input as InputMessage];
}

function toRefusedLine(why: string): ReceiptLine {
  return { id: "", action: "refused", text: "", why };
}

/**
 * A message whose texts can be stored, and the number of characters replaced. Input of the wrong shape stays
 * unchanged for validation.
 */
function toStorableInput(input: InputMessage): { given: InputMessage; replaced: number } {
  const content: unknown = input?.content;
  if (typeof content === "string") {
    const { text, replaced } = toStorableText(content);
    return { given: { ...input, content: text }, replaced };
  }
  if (!Array.isArray(content)) return { given: input, replaced: 0 };
  let replaced = 0;
  const parts = (content as readonly Part[]).map((part) => {
    if (typeof part?.text !== "string") return part;
    const stored = toStorableText(part.text);
    replaced += stored.replaced;
    return { ...part, text: stored.text };
  });
  return { given: { ...input, content: parts }, replaced };
}

/** Whether a message has no text and no other part. */
function isBlank(content: unknown): boolean {
  if (typeof content === "string") return content.trim() === "";
  if (!Array.isArray(content)) return false;
  return content.every(
    (part) => part?.type === "text" && typeof part.text === "string" && part.text.trim() === "",
  );
}

function* parseMessageSteps(
  ports: Pick<Ports, "ids" | "redact">,
  scope: Scope,
  input: InputMessage,
  options: RememberOptions,
  now: Date,
): Generator<void, Message, void> {
  if (typeof input !== "object" || input === null)
    throw invalid("a message must be an object with role and content.");
  if (!ROLES.includes(input.role)) throw invalid(`role must be one of ${ROLES.join(", ")}.`);
  const { content, parts } = yield* parseContentSteps(ports, input.content);
  const session = input.session ?? options.session ?? scope.session;
  const at = input.at ?? options.at ?? now;
  const zone = findOffset(at);
  const stored = options.origin === "import" ? "import" : ORIGINS[input.role];
  return {
    id: input.id === undefined ? ports.ids() : checkName(input.id, "id"),
    turn: 0,
    role: input.role,
    content,
    origin: input.role === "user" ? stored : ORIGINS[input.role],
    at: toIsoTime(at, "at"),
    ...(zone === undefined ? {} : { zone }),
    storedAt: now.toISOString(),
    digest: options.extract === "never" ? "never" : "pending",
    ...rightsOf(options),
    ...(parts ? { parts } : {}),
    ...(session === undefined ? {} : { session: checkNewName(session, "session") }),
    ...(scope.agent === undefined ? {} : { agent: scope.agent }),
    ...(input.name === undefined ? {} : { name: checkName(input.name, "name") }),
    ...(input.metadata === undefined ? {} : { metadata: checkMetadata(input.metadata, "metadata") }),
  };
}

function rightsOf({ mayErase }: RememberOptions): Pick<Message, "mayErase"> {
  return mayErase === false ? { mayErase } : {};
}

function* parseContentSteps({ redact }: Pick<Ports, "redact">, content: InputMessage["content"]) {
  const parsed = parseContent(content);
  yield;
  const stripped = stripOwnBlocks(parsed);
  yield;
  return redact === false ? stripped : stripCredentials(stripped);
}

function isPartType(type: unknown): boolean {
  return typeof type === "string" && type.trim() !== "";
}

/**
 * Removes context that came from this memory and was sent back: no one said it, so it is neither stored nor
 * extracted.
 */
function stripOwnBlocks(given: { content: string; parts?: readonly Part[] }): typeof given {
  return mapTexts(given, stripPromptBlocks);
}

/** Removes recognizable credentials, so that they reach neither the store nor an index. */
function stripCredentials(given: { content: string; parts?: readonly Part[] }): typeof given {
  return mapTexts(given, (text) => redactCredentials(text).text);
}

function mapTexts(
  { content, parts }: { content: string; parts?: readonly Part[] },
  change: (text: string) => string,
): { content: string; parts?: readonly Part[] } {
  if (!parts) return { content: change(content) };
  const changed = parts.map((part) => {
    if (isAttachmentPart(part) && part.description !== undefined)
      return { ...part, description: change(part.description) };
    return typeof part.text === "string" ? { ...part, text: change(part.text) } : part;
  });
  return { content: change(content), parts: changed };
}

/** The text of a message, and its parts if it has more than one text. */
function parseContent(content: InputMessage["content"]): { content: string; parts?: readonly Part[] } {
  if (typeof content === "string") return { content: checkText(content, "content") };
  if (!Array.isArray(content)) throw invalid("content must be text or a list of parts.");
  if (content.length === 0) throw invalid("content is empty: give at least one part.");
  const texts = (content as readonly Part[]).map((part) => {
    if (typeof part !== "object" || part === null || !isPartType(part.type)) {
      throw invalid("a part of content must be an object with a type.");
    }
    if (isAttachmentPart(part)) return part.description ?? "";
    if (part.type !== "text") return "";
    if (typeof part.text !== "string") throw invalid("a text part must hold text.");
    return part.text;
  });
  const text = texts.filter((one) => one !== "").join("\n");
  const parts = content as readonly Part[];
  const json = JSON.stringify(parts);
  if (json.length > 20 * INPUT_LIMITS.textBytes)
    throw invalid("the parts of content are too large: at most 20 MB as JSON.");
  checkCharacters(text, "content", INPUT_LIMITS.textBytes);
  const onlyText = parts.length === 1 && parts[0]?.type === "text";
  return onlyText ? { content: checkText(text, "content") } : { content: text, parts };
}
