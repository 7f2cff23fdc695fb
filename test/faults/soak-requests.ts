import type { SoakFact, SoakRequest, SoakUser, SoakWorld } from "./soak-world.ts";

type Send = (world: SoakWorld, user: SoakUser) => Promise<void>;

/** Where another request has taken, changed or erased the same thing in between. */
const OR_GONE = [200, 201, 404, 409, 410, 422];
const QUESTIONS = [
  "What do I use for work?",
  "Where do I live?",
  "Which tools do I use?",
  "What is on my badge?",
  "Do you know my dog?",
];

/** The requests of the load, with the share of each. */
const KINDS: readonly (readonly [number, Send])[] = [
  [20, (world, user) => remember(world, user, 1)],
  [5, (world, user) => remember(world, user, 5)],
  [3, (world, user) => repeat(world, user)],
  [4, add],
  [18, search],
  [8, (world, user) => converse(world, user, { stream: false })],
  [5, (world, user) => converse(world, user, { stream: true })],
  [1, (world, user) => converse(world, user, { stream: true, breakAfter: 1 })],
  [8, (world, user) => chat(world, user, { stream: true })],
  [3, (world, user) => chat(world, user, { stream: false })],
  [2, (world, user) => chat(world, user, { stream: true, breakAfter: 1 })],
  [5, (world, user) => read(world, "list", `${pathOf(user)}?limit=20`)],
  [4, (world, user) => read(world, "profile", `/api/v1/profile/${user.id}`)],
  [2, (world, user) => read(world, "stats", `${pathOf(user)}/stats`)],
  [2, (world, user) => read(world, "history", `/api/v1/history/${user.id}?limit=20`)],
  [1, (world, user) => read(world, "export", `/api/v1/export/${user.id}`)],
  [1, (world, user) => read(world, "sessions", `/api/v1/sessions/${user.id}`)],
  [3, change],
  [2, undo],
  [2, (world, user) => forget(world, user, false)],
  [1, (world, user) => forget(world, user, true)],
  [3, fail],
];
const TOTAL = KINDS.reduce((sum, [weight]) => sum + weight, 0);

/** One request of a random kind. */
export async function sendOne(world: SoakWorld, user: SoakUser): Promise<void> {
  let left = world.draw() * TOTAL;
  for (const [weight, send] of KINDS) {
    left -= weight;
    if (left < 0) return await send(world, user);
  }
}

/** Erases a user with all that they said, once their other requests have ended. */
export async function eraseUser(world: SoakWorld, user: SoakUser): Promise<void> {
  user.isLeaving = true;
  while (user.requestsOpen > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const answer = await world.send(`${pathOf(user)}/all`, { method: "DELETE" });
  const isErased = world.isDone("erase a user", answer);
  // An erasure without an answer may be carried out at any later time, and take what is said until then: this user says no more,
  // and nobody can tell whether the facts should be there.
  world.users.splice(world.users.indexOf(user), 1);
  if (!isErased) return;
  world.erasedUsers.push(user.id);
  for (const fact of user.facts) world.erasedWords.add(fact.word);
}

function pathOf(user: SoakUser): string {
  return `/api/v1/memories/${user.id}`;
}

function pick<T>({ draw }: SoakWorld, from: readonly T[]): T | undefined {
  return from[Math.floor(draw() * from.length)];
}

function sayFact({ word, message }: { word: string; message: string }, number: number): SaidFact {
  const ways = [
    `I use ${word} for work. The day is grey.`,
    `My sister has a boat called ${word}, and I painted it last summer.`,
    `I like ${word}.`,
    `We talked about ${word} for an hour; ${"and so on, ".repeat(20)}and then went home.`,
    `I work with ${word} on Mondays.`,
  ];
  const way = (number + word.charCodeAt(7)) % ways.length;
  return { word, message, content: ways[way] ?? word };
}

type SaidFact = SoakFact & { readonly content: string };

async function remember(
  world: SoakWorld,
  user: SoakUser,
  count: number,
  headers: SoakRequest["headers"] = {},
): Promise<void> {
  const facts = Array.from({ length: count }, (_, i) => sayFact(world.makeFact(), i));
  const messages = facts.map(({ message: id, content }) => ({ id, role: "user", content }));
  const body = { user_id: user.id, session_id: `s-${Math.floor(world.draw() * 3)}`, messages };
  const sending = { method: "POST", body, headers };
  const answer = await world.send("/api/v1/messages", sending);
  if (!world.isDone("remember", answer)) return;
  user.facts.push(...facts);
  const { memories } = JSON.parse(answer.text) as { memories: { id: string; text: string }[] };
  for (const { id, text } of memories) {
    const fact = facts.find(({ word }) => text.includes(word));
    if (fact !== undefined) user.memories.push({ id, word: fact.word });
  }
  if (headers["idempotency-key"] === undefined) return;
  const again = await world.send("/api/v1/messages", sending);
  if (world.isDone("the same again", again, [...OR_GONE]) && again.text !== answer.text)
    world.note("another answer to the same key");
}

function repeat(world: SoakWorld, user: SoakUser): Promise<void> {
  return remember(world, user, 1, { "idempotency-key": `key-${world.makeFact().message}` });
}

async function add(world: SoakWorld, user: SoakUser): Promise<void> {
  const content = `The badge of the user says ${world.makeFact().word}.`;
  const body = { user_id: user.id, content };
  const answer = await world.send("/api/v1/memories", { method: "POST", body });
  if (!world.isDone("add", answer)) return;
  const { receipt } = JSON.parse(answer.text) as { receipt: { revision: number } };
  user.revisions.push(receipt.revision);
}

async function undo(world: SoakWorld, user: SoakUser): Promise<void> {
  const revision = user.revisions.pop();
  if (revision === undefined) return await add(world, user);
  const answer = await world.send(`${pathOf(user)}/undo`, { method: "POST", body: { revision } });
  world.isDone("undo", answer, OR_GONE);
}

async function change(world: SoakWorld, user: SoakUser): Promise<void> {
  const memory = pick(world, user.memories);
  if (memory === undefined) return await remember(world, user, 1);
  const body = { importance: Math.round(world.draw() * 10) / 10 };
  const answer = await world.send(`${pathOf(user)}/${memory.id}`, { method: "PATCH", body });
  world.isDone("change", answer, OR_GONE);
}

async function forget(world: SoakWorld, user: SoakUser, isByWord: boolean): Promise<void> {
  const memory = user.memories.splice(Math.floor(world.draw() * user.memories.length), 1)[0];
  if (memory === undefined) return await remember(world, user, 2);
  const at = user.facts.findIndex(({ word }) => word === memory.word);
  if (at !== -1) user.facts.splice(at, 1);
  const what = isByWord ? { about: memory.word } : { ids: [memory.id] };
  const body = { user_id: user.id, ...what };
  const answer = await world.send("/api/v1/erasures", { method: "POST", body });
  if (!world.isDone("forget", answer, OR_GONE)) return;
  const receipt = JSON.parse(answer.text) as { complete: boolean; erased: { memories: number } };
  // By its id one memory goes; another one of the same sentence may hold the word still.
  if (isByWord && receipt.complete && receipt.erased.memories > 0) world.erasedWords.add(memory.word);
}

async function search(world: SoakWorld, user: SoakUser): Promise<void> {
  const fact = pick(world, user.facts);
  const isPlain = fact === undefined || world.draw() < 0.5;
  const query = isPlain ? pick(world, QUESTIONS) : `Do I use ${fact.word}?`;
  world.isDone("search", await world.send(`${pathOf(user)}/search`, { method: "POST", body: { query } }));
}

interface Streaming {
  readonly stream: boolean;
  readonly breakAfter?: number;
}

async function chat(world: SoakWorld, user: SoakUser, { stream, breakAfter }: Streaming): Promise<void> {
  const messages = [{ role: "user", content: pick(world, QUESTIONS) }];
  const answer = await world.send("/v1/chat/completions", {
    method: "POST",
    body: { model: "gpt-4o-mini", stream, messages },
    headers: { "x-keepsake-user": user.id },
    ...(breakAfter === undefined ? {} : { breakAfter }),
  });
  if (breakAfter !== undefined) return;
  if (world.isDone("chat", answer) && stream && !answer.text.includes("[DONE]")) world.note("a chat cut off");
}

async function converse(world: SoakWorld, user: SoakUser, { stream, breakAfter }: Streaming): Promise<void> {
  const body = { user_id: user.id, message: pick(world, QUESTIONS), stream };
  const broken = breakAfter === undefined ? {} : { breakAfter };
  const answer = await world.send("/api/v1/conversation", { method: "POST", body, ...broken });
  if (breakAfter === undefined) world.isDone("conversation", answer);
}

async function read(world: SoakWorld, what: string, path: string): Promise<void> {
  world.isDone(what, await world.send(path));
}

async function fail(world: SoakWorld, user: SoakUser): Promise<void> {
  const wrongKey = { authorization: "Bearer a-key-that-is-none-0123456789" };
  const ways: readonly (readonly [string, string, SoakRequest, readonly number[]])[] = [
    ["a wrong key", pathOf(user), { headers: wrongKey }, [401]],
    ["half a body", "/api/v1/messages", { method: "POST", body: '{"user_id": "x", "mess' }, [400, 422]],
    ["an unknown field", "/api/v1/messages", { method: "POST", body: { user: "x" } }, [400, 422]],
    ["an unknown id", `${pathOf(user)}/no-such-memory`, {}, [400, 404, 422]],
    ["an unknown address", "/api/v1/nothing", {}, [404]],
    // The server may hang up before all of it was sent.
    ["a large body", "/api/v1/messages", { method: "POST", body: "x".repeat(1_100_000) }, [413, 0]],
  ];
  const [what, path, sending, allowed] = pick(world, ways) ?? ["nothing", "/", {}, []];
  world.isDone(what, await world.send(path, sending), allowed);
}
