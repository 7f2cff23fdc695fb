/** Parameters of an operation, each with the place that holds it: in the request, or in the answer. */
interface Parameters {
  readonly [parameter: string]: string;
}

const USER_OF_BODY = { user_id: "$request.body#/user_id" };
const USER_OF_PATH = { user_id: "$request.path.user_id" };
const ID = { id: "$response.body#/id" };
const FIRST = { id: "$response.body#/items/0/id" };
const NEXT = { cursor: "$response.body#/cursor" };

const MADE = { ...USER_OF_BODY, ...ID };
const FOUND = { user_id: "$response.body#/items/0/user_id", ...FIRST };

/**
 * Where an answer leads to, by operation and status: OpenAPI's links, for clients and tests that go from call to call.
 * Not to `removeMemory`, a bin, in which things can still be seen, and not to `eraseUser`, which takes more than its address
 * names: tests that follow links take it that exactly what is addressed goes.
 */
export const LINKS: {
  readonly [operation: string]: {
    readonly [status: string]: { readonly [target: string]: Parameters };
  };
} = {
  addMemory: {
    201: {
      getMemory: MADE,
      getMemoryHistory: MADE,
      changeMemory: MADE,
      listMemories: USER_OF_BODY,
      searchMemories: USER_OF_BODY,
      getProfile: USER_OF_BODY,
      getStats: USER_OF_BODY,
      exportUser: USER_OF_BODY,
    },
  },
  listMemories: {
    200: {
      getMemory: FOUND,
      getMemoryHistory: FOUND,
      changeMemory: FOUND,
      listMemories: { ...USER_OF_PATH, ...NEXT },
    },
  },
  addMessages: {
    201: { listSessions: USER_OF_BODY, getHistory: USER_OF_BODY, listMemories: USER_OF_BODY },
  },
  listSessions: {
    200: {
      getSession: { ...USER_OF_PATH, ...FIRST },
      eraseSession: { ...USER_OF_PATH, ...FIRST },
      listSessions: { ...USER_OF_PATH, ...NEXT },
    },
  },
  searchMemories: { 200: { explainRecall: { ...USER_OF_PATH, ...ID } } },
  erase: { 201: { getErasure: MADE } },
  listErasures: { 200: { getErasure: { ...FIRST, user_id: "$response.body#/items/0/user" } } },
  createKey: { 201: { rotateKey: ID, revokeKey: ID } },
};
