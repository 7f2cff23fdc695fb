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

async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "x-keepsake-proof": localStorage.getItem(PROOF) ?? "",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new CallFailed("The server does not answer. Is it running?", 0);
  });
  if (response.status === 204) return undefined;
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (response.status === 401 && path !== "/session") whenSignedOut();
  throw new CallFailed(
    answer.detail ?? `The server answered with status ${response.status}.`,
    response.status,
  );
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

export async function signOut() {
  await call("DELETE", "/session");
  localStorage.removeItem(PROOF);
}

const memoriesOf = (user) => `/api/v1/memories/${encodeURIComponent(user)}`;

/** Sends one message and gets the reply. */
export function converse(user, session, message) {
  return call("POST", "/api/v1/conversation", { user_id: user, session_id: session, message });
}

export function listMemories(user, { status, cursor, limit }) {
  const query = new URLSearchParams({ status, limit: String(limit), ...(cursor ? { cursor } : {}) });
  return call("GET", `${memoriesOf(user)}?${query}`);
}

export function undo(user, revision) {
  return call("POST", `${memoriesOf(user)}/undo`, { revision });
}

/** Gives the plan of an erasure; erases nothing. `what` is `{ ids }` or `{ about }`. */
export function planErasure(user, what) {
  return call("POST", "/api/v1/erasures", { user_id: user, ...what, dry_run: true });
}

export function erase(user, what) {
  return call("POST", "/api/v1/erasures", { user_id: user, ...what });
}
