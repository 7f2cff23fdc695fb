const PROOF = "keepsake.proof";

/** A failed call. The message is for people. */
export class CallFailed extends Error {
  constructor(message, status) {
    super(message);
    this.name = "CallFailed";
    this.status = status;
  }
}

/** Called when this page is no longer signed in. */
let whenSignedOut = () => {};
export function onSignedOut(run) {
  whenSignedOut = run;
}
// Another tab of this browser has signed out.
addEventListener("storage", ({ key, newValue }) => {
  if (key === PROOF && newValue === null) whenSignedOut();
});

/** Sends a request. Gives the response if it succeeded; throws `CallFailed` otherwise. */
async function send(method, path, { body, type = "application/json", signal, keepalive, key } = {}) {
  const response = await fetch(path, {
    method,
    signal,
    keepalive,
    headers: {
      ...(body === undefined ? {} : { "content-type": type }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
      "x-keepsake-proof": localStorage.getItem(PROOF) ?? "",
    },
    ...(body === undefined ? {} : { body }),
  }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new CallFailed("The server does not answer. Is it running?", 0);
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401 && path !== "/session") whenSignedOut();
  throw new CallFailed(
    problem.detail ?? `The server answered with status ${response.status}.`,
    response.status,
  );
}

async function call(method, path, body, signal) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await send(method, path, { body: text, signal });
  return response.status === 204 ? undefined : response.json();
}

/** A path whose names are encoded: toPath`/api/v1/memories/${user}`. */
function toPath(parts, ...names) {
  return String.raw({ raw: parts }, ...names.map(encodeURIComponent));
}

/** The same with a query, without what is empty. */
function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export async function signIn(key) {
  const { proof } = await call("POST", "/session", { key });
  localStorage.setItem(PROOF, proof);
}

export async function isSignedIn() {
  if (localStorage.getItem(PROOF) === null) return false;
  try {
    await call("GET", "/session");
    return true;
  } catch (error) {
    if (error.status === 401) return false;
    throw error;
  }
}

/** Signs out. This page is signed out also if the server could not be told, which throws. */
export async function signOut() {
  try {
    await call("DELETE", "/session");
  } finally {
    localStorage.removeItem(PROOF);
  }
}

/** Sends one message and gets the reply. With the key of an earlier sending, the server stores it once. */
export async function converse(user, session, message, key) {
  const body = JSON.stringify({ user_id: user, session_id: session, message });
  return (await send("POST", "/api/v1/conversation", { body, key })).json();
}

/** Gives a page of memories. `query` has the parameters of the list. */
export function listMemories(user, query, signal) {
  return call("GET", withQuery(toPath`/api/v1/memories/${user}`, query), undefined, signal);
}

export function getMemory(user, id) {
  return call("GET", toPath`/api/v1/memories/${user}/${id}`);
}

/** Gives all versions of a memory, oldest first. */
export function listVersions(user, id) {
  return readAll((cursor) =>
    call("GET", withQuery(toPath`/api/v1/memories/${user}/${id}/history`, { limit: 1000, cursor })),
  );
}

/** Gives the strongest associations of a memory, at most 200, and their number. */
export function getRelated(user, id) {
  return call(
    "GET",
    withQuery(toPath`/api/v1/memories/${user}/${id}/related`, { limit: 200, status: "all" }),
  );
}

/** Associates a memory with another. `ends` are `{ from, to, type, strength }`. */
export function linkMemories(user, ends) {
  return call("POST", toPath`/api/v1/memories/${user}/links`, ends);
}

export function unlinkMemories(user, ends) {
  return call("DELETE", withQuery(toPath`/api/v1/memories/${user}/links`, ends));
}

/** Gives all stored associations. */
export function listLinks(user) {
  return readAll((cursor) =>
    call("GET", withQuery(toPath`/api/v1/memories/${user}/links`, { limit: 1000, cursor })),
  );
}

/** Counts memories by topic, subject, kind or month (`by`), with the filters of the list. Months are those of the browser's zone. */
export function listFacets(user, query) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return call("GET", withQuery(toPath`/api/v1/memories/${user}/facets`, { zone, ...query }));
}

/** Gives groups of memories by topic, with the memories that are typical of each. */
export function getClusters(user) {
  return call("GET", withQuery(toPath`/api/v1/memories/${user}/clusters`, { limit: 20 }));
}

/**
 * Gives what was said, summed up by month and topic. `by` is whose words: "model" or nothing. A model words at most the newest
 * hundred.
 */
export function getReflections(user, by) {
  const limit = by === "model" ? 100 : 1000;
  return call("GET", withQuery(toPath`/api/v1/memories/${user}/reflections`, { limit, by }));
}

/** Gives the grants that a user gave and received. */
export function listGrants(user) {
  return call("GET", toPath`/api/v1/grants/${user}`);
}

/** The most shared memories that are given at once. */
export const MOST_SHARED = 1000;

/** Gives the newest memories that others let the user read. */
export function listShared(user) {
  return call("GET", withQuery(toPath`/api/v1/shared/${user}`, { limit: MOST_SHARED }));
}

export function giveGrant(user, grant) {
  return call("POST", toPath`/api/v1/grants/${user}`, grant);
}

/** Declines a grant that the user received, or accepts it again. */
export function answerGrant(user, id, declined) {
  return call("PATCH", toPath`/api/v1/grants/${user}/${id}`, { declined });
}

/** Gives the groups that the user made or is in. */
export function listGroups(user) {
  return call("GET", toPath`/api/v1/groups/${user}`);
}

/** Makes a group, or replaces the members of the user's group of that name. */
export function saveGroup(user, group) {
  return call("POST", toPath`/api/v1/groups/${user}`, group);
}

/** Deletes a group of the user; a member leaves it instead. */
export function deleteGroup(user, id) {
  return call("DELETE", toPath`/api/v1/groups/${user}/${id}`);
}

export function withdrawGrant(user, id) {
  return call("DELETE", toPath`/api/v1/grants/${user}/${id}`);
}

export function addMemory(user, fields) {
  return call("POST", "/api/v1/memories", { user_id: user, ...fields });
}

export function changeMemory(user, id, changes) {
  return call("PATCH", toPath`/api/v1/memories/${user}/${id}`, changes);
}

/** Moves a memory to the bin. */
export function binMemory(user, id) {
  return call("DELETE", toPath`/api/v1/memories/${user}/${id}`);
}

/** Finds memories or passages, with the reasons. It leaves no receipt unless `record` is set. */
export function search(user, query, options = {}, signal) {
  const body = { query, explain: true, record: false, ...options };
  return call("POST", toPath`/api/v1/memories/${user}/search`, body, signal);
}

export function explainRecall(user, id) {
  return call("GET", toPath`/api/v1/memories/${user}/recalls/${id}`);
}

export function buildContext(user, request, maxTokens) {
  return call("POST", "/api/v1/context", { user_id: user, request, max_tokens: maxTokens });
}

/** Gives what models were given recently, newest first. */
export function listPrompts(user, query) {
  return call("GET", withQuery(toPath`/api/v1/prompts/${user}`, query));
}

export function undo(user, revision) {
  return call("POST", toPath`/api/v1/memories/${user}/undo`, { revision });
}

export function getStats(user, query = {}) {
  return call("GET", withQuery(toPath`/api/v1/memories/${user}/stats`, query));
}

export function getHistory(user, query) {
  return call("GET", withQuery(toPath`/api/v1/history/${user}`, query));
}

export function getMessage(user, id) {
  return call("GET", toPath`/api/v1/messages/${user}/${id}`);
}

/** Gives a page of the images and recordings of the user's messages. */
export function listAttachments(user, query) {
  return call("GET", withQuery(toPath`/api/v1/attachments/${user}`, query));
}

/** Stores a file as a message of the user. `query` has its description and the words that go with it. */
export async function addAttachment(user, file, query) {
  const options = { body: file, type: file.type };
  return (await send("POST", withQuery(toPath`/api/v1/attachments/${user}`, query), options)).json();
}

/** Erases an image or a recording, and what describes it. */
export function eraseAttachment(user, id) {
  return call("DELETE", toPath`/api/v1/attachments/${user}/${id}`);
}

/** Keeps a user's memories in order, or shows with `dry_run` what that would do. */
export function optimize(user, query) {
  return call("POST", withQuery(toPath`/api/v1/memories/${user}/optimize`, query));
}

export function getEmbedder(user) {
  return call("GET", toPath`/api/v1/embedders/${user}`);
}

/** Chooses an embedder for a user; without a name, that of the project applies again. */
export function chooseEmbedder(user, embedder) {
  const path = toPath`/api/v1/embedders/${user}`;
  return embedder === undefined ? call("DELETE", path) : call("PUT", path, { embedder });
}

/** Gives the bytes of an image or a recording. */
export async function getAttachmentContent(user, id) {
  return (await send("GET", toPath`/api/v1/attachments/${user}/${id}/content`)).blob();
}

export function listSessions(user, query) {
  return call("GET", withQuery(toPath`/api/v1/sessions/${user}`, query));
}

export function getSession(user, id, query) {
  return call("GET", withQuery(toPath`/api/v1/sessions/${user}/${id}`, query));
}

/** Gives the plan of an erasure; erases nothing. `what` is `{ ids }`, `{ about }`, `{ session_id }`… */
export function planErasure(user, what) {
  return call("POST", "/api/v1/erasures", { user_id: user, ...what, dry_run: true });
}

export function erase(user, what) {
  return call("POST", "/api/v1/erasures", { user_id: user, ...what });
}

/** Erases everything about a user. With `keepalive`, the request outlives the page. Gives the receipt. */
export async function eraseUser(user, { keepalive = false } = {}) {
  return (await send("DELETE", toPath`/api/v1/memories/${user}/all`, { keepalive })).json();
}

/** Gives all receipts of the user, oldest first. */
export function listReceipts(user) {
  return readAll((cursor) =>
    call("GET", withQuery("/api/v1/erasures", { user_id: user, limit: 1000, cursor })),
  );
}

/** Gives the items of all pages. */
export async function readAll(readPage) {
  const items = [];
  let cursor;
  do {
    const page = await readPage(cursor);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

/** Gives the names of the first users that the key may see, at most a thousand, and the number of all; none if it may not list them. */
export async function listUsers() {
  const { items, total } = await call("GET", "/api/v1/users?limit=1000").catch(() => ({
    items: [],
    total: 0,
  }));
  return { names: items.map(({ user_id }) => user_id), total };
}

/** Gives the OpenAPI document of the server. */
export function getApiDocument() {
  return call("GET", "/openapi.json");
}

/** Sends a request with the key of the page, and gives the answer as it is, also one that says what failed. */
export async function sendAsIs(method, path, body) {
  const start = performance.now();
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "x-keepsake-proof": localStorage.getItem(PROOF) ?? "",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, text, milliseconds: Math.round(performance.now() - start) };
}

export function getHealth() {
  return call("GET", "/api/v1/health");
}

export function listJobs() {
  return call("GET", "/api/v1/jobs");
}

/** Gives the settings in force, without secrets. Only for an administrator's key. */
export function listSettings() {
  return call("GET", "/api/v1/settings");
}

/** Gives the keys of the project, without secrets. Only for an administrator's key. */
export function listKeys() {
  return call("GET", "/api/v1/keys");
}

/** Makes a key. The answer has its secret, this once. */
export function createKey(fields) {
  return call("POST", "/api/v1/keys", fields);
}

export function revokeKey(id) {
  return call("DELETE", toPath`/api/v1/keys/${id}`);
}

/** Gives an export: `jsonl` has everything, `pam` and `markdown` have the memories. */
export async function exportUser(user, format) {
  return (await send("GET", withQuery(toPath`/api/v1/export/${user}`, { format }))).blob();
}

/** Imports a file, or tries it with `dry_run`. The browser sends the file as a stream. `query` has the parameters of the import. */
export async function importFile(user, file, query, signal) {
  const options = { body: file, type: "application/octet-stream", signal };
  return (await send("POST", withQuery(toPath`/api/v1/import/${user}`, query), options)).json();
}
