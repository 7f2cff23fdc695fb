import { getSession, listMemories, listPrompts, listSessions, readAll, search } from "../calls.js";
import { askToForget } from "../erasure/forget.js";
import { givenPrompt } from "../models/given-prompts.js";
import { attachmentFigures } from "../parts/attachment-figure.js";
import { button, emptyState, labelled, moreButton, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { markWords } from "../parts/marks.js";
import { badge, textOf } from "../parts/memory-row.js";
import { goTo, linkTo } from "../parts/router.js";
import { counted, day, moment, number } from "../parts/words.js";

const TYPING_MS = 150;

/** All conversations: a list with search, and one to read, with what each turn taught. */
export function conversationsView({ user, changed, continueIn }) {
  const list = sessionList(user);
  const reader = make("section", { class: "detail reader", "aria-label": "Conversation", tabindex: "0" });
  const side = make(
    "section",
    { class: "list-side", "aria-labelledby": "conversations-title" },
    ...list.parts,
  );
  const element = make("div", { class: "split" }, side, reader);
  let shown;

  async function show(route) {
    element.dataset.part = route.id === undefined ? "list" : "detail";
    list.show();
    if (route.id !== shown || route.id === undefined) {
      shown = route.id;
      if (shown === undefined)
        return reader.replaceChildren(
          emptyState("Choose a conversation", "Read it again, and see what each turn taught."),
        );
      await read({ startAt: route.part });
    } else if (route.part && !findTurn(reader, route.part)) await read({ startAt: route.part });
    if (route.part) point(reader, route.part);
  }

  /** Shows the conversation from its beginning, from a message, or its end. */
  async function read(from = {}) {
    const id = shown;
    try {
      const parts = await readSession(user, id, from);
      if (id === shown) reader.replaceChildren(...head(id), ...parts);
    } catch (error) {
      const missing = emptyState(
        "Not found",
        `No conversation of ${user} has this name. It may have been erased.`,
      );
      if (id === shown)
        reader.replaceChildren(back(), error.status === 404 ? missing : problem(error, () => read(from)));
    }
  }

  const back = () =>
    make("a", { href: linkTo("conversations"), class: "back back-link" }, "‹ All conversations");

  function head(id) {
    return [
      back(),
      make("h3", { class: "detail-text", tabindex: "-1" }, id),
      make(
        "div",
        { class: "detail-actions" },
        button("Continue", () => continueIn(id)),
        button("Beginning", () => read()),
        button("End", () => read({ isEnd: true }).then(scrollToEnd)),
        button("Erase…", () => askToForget(user, { session_id: id }, erased), "danger-text"),
      ),
    ];
  }

  function scrollToEnd() {
    reader.querySelector(".turn:last-child")?.scrollIntoView({ block: "end" });
  }

  function erased() {
    changed();
    list.load();
    goTo(linkTo("conversations"));
  }

  function onKey({ key }) {
    if (key === "/") list.search.focus();
    else if (key === "Escape" && shown !== undefined) goTo(linkTo("conversations"));
    else return false;
    return true;
  }

  return { element, title: "Conversations", show, refresh: list.load, onKey };
}

function sessionList(user) {
  const count = make("p", { class: "count-line", role: "status" });
  const place = make("div", { class: "scroller" });
  const field = make("input", {
    type: "search",
    placeholder: "Search in conversations",
    autocomplete: "off",
    maxlength: "500",
  });
  let timer;
  let run = 0;
  field.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(load, TYPING_MS);
  };

  async function load() {
    run += 1;
    const thisRun = run;
    const query = field.value.trim();
    try {
      const [text, ...parts] = query === "" ? await loadSessions(user) : await findPassages(user, query);
      if (thisRun !== run) return;
      count.textContent = text;
      place.replaceChildren(...parts);
    } catch (error) {
      if (thisRun === run) place.replaceChildren(problem(error, load));
    }
  }

  return {
    search: field,
    load,
    show: () => (run === 0 ? load() : undefined),
    parts: [
      make(
        "div",
        { class: "view-head" },
        make("h2", { id: "conversations-title", tabindex: "-1" }, "Conversations"),
        count,
      ),
      make(
        "form",
        { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        labelled("Search in conversations", field, "search-field"),
      ),
      make("div", { class: "list-body" }, place),
    ],
  };
}

/** The number of conversations that are shown at first, the newest, and that each click adds. */
const SESSION_PAGE = 200;

async function loadSessions(user) {
  const first = await listSessions(user, { limit: SESSION_PAGE });
  const text = counted(first.total, "conversation", "conversations");
  if (first.total === 0)
    return [
      text,
      emptyState(
        "No conversations yet",
        "What you say in the chat, or through another program, appears here.",
      ),
    ];
  const rows = make("ul", { class: "plain-rows" }, first.items.map(sessionRow));
  let { cursor } = first;
  if (!cursor) return [text, rows];
  const more = moreButton(
    () => `Show more (${number(first.total - rows.childElementCount)})`,
    async () => {
      const next = await listSessions(user, { limit: SESSION_PAGE, cursor });
      rows.append(...next.items.map(sessionRow));
      ({ cursor } = next);
      return Boolean(cursor);
    },
  );
  return [text, rows, more];
}

function sessionRow({ id, messages, from, to }) {
  const days = [...new Set([day(from), day(to)])].join(" – ");
  return make(
    "li",
    {},
    make("a", { href: linkTo("conversations", id) }, id),
    make("p", { class: "row-line" }, `${counted(messages, "message", "messages")} · ${days}`),
  );
}

/** The most passages that a search gives. */
const MOST_PASSAGES = 200;

async function findPassages(user, query) {
  const { items } = await search(user, query, { top_k: MOST_PASSAGES, types: ["passage"] });
  const rows = items.map((item) => {
    const source = item.sources[0];
    const address = source?.session ? linkTo("conversations", source.session, {}, source.message) : undefined;
    return make(
      "li",
      {},
      make("a", { href: address }, markWords(item.text, item.why?.words ?? [])),
      make("p", { class: "row-line" }, source?.session ?? "In no conversation", ` · ${day(item.at)}`),
    );
  });
  if (rows.length === 0)
    return ["0 found", emptyState("Nothing found", "No message is relevant to these words.")];
  const found = rows.length < MOST_PASSAGES ? `${rows.length} found` : `The ${MOST_PASSAGES} best`;
  return [found, make("ul", { class: "plain-rows" }, rows)];
}

/** The number of messages that are read at once, and of those before a message that is named. */
const MESSAGE_PAGE = 200;
const MESSAGES_BEFORE = 20;

/** The messages, each with the memories that come from it. Long conversations are read page by page, in both directions. */
async function readSession(user, id, { startAt, isEnd }) {
  const [taught, prompts, { items, before, after, note }] = await Promise.all([
    readTaught(user, id),
    readPrompts(user, id),
    isEnd ? readEnd(user, id) : readFrom(user, id, startAt),
  ]);
  const toItem = (message) => messageItem(user, message, { taught, prompts });
  const log = make("ol", { class: "reading" }, items.map(toItem));
  const earlier = turnPages(
    user,
    id,
    { cursor: before, sort: "newest", label: "Read what was said before" },
    (next) => log.prepend(...next.map(toItem).reverse()),
  );
  const later = turnPages(user, id, { cursor: after, sort: "oldest", label: "Read on" }, (next) =>
    log.append(...next.map(toItem)),
  );
  return [note && make("p", { class: "note" }, note), ...earlier, log, ...later].filter(Boolean);
}

/** The messages from one on, with some before it; from the beginning if none is named. */
async function readFrom(user, id, startAt) {
  const read = (query) => getSession(user, id, query);
  const first = (start) => read({ limit: MESSAGE_PAGE, start_at: start });
  if (startAt === undefined) {
    const { items, cursor } = await first();
    return { items, after: cursor };
  }
  try {
    const [from, back] = await Promise.all([
      first(startAt),
      // The message itself is the first of both.
      read({ limit: MESSAGES_BEFORE + 1, start_at: startAt, sort: "newest" }),
    ]);
    const items = [...back.items.slice(1).reverse(), ...from.items];
    return { items, before: back.cursor, after: from.cursor };
  } catch (error) {
    if (error.status !== 404) throw error;
    const note = "The message is not in this conversation any more. It may have been erased.";
    return { ...(await readFrom(user, id)), note };
  }
}

async function readEnd(user, id) {
  const { items, cursor } = await getSession(user, id, { limit: MESSAGE_PAGE, sort: "newest" });
  return { items: items.reverse(), before: cursor };
}

/** A button that reads the next page in one direction; none if there is no more. */
function turnPages(user, id, { cursor, sort, label }, show) {
  if (!cursor) return [];
  let next = cursor;
  const more = moreButton(
    () => label,
    async () => {
      const page = await getSession(user, id, { limit: MESSAGE_PAGE, sort, cursor: next });
      show(page.items);
      next = page.cursor;
      return Boolean(next);
    },
  );
  return [more];
}

/** The memories of a conversation, by the message that taught them. */
async function readTaught(user, session) {
  const items = await readAll((cursor) =>
    listMemories(user, { session_id: session, status: "all", limit: 1000, cursor }),
  );
  const taught = new Map();
  for (const memory of items)
    for (const { message } of memory.sources) taught.set(message, [...(taught.get(message) ?? []), memory]);
  return taught;
}

/** What models were given for the turns of a conversation, by the user's message. */
async function readPrompts(user, session) {
  const { items } = await listPrompts(user, { session_id: session, limit: 1000 }).catch(() => ({
    items: [],
  }));
  return new Map(items.map((prompt) => [prompt.message_id, prompt]));
}

function messageItem(user, message, { taught, prompts }) {
  const { id, role, name, at, content } = message;
  const memories = taught.get(id) ?? [];
  const prompt = prompts.get(id);
  const speaker = name ?? { user: "You", assistant: "Assistant", system: "System", tool: "Tool" }[role];
  return make(
    "li",
    { class: `turn ${role}`, "data-message": id, tabindex: "-1" },
    make("p", { class: "small" }, make("b", {}, speaker), `, ${moment(at)}`),
    make("p", { class: "turn-text" }, content || "(no text)"),
    attachmentFigures(user, message),
    prompt && givenPrompt(user, prompt),
    memories.length > 0 &&
      make(
        "ul",
        { class: "taught", "aria-label": "What it taught" },
        memories.map((memory) =>
          make(
            "li",
            {},
            make("a", { href: linkTo("memories", memory.id) }, textOf(memory)),
            " ",
            badge(memory),
          ),
        ),
      ),
  );
}

function findTurn(reader, id) {
  return [...reader.querySelectorAll("[data-message]")].find((one) => one.dataset.message === id);
}

/** Brings a message into sight. */
function point(reader, id) {
  const turn = findTurn(reader, id);
  turn?.classList.add("pointed");
  turn?.scrollIntoView({ block: "center" });
  turn?.focus({ preventScroll: true });
}
