import { Agent, request } from "node:http";

/** A request that was made, and what came of it. Times are milliseconds of `performance.now()`. */
export interface LoadRequest {
  readonly kind: "write" | "search" | "stream";
  readonly user: string;
  /** Of the message that it stored, where it is a write. */
  readonly message: string;
  readonly sentAt: number;
  readonly endedAt: number;
  /** 0 where no answer came. */
  readonly status: number;
  /** Whether the answer came to its proper end. */
  readonly isWhole: boolean;
  readonly error?: string;
}

export interface Load {
  readonly made: LoadRequest[];
  /** Ends when every request has ended; none is begun from now on. */
  stop(): Promise<void>;
}

const CLIENTS = 8;
const USERS = 12;

/**
 * Clients that go on asking until they are stopped: writes, searches and streamed conversations, each with connections of its own that
 * are kept alive, and with messages whose ids tell them apart.
 */
export function load(
  { url, key }: { url: string; key: string },
  mark: string,
  kinds: readonly LoadRequest["kind"][] = ["write", "search", "write", "stream"],
): Load {
  const made: LoadRequest[] = [];
  let isStopped = false;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let number = 0; !isStopped; number += 1) {
      const kind = kinds[(number + client) % kinds.length] ?? "write";
      const user = `user-${(number * 5 + client) % USERS}`;
      const message = `${mark}-${client}-${number}`;
      const one = await ask({ url, key, agent }, kind, user, message);
      made.push(one);
      // The server is gone: whoever asks again at once only burns time.
      if (one.status === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    agent.destroy();
  });
  return {
    made,
    async stop() {
      isStopped = true;
      await Promise.all(clients);
    },
  };
}

function ask(
  { url, key, agent }: { url: string; key: string; agent: Agent },
  kind: LoadRequest["kind"],
  user: string,
  message: string,
): Promise<LoadRequest> {
  const content = `I use Tool${message.replaceAll("-", "x")} for work. The day is grey.`;
  const { path, body } = {
    write: {
      path: "/api/v1/messages",
      body: { user_id: user, messages: [{ id: message, role: "user", content }] },
    },
    search: { path: `/api/v1/memories/${user}/search`, body: { query: "What do I use for work?" } },
    stream: {
      path: "/api/v1/conversation",
      body: { user_id: user, message: "What do I use?", stream: true },
    },
  }[kind];
  const sentAt = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, isWhole: boolean, error?: string): void => {
      const endedAt = performance.now();
      resolve({
        kind,
        user,
        message,
        sentAt,
        endedAt,
        status,
        isWhole,
        ...(error === undefined ? {} : { error }),
      });
    };
    const asked = request(
      `${url}${path}`,
      {
        agent,
        method: "POST",
        timeout: 30_000,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => {
          text += part;
        });
        answer.on("close", () => {
          const { statusCode = 0, complete } = answer;
          end(statusCode, complete && isEnded(kind, statusCode, text), complete ? undefined : "cut");
        });
        answer.on("error", () => {});
      },
    );
    asked.on("timeout", () => asked.destroy(new Error("timeout")));
    asked.on("error", (error: NodeJS.ErrnoException) => end(0, false, error.code ?? error.message));
    asked.end(JSON.stringify(body));
  });
}

/** A stream says when it has ended, JSON is whole or none. */
function isEnded(kind: LoadRequest["kind"], status: number, text: string): boolean {
  if (kind === "stream" && status === 200) return /event: (?:done|error)|data: \[DONE\]/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
