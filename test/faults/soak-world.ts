import { Agent, request } from "node:http";

/** A message whose write was acknowledged, by the one word that nothing else holds. */
export interface SoakFact {
  readonly word: string;
  readonly message: string;
}

export interface SoakUser {
  readonly id: string;
  readonly facts: SoakFact[];
  /** Ids of memories that were seen, to change and erase. */
  readonly memories: { readonly id: string; readonly word: string }[];
  /** Revisions that may be taken back. */
  readonly revisions: number[];
  turns: number;
  requestsOpen: number;
  isLeaving: boolean;
}

export interface SoakAnswer {
  /** 0 where none came. */
  readonly status: number;
  readonly text: string;
}

export interface SoakRequest {
  readonly method?: string;
  readonly body?: object | string;
  readonly headers?: { readonly [name: string]: string };
  /** Breaks the connection off after so many characters of the answer. */
  readonly breakAfter?: number;
}

/** What the load knows: who is there, what was acknowledged, and what came that nobody expected. */
export interface SoakWorld {
  readonly draw: () => number;
  readonly users: SoakUser[];
  readonly erasedUsers: string[];
  readonly erasedWords: Set<string>;
  readonly unexpected: { [what: string]: number };
  send(path: string, sending?: SoakRequest): Promise<SoakAnswer>;
  /** Whether it was done; notes a status that is not allowed. */
  isDone(what: string, answer: SoakAnswer, allowed?: readonly number[]): boolean;
  note(what: string): void;
  makeFact(): Pick<SoakFact, "word" | "message">;
  arrive(): SoakUser;
  hangUp(): void;
}

export const MOST_OPEN = 48;
const DONE = [200, 201];
const LETTERS = "abcdefghijklmnopqrstuvwyz";
/** The words of facts, which are in no language. */
export const WORD: RegExp = /zq[a-z]{6}xv/gi;

export function makeSoakWorld(
  server: { readonly url: string; readonly key: string },
  draw: () => number,
): SoakWorld {
  const newAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: MOST_OPEN });
  let agent = newAgent();
  let numbered = 0;
  const users: SoakUser[] = [];
  const unexpected: { [what: string]: number } = {};
  const note = (what: string): void => {
    unexpected[what] = (unexpected[what] ?? 0) + 1;
  };
  return {
    draw,
    users,
    erasedUsers: [],
    erasedWords: new Set(),
    unexpected,
    send: (path, sending = {}) => exchange({ ...server, agent }, path, sending),
    isDone(what, { status }, allowed = DONE) {
      if (!allowed.includes(status)) note(`${what} ${status}`);
      return DONE.includes(status);
    },
    note,
    makeFact() {
      numbered += 1;
      const digits = [...numbered.toString(25).padStart(6, "0")];
      const letters = digits.map((digit) => LETTERS[Number.parseInt(digit, 25)]).join("");
      // An id stays where what was said is erased: it may not hold the word.
      return { word: `Zq${letters}xv`, message: `m-${numbered}` };
    },
    arrive() {
      numbered += 1;
      const user: SoakUser = {
        id: `guest-${numbered}`,
        facts: [],
        memories: [],
        revisions: [],
        turns: 0,
        requestsOpen: 0,
        isLeaving: false,
      };
      users.push(user);
      return user;
    },
    hangUp() {
      agent.destroy();
      agent = newAgent();
    },
  };
}

function exchange(
  { url, key, agent }: { readonly url: string; readonly key: string; readonly agent: Agent },
  path: string,
  { method = "GET", body, headers = {}, breakAfter = Number.POSITIVE_INFINITY }: SoakRequest,
): Promise<SoakAnswer> {
  return new Promise((resolve) => {
    let text = "";
    const options = {
      agent,
      method,
      timeout: 60_000,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    };
    const asking = request(`${url}${path}`, options, (answer) => {
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
        if (text.length >= breakAfter) asking.destroy();
      });
      answer.on("error", () => {});
      answer.on("close", () => resolve({ status: answer.complete ? (answer.statusCode ?? 0) : 0, text }));
    });
    asking.on("timeout", () => asking.destroy(new Error("timeout")));
    asking.on("error", () => resolve({ status: 0, text }));
    if (body === undefined) asking.end();
    else asking.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}
