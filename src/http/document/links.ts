/** Parameters of an operation, each with the place that holds it: in the request, or in the answer. */
interface LinkParameters {
  readonly [parameter: string]: string;
}

const USER_OF_BODY = { user_id: "$request.body#/user_id" };
const USER_OF_PATH = { user_id: "$request.path.user_id" };
const ID_OF_RESPONSE = { id: "$response.body#/id" };
const FIRST_ITEM = { id: "$response.body#/items/0/id" };
const NEXT_PAGE = { cursor: "$response.body#/cursor" };

const CREATED_ITEM = { ...USER_OF_BODY, ...ID_OF_RESPONSE };
const LISTED_ITEM = { user_id: "$response.body#/items/0/user_id", ...FIRST_ITEM };

/**
 * Where an answer leads to, by operation and status: OpenAPI's links, for clients and tests that go from call to call.
 * Not to `removeMemory`, a bin, in which things can still be seen, and not to `eraseUser`, which takes more than its address
 * names: tests that follow links take it that exactly what is addressed goes.
 */
export const OPERATION_LINKS: {
  readonly [operation: string]: {
    readonly [status: string]: { readonly [target: string]: LinkParameters };
  };
} = {
  addMemory: {
    201: {
      getMemory: CREATED_ITEM,
      getMemoryHistory: CREATED_ITEM,
      changeMemory: CREATED_ITEM,
      listMemories: USER_OF_BODY,
      searchMemories: USER_OF_BODY,
      getProfile: USER_OF_BODY,
      getStats: USER_OF_BODY,
      exportUser: USER_OF_BODY,
    },
  },
  listMemories: {
    200: {
      getMemory: LISTED_ITEM,
      getMemoryHistory: LISTED_ITEM,
      changeMemory: LISTED_ITEM,
      listMemories: { ...USER_OF_PATH, ...NEXT_PAGE },
    },
  },
  addMessages: {
    201: { listSessions: USER_OF_BODY, getHistory: USER_OF_BODY, listMemories: USER_OF_BODY },
  },
  listSessions: {
    200: {
      getSession: { ...USER_OF_PATH, ...FIRST_ITEM },
      eraseSession: { ...USER_OF_PATH, ...FIRST_ITEM },
      listSessions: { ...USER_OF_PATH, ...NEXT_PAGE },
    },
  },
  searchMemories: { 200: { explainRecall: { ...USER_OF_PATH, ...ID_OF_RESPONSE } } },
  erase: { 201: { getErasure: CREATED_ITEM } },
  listErasures: { 200: { getErasure: { ...FIRST_ITEM, user_id: "$response.body#/items/0/user" } } },
  createKey: { 201: { rotateKey: ID_OF_RESPONSE, revokeKey: ID_OF_RESPONSE } },
};
