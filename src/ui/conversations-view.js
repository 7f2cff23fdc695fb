import { attachmentFigures } from "./attachment-figure.js";
import { getSession, listMemories, listPrompts, listSessions, search } from "./calls.js";
import { askToForget } from "./forget.js";
import { button, emptyState, labelled, problem } from "./form-parts.js";
import { givenPrompt } from "./given-prompts.js";
import { make } from "./make.js";
import { markWords } from "./marks.js";
import { badge, textOf } from "./memory-row.js";
import { goTo, linkTo } from "./router.js";
import { counted, day, moment } from "./words.js";

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
      await read();
    }
    if (route.part) point(reader, route.part);
  }

  async function read() {
    const id = shown;
    try {
      const parts = await readSession(user, id);
      if (id === shown) reader.replaceChildren(...head(id), ...parts);
    } catch (error) {
      const missing = emptyState(
        "Not found",
        `No conversation of ${user} has this name. It may have been erased.`,
      );
      if (id === shown) reader.replaceChildren(back(), error.status === 404 ? missing : problem(error));
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
        button("Erase…", () => askToForget(user, { session_id: id }, erased), "danger-text"),
      ),
    ];
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
      if (thisRun === run) place.replaceChildren(problem(error));
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

async function loadSessions(user) {
  const { items, total } = await listSessions(user, { limit: 500 });
  const text = counted(total, "conversation", "conversations");
  if (total === 0)
    return [
      text,
      emptyState(
        "No conversations yet",
        "What you say in the chat, or through another program, appears here.",
      ),
    ];
  return [text, make("ul", { class: "plain-rows" }, items.map(sessionRow))];
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

async function findPassages(user, query) {
  const { items } = await search(user, query, { top_k: 50, types: ["passage"] });
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
  return [`${rows.length} found`, make("ul", { class: "plain-rows" }, rows)];
}

/** The messages, each with the memories that come from it. Long conversations are read page by page. */
async function readSession(user, id) {
  const [taught, prompts, first] = await Promise.all([
    readTaught(user, id),
    readPrompts(user, id),
    getSession(user, id, { limit: 200 }),
  ]);
  const toItem = (message) => messageItem(user, message, { taught, prompts });
  const log = make("ol", { class: "reading" }, first.items.map(toItem));
  const parts = [log];
  let { cursor } = first;
  if (cursor) {
    const more = button("Read on", async () => {
      more.disabled = true;
      const next = await getSession(user, id, { limit: 200, cursor });
      log.append(...next.items.map(toItem));
      cursor = next.cursor;
      more.disabled = false;
      if (!cursor) more.remove();
    });
    parts.push(more);
  }
  return parts;
}

/** The memories of a conversation, by the message that taught them. */
async function readTaught(user, session) {
  const { items } = await listMemories(user, { session_id: session, status: "all", limit: 1000 });
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

/** Brings a message into sight. */
function point(reader, id) {
  const turn = [...reader.querySelectorAll("[data-message]")].find((one) => one.dataset.message === id);
  turn?.classList.add("pointed");
  turn?.scrollIntoView({ block: "center" });
  turn?.focus({ preventScroll: true });
}
