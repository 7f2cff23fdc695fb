import { person } from "../speed/made-up.ts";
import type { OneRequest } from "./asking.ts";
import { chainOf, flatNumbers, flatObjects, imageChat, nested, prose, turnsOf } from "./bodies.ts";

/** A thing that one user does, and that nobody else should notice. */
export interface StallCase {
  readonly name: string;
  /** For people, on the page. */
  readonly title: string;
  /** What of the server's file it uses: none, or a user of 100,000 memories, which it may erase. */
  readonly needs?: "large user" | "large user, erased" | "small memory";
  /** Waves, one after the other; the requests of one are sent at once. */
  requests(): readonly (readonly OneRequest[])[];
}

const MEGABYTE = 1_000_000;
const BIG = encodeURIComponent(person(1).name);
const HEAVY = "heavy";

const chat = (body: string | Buffer): OneRequest => ({ method: "POST", path: "/v1/chat/completions", body });
const post = (path: string, body: object): OneRequest => ({
  method: "POST",
  path,
  body: JSON.stringify(body),
});
const get = (path: string): OneRequest => ({ method: "GET", path });
const chatOf = (content: unknown): string =>
  JSON.stringify({ model: "stub", user: HEAVY, messages: [{ role: "user", content }] });
const told = (content: string): OneRequest =>
  post("/api/v1/messages", { user_id: HEAVY, messages: [{ role: "user", content }] });

/** One long sentence of a kind that rules might stumble over, told, said and asked to be forgotten. */
function sentence(name: string, title: string, text: () => string): StallCase {
  return {
    name,
    title,
    requests: () => {
      const said = text();
      return [
        [told(said)],
        [post("/message", { userId: HEAVY, message: said })],
        [post("/forget", { userId: HEAVY, message: `Forget ${said}` })],
        [chat(chatOf(said))],
      ];
    },
  };
}

const LONG = 100_000;

/** All cases, in the order of the page. */
export const CASES: readonly StallCase[] = [
  {
    name: "nested",
    title: "a chat with 10 MB of nested arrays, and of nested objects",
    requests: () => [[chat(nested(10 * MEGABYTE, "[", "]"))], [chat(nested(10 * MEGABYTE, '{"a":', "}"))]],
  },
  {
    name: "flat-numbers",
    title: "a chat with 10 MB of numbers in one array",
    requests: () => [[chat(flatNumbers(10 * MEGABYTE))]],
  },
  {
    name: "flat-objects",
    title: "a chat with 10 MB of small objects",
    requests: () => [[chat(flatObjects(10 * MEGABYTE))]],
  },
  {
    name: "flat-string",
    title: "a chat whose text has 10 MB",
    requests: () => [[chat(chatOf(prose(10 * MEGABYTE)))]],
  },
  {
    name: "image",
    title: "a chat with an image of 8 MB, which passes",
    requests: () => [[chat(imageChat(HEAVY, 8 * MEGABYTE))]],
  },
  {
    name: "turns",
    title: "a chat of 300,000 turns",
    requests: () => [[chat(turnsOf(HEAVY, 300_000))]],
  },
  {
    name: "long-chat",
    title: "a chat of 3,000 turns, which passes",
    requests: () => [[chat(turnsOf(HEAVY, 3000))]],
  },
  {
    name: "responses",
    title: "10 MB nested, and 300,000 turns, to /v1/responses",
    requests: () => [
      [{ ...chat(nested(10 * MEGABYTE, "[", "]")), path: "/v1/responses" }],
      [{ ...chat(turnsOf(HEAVY, 300_000, "input")), path: "/v1/responses" }],
    ],
  },
  {
    name: "api-nested",
    title: "1 MB nested, and 1 MB of numbers, to /api/v1/messages",
    requests: () => [
      [{ ...chat(nested(MEGABYTE, "[", "]")), path: "/api/v1/messages" }],
      [{ ...chat(flatNumbers(MEGABYTE)), path: "/api/v1/messages" }],
      [{ ...chat(flatObjects(MEGABYTE)), path: "/api/v1/messages" }],
    ],
  },
  {
    name: "text-chat",
    title: "a text of 1 MB in a chat",
    requests: () => [[chat(chatOf(prose(MEGABYTE)))]],
  },
  {
    name: "text-messages",
    title: "a text of 1 MB to /api/v1/messages",
    requests: () => [[told(prose(MEGABYTE))]],
  },
  {
    name: "text-message",
    title: "a text of 1 MB to /message",
    requests: () => [[post("/message", { userId: HEAVY, message: prose(MEGABYTE) })]],
  },
  {
    name: "text-conversation",
    title: "a text of 1 MB to /api/v1/conversation",
    requests: () => [[post("/api/v1/conversation", { user_id: HEAVY, message: prose(MEGABYTE) })]],
  },
  {
    name: "many-messages",
    title: "1,000 messages of 900 bytes to /api/v1/messages",
    requests: () => {
      const messages = Array.from({ length: 1000 }, (_, i) => ({ role: "user", content: prose(900, i) }));
      return [[post("/api/v1/messages", { user_id: HEAVY, messages })]];
    },
  },
  sentence("commas", "a sentence of 100 KB with commas", () =>
    chainOf(LONG, "I like ", (i) => `thing${i}, `),
  ),
  sentence("ands", "a sentence of 100 KB with “I use a and b and …”", () =>
    chainOf(LONG, "I use ", (i) => `Tool${i} and `),
  ),
  sentence("quotes", "100 KB of nested quotes", () =>
    chainOf(LONG, "I said ", (i) => (i % 2 ? "“a ‘" : '"b ')),
  ),
  sentence("brackets", "100 KB of brackets", () => chainOf(LONG, "I live in ", () => "(a [b (")),
  sentence("one-word", "one word of 100 KB", () => `I like ${"x".repeat(LONG)}.`),
  sentence("spaces", "100 KB of blanks, tabs and line breaks", () =>
    chainOf(LONG, "I like", (i) => (i % 50 ? " \t" : "\n \n")),
  ),
  sentence("dots", "100 KB of full stops, hyphens and apostrophes", () =>
    chainOf(LONG, "I don't ", (i) => (i % 3 ? ".-'" : "a.b-c'd ")),
  ),
  sentence("digits", "100 KB of digits, dates and amounts", () =>
    chainOf(LONG, "I owe ", (i) => `${i}1,234.5 USD on 1/2/2024 `),
  ),
  sentence("emoji", "100 KB of emoji joined by ZWJ", () => chainOf(LONG, "I am ", () => "👩‍👩‍👧‍👦‍")),
  {
    name: "query",
    title: "a search with a query of 1 MB",
    requests: () => [[post(`/api/v1/memories/${HEAVY}/search`, { query: prose(MEGABYTE) })]],
  },
  {
    name: "forget-text",
    title: "a request to forget with a text of 1 MB",
    requests: () => [[post("/forget", { userId: HEAVY, message: prose(MEGABYTE) })]],
  },
  {
    name: "where",
    title: "a filter that is nested 30 levels deep, and one of 50,000 conditions",
    requests: () => {
      let deep: object = { a: 1 };
      for (let level = 0; level < 14; level += 1) deep = { $and: [deep] };
      const wide = { $or: Array.from({ length: 20_000 }, (_, i) => ({ [`field${i}`]: i })) };
      return [deep, wide].map((where) => [
        post(`/api/v1/memories/${HEAVY}/search`, { query: "What do I use?", where }),
      ]);
    },
  },
  {
    name: "slow-senders",
    title: "100 requests whose bodies come byte by byte",
    requests: () => {
      const body = chatOf(prose(10_000));
      const slowly = { everyMs: 50, leaveMs: 1500 };
      return [Array.from({ length: 100 }, () => ({ ...chat(body), slowly }))];
    },
  },
  {
    name: "four-bodies",
    title: "four chats of 10 MB nested, and four of 10 MB text, at once",
    needs: "small memory",
    requests: () => {
      const body = nested(10 * MEGABYTE, "[", "]");
      const text = chatOf(prose(10 * MEGABYTE));
      return [Array.from({ length: 4 }, () => chat(body)), Array.from({ length: 4 }, () => chat(text))];
    },
  },
  {
    name: "large-search",
    title: "the first search of a user of 100,000 memories",
    needs: "large user",
    requests: () => [[post(`/api/v1/memories/${BIG}/search`, { query: person(1).question(7, 100_000) })]],
  },
  {
    name: "large-profile",
    title: "the profile of a user of 100,000 memories",
    needs: "large user",
    requests: () => [[get(`/api/v1/profile/${BIG}`)], [get(`/api/v1/profile/${BIG}?max_tokens=1000`)]],
  },
  {
    name: "large-list",
    title: "pages of 1,000 memories, the counts and the history of the same",
    needs: "large user",
    requests: () => [
      [get(`/api/v1/memories/${BIG}?limit=1000`)],
      [get(`/api/v1/memories/${BIG}/stats`)],
      [get(`/api/v1/history/${BIG}?limit=1000`)],
    ],
  },
  {
    name: "large-chat",
    title: "a chat and a message of the same",
    needs: "large user",
    requests: () => [
      [
        chat(
          JSON.stringify({
            model: "stub",
            user: person(1).name,
            messages: [{ role: "user", content: person(1).question(9, 100_000) }],
          }),
        ),
      ],
      [post("/message", { userId: person(1).name, message: "I moved to Porto." })],
    ],
  },
  {
    name: "large-export",
    title: "the export of the same",
    needs: "large user",
    requests: () => [[get(`/api/v1/export/${BIG}`)]],
  },
  {
    name: "erase-one",
    title: "the erasure of one item of a user of 100,000 memories",
    needs: "large user, erased",
    requests: () => [[post("/forget", { userId: person(1).name, message: person(1).said(5).content })]],
  },
  {
    name: "erase-all",
    title: "the erasure of a user of 100,000 memories",
    needs: "large user, erased",
    requests: () => [[{ method: "DELETE", path: `/api/v1/memories/${BIG}/all` }]],
  },
];
