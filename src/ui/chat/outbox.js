import { converse } from "../calls.js";
import { makeId } from "../parts/make.js";

const draftOf = (user) => `keepsake.draft.${user}`;
const sendingOf = (user) => `keepsake.sending.${user}`;
const failedOf = (user) => `keepsake.failed.${user}`;

/** What a user has typed and not sent. It is kept while the browser's tab is open. */
export const getDraft = (user) => sessionStorage.getItem(draftOf(user)) ?? "";
export const keepDraft = (user, text) => store(draftOf(user), text);

function store(key, text) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // The storage is full. The words stay on the page; a reload alone would lose them.
  }
}

function readStored(key, otherwise) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** The messages that are on their way, each `{ session, text, key }`, oldest first. They survive a reload. */
const listSending = (user) => readStored(sendingOf(user), []);

/** Notes a message before it is sent. */
function noteSending(user, message) {
  const others = listSending(user).filter(({ key }) => key !== message.key);
  store(sendingOf(user), JSON.stringify([...others, message]));
}

/** Forgets a message that has arrived, or that was given back. */
function endSending(user, key) {
  const others = listSending(user).filter((message) => message.key !== key);
  if (others.length === 0) sessionStorage.removeItem(sendingOf(user));
  else store(sendingOf(user), JSON.stringify(others));
}

/**
 * Sends messages, each once: also if the page is loaded again before the answer is there, or if a message that failed is sent
 * again. `user` and `session` give the current ones.
 */
export function createOutbox({ user, session }) {
  /** The keys of what this page has sent. Those of before a reload are not among them. */
  const sentKeys = new Set();
  /** Grows when somebody signs out. */
  let visit = 0;

  /** The message that failed last has the same key when it is sent again. */
  function keyFor(text) {
    const failed = readStored(failedOf(user()), {});
    return failed.text === text && failed.session === session() ? failed.key : `page-${makeId()}`;
  }

  return {
    /**
     * Sends a message. Gives the answer or the error, the sender, and whether its conversation is still shown; `isGone` if
     * the sender has signed out.
     */
    async deliver(text, key = keyFor(text)) {
      const [sender, sentIn, sentOn] = [user(), session(), visit];
      sentKeys.add(key);
      noteSending(sender, { session: sentIn, text, key });
      const result = await sendOnce(sender, sentIn, { text, key }).then(
        (answer) => ({ answer }),
        // A page that is left fails what it waits for, and runs no timer any more: what it sent stays noted.
        async (error) => wait(LEAVING_MS).then(() => ({ error })),
      );
      if (sentOn !== visit) return { isGone: true };
      endSending(sender, key);
      if (result.error) store(failedOf(sender), JSON.stringify({ text, key, session: sentIn }));
      return { ...result, sender, isHere: sender === user() && sentIn === session() };
    },
    /**
     * Takes what was on its way when the page was left. `send` gets the text and the key of a message of this conversation,
     * `giveBack` the text of one of another.
     */
    resend(send, giveBack) {
      for (const { session: sentIn, text, key } of listSending(user())) {
        if (sentKeys.has(key)) continue;
        if (sentIn === session()) send(text, key);
        else {
          endSending(user(), key);
          giveBack(text, user());
        }
      }
    },
    /** Forgets what is on its way: its sender signs out. */
    leave() {
      visit += 1;
    },
  };
}

const LEAVING_MS = 100;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The most times that a message is sent while the server still works on an earlier sending of it, a second apart. */
const MOST_TRIES = 120;

/** Sends a message. After a reload, the sending before it may still be carried out: then the server answers with 409. */
async function sendOnce(user, session, { text, key }) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await converse(user, session, text, key);
    } catch (error) {
      if (error.status !== 409 || tries >= MOST_TRIES) throw error;
    }
    await wait(1000);
  }
}
