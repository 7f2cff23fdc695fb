import type {
  JsonObject,
  SessionStateChanges,
  SessionStateField,
} from "../../../domain/conversation/session-state.ts";
import type { ActiveSessionState } from "../../../engine/api/session-types.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../../printer.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../../with-memory.ts";

interface SessionListOptions extends CommonOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Prints the user's conversations, the last used first. */
export async function runSessionList({ limit, cursor, ...options }: SessionListOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const page = await memory.sessions({
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    print.result(page, () =>
      formatTable(
        page.items.map(({ id, messages, from, to }) => [
          toShortLine(id, 60),
          formatCount(messages, "message"),
          formatDay(from) === formatDay(to) ? formatDay(to) : `${formatDay(from)} to ${formatDay(to)}`,
        ]),
      ),
    );
    if (page.total === 0) print.note("No sessions found.");
    if (page.cursor !== undefined)
      print.note(`${page.items.length} of ${page.total}. Next page: --cursor ${page.cursor}`);
    return EXIT.done;
  });
}

interface SessionStateOptions extends CommonOptions {
  readonly topic?: string;
  readonly context?: JsonObject;
  readonly preferences?: JsonObject;
  readonly drop?: readonly SessionStateField[];
}

/** Starts a session: gives it a state for a day. */
export async function runSessionStart(id: string | undefined, options: SessionStateOptions): Promise<void> {
  const { topic, context, preferences } = options;
  await withSessionStates(options, async ({ memory, print }) => {
    const state = await memory.startSession({
      ...(id === undefined ? {} : { id }),
      ...(topic === undefined ? {} : { topic }),
      ...(context === undefined ? {} : { context }),
      ...(preferences === undefined ? {} : { preferences }),
    });
    print.result(state, () => formatState(state));
  });
}

/** Prints the state of a session. */
export async function runSessionShow(id: string, options: CommonOptions): Promise<void> {
  await withSessionStates(options, async ({ memory, print }) => {
    const state = await memory.sessionState(id);
    print.result(state, () => formatState(state));
  });
}

/** Changes fields of the state of a session, or removes them. */
export async function runSessionUpdate(id: string, options: SessionStateOptions): Promise<void> {
  const { topic, context, preferences, drop = [] } = options;
  const changes: SessionStateChanges = {
    ...Object.fromEntries(drop.map((field) => [field, null])),
    ...(topic === undefined ? {} : { topic }),
    ...(context === undefined ? {} : { context }),
    ...(preferences === undefined ? {} : { preferences }),
  };
  await withSessionStates(options, async ({ memory, print }) => {
    if (Object.keys(changes).length === 0)
      throw invalid("name what to change: --topic, --context, --preferences or --drop.");
    const state = await memory.updateSession(id, changes);
    print.result(state, () => formatState(state));
  });
}

/** Ends a session: its state is deleted, its messages stay. */
export async function runSessionEnd(id: string, options: CommonOptions): Promise<void> {
  await withSessionStates(options, async ({ memory, print }) => {
    // Throws `not_found` for a session without a state.
    await memory.sessionState(id);
    await memory.endSession(id);
    print.result({ id, ended: true }, () => ["Ended. Its messages stay in the memory."]);
  });
}

/** Runs a command on states of sessions. Throws `unsupported` if they would end with it. */
async function withSessionStates(
  options: CommonOptions,
  command: (context: CommandContext) => Promise<void>,
): Promise<void> {
  await withMemory(options, "reads", async (context) => {
    if (context.settings.backends?.sessions !== "redis")
      throw new MemoryError(
        "unsupported",
        "the state of a session ends with the process that keeps it. Set REDIS_URL, so that commands and servers share it.",
      );
    await command(context);
    return EXIT.done;
  });
}

function formatState({ id, topic, context, preferences, expiresAt }: ActiveSessionState): string[] {
  const rows: (readonly [string, string | undefined])[] = [
    ["session", id],
    ["topic", topic],
    ["context", context && JSON.stringify(context)],
    ["preferences", preferences && JSON.stringify(preferences)],
    ["expires", expiresAt],
  ];
  return formatTable(
    rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, toShortLine(value)]])),
  );
}
