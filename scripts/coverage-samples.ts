/** A dialogue or a code sample of the documents, and the test that makes the same calls. */
export interface CoverageSample {
  /** The document, from 1 to 5. */
  readonly document: number;
  /** What the sample does. */
  readonly shows: string;
  /** The file and the title of the test. Absent if nothing like it can be run; `why` then says why. */
  readonly test?: readonly [file: string, title: string];
  readonly why?: string;
}

const ASSISTANT = "src/engine/samples/assistant.test.ts";
const AGENT = "src/engine/samples/agent.test.ts";
const MANAGER = "src/engine/samples/memory-manager.test.ts";
const SERVICE = "src/http/samples.test.ts";
const COMMON_NAMES = "src/config/common-names.test.ts";
const SESSIONS = "src/testing/sessions-conformance.ts";

const shown = (document: number, shows: string, file: string, title: string): CoverageSample => ({
  document,
  shows,
  test: [file, title],
});
const notShown = (document: number, shows: string, why: string): CoverageSample => ({ document, shows, why });

/** All dialogues and code samples, in the order of the documents. */
export const COVERAGE_SAMPLES: readonly CoverageSample[] = [
  shown(
    1,
    "what was told is answered in a new conversation",
    ASSISTANT,
    "answers in a new conversation with the tools that were named in an earlier one",
  ),
  shown(
    1,
    "what is no longer used is no longer answered",
    ASSISTANT,
    "no longer answers with a tool that is no longer used, and keeps it in the history",
  ),
  shown(1, "the stores are opened", ASSISTANT, "has, opened again, what was stored in it"),
  shown(1, "a message becomes atomic facts", ASSISTANT, "makes one memory of each fact of a message"),
  shown(
    1,
    "a model extracts, and the embeddings endpoint gives vectors",
    ASSISTANT,
    "stores the facts that the model extracts, with the vectors of the embeddings endpoint",
  ),
  shown(
    1,
    "the message itself is kept when the model gives no JSON",
    ASSISTANT,
    "keeps the words of a message, and finds them, when the model's answer is not JSON",
  ),
  shown(
    1,
    "a message deletes what is nearest, of one user",
    ASSISTANT,
    "ends what one user no longer uses, and leaves another user's memories alone",
  ),
  shown(
    1,
    "a deleted memory stays in the store, and out of prompts",
    ASSISTANT,
    "recalls what is removed last and marked, gives it to no model, and takes it back by an undo",
  ),
  shown(1, "a search gives n memories", ASSISTANT, "recalls no more memories than asked for"),
  shown(
    1,
    "memories become lines of a prompt",
    ASSISTANT,
    "gives the relevant memories as lines for a prompt",
  ),
  shown(
    1,
    "GPT answers with the memories in its prompt",
    ASSISTANT,
    "gives the model the relevant memories with the question, and replies in its words",
  ),
  shown(
    1,
    "components are given to the manager",
    ASSISTANT,
    "stores, finds and ends with a store, an embedder and an extractor of the caller's",
  ),
  shown(
    1,
    "settings by the environment",
    COMMON_NAMES,
    "reads every common name of a setting, or refuses it and says what to set",
  ),
  shown(
    2,
    "`POST /api/v1/conversation`, with a favourite colour",
    SERVICE,
    "answers at turn 500 with a colour that was named at turn 3, and shows the memory",
  ),
  shown(
    2,
    "the client that asks for coffee 499 turns later",
    SERVICE,
    "uses at turn 500 the coffee that was liked at turn 1",
  ),
  shown(
    2,
    "`POST /api/v1/memories`, and the schema of a memory",
    SERVICE,
    "creates a memory with its type, turn and confidence, and shows its whole schema",
  ),
  shown(
    2,
    "`POST …/search?query=preferences&top_k=10`",
    SERVICE,
    "searches with a query and a number in the address, and counts the use",
  ),
  shown(
    2,
    "`GET …/stats` and `POST …/optimize?current_turn=500`",
    SERVICE,
    "reports a user's statistics, and optimises by the current turn",
  ),
  shown(2, "`GET /api/v1/health`", SERVICE, "is alive without a key, and with one names what it depends on"),
  shown(2, "`GET /docs`", SERVICE, "shows its documentation as a page"),
  shown(2, "`DELETE …/all`", SERVICE, "deletes everything of one user, and of no other"),
  shown(
    2,
    "the score of four parts",
    SERVICE,
    "scores a search by similarity, recency, access and confidence with the classic weights",
  ),
  shown(2, "the metrics by their names", SERVICE, "reports the metric %s"),
  shown(
    2,
    "the settings in `.env`",
    COMMON_NAMES,
    "reads every common name of a setting, or refuses it and says what to set",
  ),
  notShown(
    2,
    "Compose, Celery, the script that creates tables",
    "no containers run in tests; the server creates its tables and runs its jobs itself",
  ),
  shown(3, "`POST /message`", SERVICE, "stores the facts of a message, and answers a later one with them"),
  shown(3, "`POST /forget`", SERVICE, "forgets what a sentence names, and nothing else"),
  shown(
    3,
    "the settings in `.env`",
    COMMON_NAMES,
    "reads every common name of a setting, or refuses it and says what to set",
  ),
  shown(
    4,
    "tables of conversations and messages, deleted together",
    AGENT,
    "are kept by session with role, time and metadata, and are gone together once the session is erased",
  ),
  shown(4, "pragmas of SQLite", AGENT, "are in a file with a write-ahead log"),
  shown(
    4,
    "a fact with categories",
    AGENT,
    "have a type, a text, a confidence and categories, and are found by a category",
  ),
  shown(4, "the check of a confidence", AGENT, "are refused with a confidence of %d, and nothing is stored"),
  shown(
    4,
    "a query with `where` and `where_document`",
    AGENT,
    "are narrowed by type, metadata and words of the text",
  ),
  shown(
    4,
    "five relevant memories, then their records",
    AGENT,
    "are found by a question with their whole record, at most as many as asked for",
  ),
  shown(
    4,
    '"I prefer working on backend systems"',
    AGENT,
    "is learnt from a sentence about what somebody prefers to work on",
  ),
  shown(
    4,
    "context as a type with a confidence",
    AGENT,
    "is a kind of memory with what it relates to and a confidence",
  ),
  shown(
    4,
    "a session is created, read and updated, for 24 hours; here a read does not extend it",
    AGENT,
    "has a topic, a context and preferences, is changed, and ends a day after its last change",
  ),
  shown(4, "the last 100 messages in Redis", SESSIONS, "keep the newest hundred messages, and count all"),
  shown(4, "the set of active sessions", SESSIONS, "list active sessions, the most recently used first"),
  shown(4, "the clean-up of expired sessions", SESSIONS, "are cleaned up after they expire"),
  shown(4, "the memory that they take", SESSIONS, "report their size"),
  shown(
    4,
    "a transaction that is rolled back",
    AGENT,
    "of several messages stores all of them, or none if one is wrong",
  ),
  shown(
    4,
    "regular VACUUM and checks",
    AGENT,
    "is a check that finds no fault, and a command that gives space back",
  ),
  shown(4, "the agent's YAML file", COMMON_NAMES, "uses the file of an agent as it stands"),
  shown(
    4,
    "Julep's client with a memory manager",
    "test/clients/julep-chat.ts",
    "Julep, a client with a memory: two conversations and erasures",
  ),
  shown(
    5,
    "basic use: add with a kind and an importance, search by kind",
    MANAGER,
    "adds a memory of a kind with metadata, and finds it by a question among its kind, with a score",
  ),
  shown(
    5,
    "several kinds and sources, changed and removed",
    MANAGER,
    "are found by their source, changed, and removed",
  ),
  shown(
    5,
    "associations, related memories, clean-up",
    MANAGER,
    "associates two of several memories, finds what is related, and cleans old ones up",
  ),
  shown(
    5,
    "a block that closes the memory",
    MANAGER,
    "is closed at the end of its block, also after an error, and has everything when opened again",
  ),
  shown(
    5,
    "the settings in the environment",
    "src/config/settings.test.ts",
    "accepts common names of settings",
  ),
];
