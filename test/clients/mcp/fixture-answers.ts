import { crc32, deflateSync } from "node:zlib";
import {
  type CallToolResult,
  type ContentBlock,
  completable,
  type EmbeddedResource,
  fromJsonSchema,
  type McpServer,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";

// What the conformance suite reads by name: tools, resources and prompts. A memory has no reason to offer them.

/** How long a tool waits between two notifications, so that they cannot arrive in one piece. In ms. */
const PAUSE_MS = 50;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
const textBlock = (text: string): ContentBlock => ({ type: "text", text });
const userMessage = (content: ContentBlock): PromptMessage => ({ role: "user", content });

function textResource(uri: string, text: string, mimeType = "text/plain"): EmbeddedResource {
  return { type: "resource", resource: { uri, mimeType, text } };
}

/** One red pixel as a PNG file, in base64. */
function encodePixel(): string {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  // Width and height 1, 8 bits a channel, colour type RGB; then a row without a filter.
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const row = deflateSync(Buffer.from([0, 255, 0, 0]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", header), chunk("IDAT", row), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]).toString("base64");
}

/** A millisecond of silence as a WAV file, in base64. */
function encodeSilence(): string {
  const samples = Buffer.alloc(8, 128);
  const file = Buffer.alloc(44);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(36 + samples.length, 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20); // PCM
  file.writeUInt16LE(1, 22); // one channel
  file.writeUInt32LE(8000, 24);
  file.writeUInt32LE(8000, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(samples.length, 40);
  return Buffer.concat([file, samples]).toString("base64");
}

const PIXEL = { data: encodePixel(), mimeType: "image/png" };
const IMAGE_BLOCK: ContentBlock = { type: "image", ...PIXEL };

/** Tools without arguments that only return content. */
const CONTENT_TOOLS: { readonly [name: string]: readonly ContentBlock[] } = {
  test_simple_text: [textBlock("A text.")],
  test_image_content: [IMAGE_BLOCK],
  test_audio_content: [{ type: "audio", data: encodeSilence(), mimeType: "audio/wav" }],
  test_embedded_resource: [textResource("test://embedded-resource", "An embedded resource.")],
  test_multiple_content_types: [
    textBlock("A text, an image and a resource."),
    IMAGE_BLOCK,
    textResource("test://mixed-content-resource", JSON.stringify({ kind: "mixed" }), "application/json"),
  ],
};

/** Tells whoever listens that the lists of tools or prompts changed. */
export interface ListNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
}

/** Registers the tools that answer at once, with or without notifications on the way. */
export function registerAnsweringTools(server: McpServer, notifier: () => ListNotifier): void {
  const register = (
    name: string,
    description: string,
    run: (context: ServerContext) => CallToolResult | Promise<CallToolResult>,
  ): void => void server.registerTool(name, { description }, run);

  for (const [name, content] of Object.entries(CONTENT_TOOLS))
    register(name, "Returns fixed content.", () => ({ content: [...content] }));
  register("test_error_handling", "Always fails.", () => {
    throw new Error("It fails, as it should.");
  });
  register("test_tool_with_logging", "Writes three lines to the client's log.", async ({ mcpReq }) => {
    for (const line of ["started", "half done", "done"]) {
      await mcpReq.log("info", line);
      await pause();
    }
    return { content: [textBlock("Logged.")] };
  });
  register("test_logging_tool", "Writes a line to the log of a client that asks for it.", async (context) => {
    await context.mcpReq.log("info", "a line");
    return { content: [textBlock("Logged.")] };
  });
  register("test_tool_with_progress", "Reports its progress three times.", async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 100 },
      });
      await pause();
    }
    return { content: [textBlock("Done.")] };
  });
  register("test_trigger_tool_change", "Tells subscribers that the tools changed.", () => {
    notifier().toolsChanged();
    return { content: [textBlock("Told.")] };
  });
  register("test_trigger_prompt_change", "Tells subscribers that the prompts changed.", () => {
    notifier().promptsChanged();
    return { content: [textBlock("Told.")] };
  });
  registerSchemaTools(server);
}

/** Registers tools whose input schemas are given as JSON Schema. */
function registerSchemaTools(server: McpServer): void {
  const echo = (given: unknown): CallToolResult => ({ content: [textBlock(JSON.stringify(given))] });
  const contact = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  };
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Has a schema with many keywords.", inputSchema: fromJsonSchema(contact) },
    echo,
  );
  const message = { type: "string", "x-mcp-header": "Message" };
  const mirrored = { type: "object", properties: { message }, required: ["message"] };
  server.registerTool(
    "test_custom_header_tool",
    { description: "Has an argument that comes in a header, too.", inputSchema: fromJsonSchema(mirrored) },
    echo,
  );
}

/** Registers the resources, and the handlers of subscriptions of 2025-11-25, which need nothing to be kept. */
export function registerResources(server: McpServer): void {
  const register = (
    name: string,
    mimeType: string,
    content: { readonly text: string } | { readonly blob: string },
  ): void => {
    server.registerResource(
      name,
      `test://${name}`,
      { description: `The ${name}.`, mimeType },
      ({ href }) => ({
        contents: [{ uri: href, mimeType, ...content }],
      }),
    );
  };
  register("static-text", "text/plain", { text: "A text that stays." });
  register("static-binary", PIXEL.mimeType, { blob: PIXEL.data });
  register("watched-resource", "text/plain", { text: "A text to watch." });
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "A resource for each id.", mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [{ uri: href, mimeType: "application/json", text: JSON.stringify({ id, isTemplate: true }) }],
    }),
  );
  const requireResource = ({ params: { uri } }: { readonly params: { readonly uri: string } }): object => {
    if (uri.startsWith("test://")) return {};
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "no such resource");
  };
  server.server.setRequestHandler("resources/subscribe", requireResource);
  server.server.setRequestHandler("resources/unsubscribe", requireResource);
}

/** Registers the prompts. An argument of one of them can be completed. */
export function registerPrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description: "Takes no arguments." }, () => ({
    messages: [userMessage(textBlock("A prompt."))],
  }));
  const first = completable(z.string().describe("The first"), (start) =>
    ["test", "tests", "others"].filter((value) => value.startsWith(start)),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "Takes two arguments.",
      argsSchema: z.object({ arg1: first, arg2: z.string().describe("The second") }),
    },
    ({ arg1, arg2 }) => ({ messages: [userMessage(textBlock(`First ${arg1}, then ${arg2}.`))] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    {
      description: "Embeds a resource.",
      argsSchema: z.object({ resourceUri: z.string().describe("Which") }),
    },
    ({ resourceUri }) => ({
      messages: [
        userMessage(textResource(resourceUri, "An embedded resource.")),
        userMessage(textBlock("Read it.")),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "Has an image." }, () => ({
    messages: [userMessage(IMAGE_BLOCK), userMessage(textBlock("Look at it."))],
  }));
}
