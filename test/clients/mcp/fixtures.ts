import * as sdk from "@modelcontextprotocol/server";
import {
  type ListNotifier,
  registerAnsweringTools,
  registerPrompts,
  registerResources,
} from "./fixture-answers.ts";
import { registerQuestions, stateCodec } from "./fixture-questions.ts";

// The package `@modelcontextprotocol/server` with a server that also has the fixtures of the conformance suite. `with-fixtures.ts`
// puts it in the place of the package, so that all else is the program that people run: its routes, keys, limits and handlers.

const CHANGING = { listChanged: true } as const;

/** Tells subscribers over HTTP. Over stdin and stdout there are none in the suite. */
let notifier: ListNotifier | undefined;

/** A server with the fixtures of the conformance suite, besides what its owner registers. */
class FixtureServer extends sdk.McpServer {
  constructor(info: sdk.Implementation, options: sdk.McpServerOptions = {}) {
    super(info, {
      ...options,
      capabilities: {
        ...options.capabilities,
        tools: CHANGING,
        prompts: CHANGING,
        resources: { ...CHANGING, subscribe: true },
        logging: {},
        completions: {},
      },
      // What the tools of a memory send through the client is another thing: they check it themselves.
      requestState: {
        verify: (state, context) => (state.startsWith("v1.") ? stateCodec.verify(state, context) : state),
      },
    });
    const silent: ListNotifier = { toolsChanged() {}, promptsChanged() {} };
    registerAnsweringTools(this, () => notifier ?? silent);
    registerResources(this);
    registerPrompts(this);
    registerQuestions(this);
  }
}

/** Creates the handler of the package, and keeps what tells its subscribers of changes. */
function createHandler(
  ...[factory, options]: Parameters<typeof sdk.createMcpHandler>
): ReturnType<typeof sdk.createMcpHandler> {
  const handler = sdk.createMcpHandler(factory, options);
  notifier = handler.notify;
  return handler;
}

export * from "@modelcontextprotocol/server";
export { createHandler as createMcpHandler, FixtureServer as McpServer };
