import { getStats, isSignedIn, listMemories, listUsers, onSignedOut, signIn, signOut } from "./calls.js";
import { conversation } from "./chat/chat.js";
import { knownList } from "./chat/known.js";
import { onErased } from "./erasure/forget.js";
import { drawNavigation, markPage, showCount } from "./frame/navigation.js";
import { listenToKeys, showKeys } from "./frame/shortcuts.js";
import { keyFromLink, showDoor } from "./frame/sign-in.js";
import { dropEditDrafts } from "./memories/edit-drafts.js";
import { find, make, makeId, say } from "./parts/make.js";
import { goTo, linkTo, parseRoute } from "./parts/router.js";
import { number } from "./parts/words.js";
import { createViews } from "./views.js";

const USER = "keepsake.user";
const USERS = "keepsake.users";

/** Who is shown if nobody was chosen. */
const NOBODY = "me";

/** The user of this tab; in a new tab, the one chosen last. */
const state = {
  user: sessionStorage.getItem(USER) ?? localStorage.getItem(USER) ?? NOBODY,
  session: newSession(),
};
/** The views of the current user, made when they are first shown, and the one that is shown. */
let views = new Map();
let view;

const known = knownList({ user: () => state.user, erased: (receipt) => talk.erased(receipt) });
const talk = conversation({
  user: () => state.user,
  session: () => state.session,
  changed: () => changed(),
  started: () => sessionStorage.setItem(sessionKey(), state.session),
});

/** Gives an id for a conversation. */
function newSession() {
  return `page-${makeId()}`;
}

/** Runs after anything that may have changed a memory. Views that are not shown are made anew: they may hold erased words. */
function changed() {
  for (const [name, one] of views) if (one !== view) views.delete(name);
  refreshKnown();
  countWaiting();
}

let isKnownStale = true;
/** Reads the chat's list of memories again. While another page is shown, the list is empty, and is read when the chat is shown. */
function refreshKnown() {
  isKnownStale = find("room").hidden;
  if (isKnownStale) known.clear();
  else known.refresh();
}

/** Shows how many memories wait for a decision. */
async function countWaiting() {
  const { user } = state;
  try {
    const [aside, { review }] = await Promise.all([
      listMemories(user, { status: "current", quarantined: true, limit: 1 }),
      getStats(user),
    ]);
    if (user === state.user) showCount("decide", aside.total + review);
  } catch {
    // The number is a hint. What has failed is said where it is needed.
  }
}

const sessionKey = () => `keepsake.session.${state.user}`;

function startFresh() {
  state.session = newSession();
  sessionStorage.removeItem(sessionKey());
  talk.clear();
}

/** Goes on with the conversation that this tab had with the user, so that nothing is gone after a reload. */
function resumeLast() {
  const session = sessionStorage.getItem(sessionKey());
  if (session === null) return startFresh();
  state.session = session;
  talk.resume(session);
}

function continueIn(session) {
  state.session = session;
  sessionStorage.setItem(sessionKey(), session);
  talk.resume(session);
  goTo("#/");
}

function knownUsers() {
  const kept = JSON.parse(localStorage.getItem(USERS) ?? "[]");
  return Array.isArray(kept) ? kept.map(String) : [];
}

function offerUsers(names) {
  find("users").replaceChildren(...[...new Set(names)].map((value) => make("option", { value })));
}

/** Says below the field how many users it does not suggest; nothing if it suggests all. */
function noteMoreUsers(shown, total) {
  find("users-note").hidden = total <= shown;
  find("users-note").textContent =
    total > shown
      ? `${number(shown)} of ${number(total)} users are suggested. Type any other name in full.`
      : "";
}

function switchUser(name) {
  state.user = name;
  sessionStorage.setItem(USER, name);
  localStorage.setItem(USER, name);
  const names = [name, ...knownUsers().filter((other) => other !== name)].slice(0, 20);
  localStorage.setItem(USERS, JSON.stringify(names));
  find("user").value = name;
  offerUsers(names);
  listUsers().then((others) => {
    if (state.user !== name) return;
    offerUsers([...names, ...others.names]);
    noteMoreUsers(others.names.length, others.total);
  });
  forgetScreen();
  resumeLast();
  changed();
}

const factories = createViews({
  user: () => state.user,
  changed,
  continueIn,
});

function showChat() {
  view = undefined;
  if (isKnownStale) refreshKnown();
}

function showView(name, route) {
  if (!views.has(name)) views.set(name, factories[name]());
  view = views.get(name);
  if (view.element.parentNode !== find("view")) find("view").replaceChildren(view.element);
  view.show(route);
}

/** Shows the place that the address names. */
function showPlace({ isFirst = false } = {}) {
  const route = parseRoute(location.hash);
  const name = route.name in factories ? route.name : "";
  const before = view;
  if (before && before !== views.get(name)) before.leave?.().catch(() => {});
  find("room").hidden = name !== "";
  find("view").hidden = name === "";
  markPage(name);
  if (name === "") showChat();
  else showView(name, route);
  document.title = view ? `${view.title} · Keepsake` : "Keepsake";
  if (view !== before && !isFirst) (view?.element.querySelector("h2") ?? find("message")).focus();
  else if (isFirst && !view) find("message").focus();
}

function showPage(isIn) {
  for (const id of ["who", "actions", "nav"]) find(id).hidden = !isIn;
  if (!isIn) for (const id of ["room", "view"]) find(id).hidden = true;
}

function enter() {
  showPage(true);
  switchUser(state.user);
  showPlace({ isFirst: true });
}

function leave(problem) {
  showPage(false);
  forgetScreen();
  showDoor(problem, enter);
}

/** Takes everything of the user off the page. */
function forgetScreen() {
  views = new Map();
  view = undefined;
  find("dialog").close();
  for (const id of ["view", "memories", "log", "toasts", "dialog", "said"]) find(id).replaceChildren();
}

/** Takes everything that names a person off this browser: names, drafts, conversations, and the address. */
function forgetPeople() {
  talk.leave();
  for (const key of [USER, USERS]) localStorage.removeItem(key);
  sessionStorage.clear();
  state.user = NOBODY;
  state.session = newSession();
  for (const id of ["user", "forget-what"]) find(id).value = "";
  find("users").replaceChildren();
  noteMoreUsers(0, 0);
  history.replaceState(null, "", location.pathname);
  document.title = "Keepsake";
}

/** Shows one part of the chat; on a narrow screen only one is visible. */
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
  find("user").blur();
};
find("user").onchange = (event) => {
  const name = event.target.value.trim();
  if (name === "") event.target.value = state.user;
  else if (name !== state.user) {
    switchUser(name);
    // What the address names beyond the page is of the other user.
    const { name: page } = parseRoute(location.hash);
    goTo(page === "" ? "#/" : linkTo(page));
    showPlace();
    say(`Switched to the memory of ${name}.`);
  }
};
find("fresh").onclick = () => {
  startFresh();
  goTo("#/");
  chooseTab("talk");
  find("message").focus();
  say("New conversation.");
};
find("keys").onclick = showKeys;
find("skip").onclick = (event) => {
  event.preventDefault();
  const main = document.querySelector("main:not([hidden])");
  (main.querySelector("h2[tabindex], #message, input:not([hidden])") ?? main).focus();
};
find("leave").onclick = async () => {
  await view?.leave?.().catch(() => {});
  let problem;
  try {
    await signOut();
  } catch (error) {
    if (error.status !== 401) problem = `You are signed out here, but not on the server: ${error.message}`;
  }
  forgetPeople();
  leave(problem);
};
addEventListener("hashchange", () => {
  if (!find("nav").hidden) showPlace();
});
// Other programs write to the same memory, so the page is refreshed when it becomes visible again.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible" || find("nav").hidden) return;
  changed();
  view?.refresh?.();
});
onErased((receipt) => {
  dropEditDrafts(state.user);
  talk.wipe(receipt);
});
onSignedOut(() => leave("You are signed out. Sign in again to continue."));
listenToKeys(() => view);

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

// What scrolls must be reached by keyboard in every browser.
for (const id of ["log", "known"]) find(id).tabIndex = 0;
drawNavigation();
chooseTab("talk");
start();
