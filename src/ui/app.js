import { isSignedIn, onSignedOut, signIn, signOut } from "./calls.js";
import { conversation } from "./chat.js";
import { knownList } from "./known.js";
import { find, make, say } from "./make.js";
import { keyFromLink, showDoor } from "./sign-in.js";

const USER = "keepsake.user";
const USERS = "keepsake.users";

const state = { user: localStorage.getItem(USER) ?? "me", session: newSession() };

const known = knownList({ user: () => state.user, erased: (receipt) => talk.erased(receipt) });
const talk = conversation({
  user: () => state.user,
  session: () => state.session,
  changed: () => known.refresh(),
});

/** Gives an id for a conversation. `crypto.randomUUID` is missing unless the page is served over TLS or locally. */
function newSession() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function startFresh() {
  state.session = newSession();
  talk.clear();
}

function knownUsers() {
  const kept = JSON.parse(localStorage.getItem(USERS) ?? "[]");
  return Array.isArray(kept) ? kept.map(String) : [];
}

function switchUser(name) {
  state.user = name;
  localStorage.setItem(USER, name);
  const names = [name, ...knownUsers().filter((other) => other !== name)].slice(0, 20);
  localStorage.setItem(USERS, JSON.stringify(names));
  find("user").value = name;
  find("users").replaceChildren(...names.map((value) => make("option", { value })));
  find("memories").replaceChildren();
  startFresh();
  known.refresh();
}

function showRoom(isIn) {
  for (const id of ["room", "who", "actions"]) find(id).hidden = !isIn;
}

function enter() {
  showRoom(true);
  switchUser(state.user);
  find("message").focus();
}

function leave(problem) {
  showRoom(false);
  showDoor(problem, enter);
}

/** Shows one part of the page; on a narrow screen only one is visible. */
function chooseTab(name) {
  for (const part of ["talk", "known"]) {
    const tab = find(`tab-${part}`);
    tab.setAttribute("aria-selected", String(part === name));
    tab.tabIndex = part === name ? 0 : -1;
  }
  find("room").dataset.part = name;
}

for (const [name, other] of [
  ["talk", "known"],
  ["known", "talk"],
]) {
  find(`tab-${name}`).onclick = () => chooseTab(name);
  find(`tab-${name}`).onkeydown = (event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    chooseTab(other);
    find(`tab-${other}`).focus();
  };
}

find("who").onsubmit = (event) => {
  event.preventDefault();
  find("message").focus();
};
find("user").onchange = (event) => {
  const name = event.target.value.trim();
  if (name === "") event.target.value = state.user;
  else if (name !== state.user) {
    switchUser(name);
    say(`Switched to the memory of ${name}.`);
  }
};
find("fresh").onclick = () => {
  startFresh();
  chooseTab("talk");
  find("message").focus();
  say("New conversation.");
};
find("leave").onclick = async () => {
  await signOut().catch(() => {});
  leave();
};
// Other programs write to the same memory, so the list is refreshed when the page becomes visible again.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && !find("room").hidden) known.refresh();
});
onSignedOut(() => leave("You are signed out. Sign in again to continue."));

async function start() {
  const key = keyFromLink();
  try {
    if (key !== undefined) await signIn(key);
    if (await isSignedIn()) enter();
    else leave();
  } catch (error) {
    leave(error.message);
  }
}

chooseTab("talk");
start();
