import type { KeyScope } from "../../src/http/keys/api-keys.ts";
import type { TenantUser } from "./world.ts";

/**
 * What the matrix has to know of an operation: written down here again, apart from the table that is served, so that a
 * slip there is seen.
 */
export interface OperationRow {
  /** What a key needs for it: any key, none, one that may be left out, or all of these scopes. */
  readonly needs: readonly KeyScope[] | "any" | "optional" | "none";
  /** The status of a request by whoever may. */
  readonly status: number;
  /** What `{id}` in the path names. */
  readonly id?:
    | "memory"
    | "recall"
    | "erasure"
    | "key"
    | "session"
    | "message"
    | "attachment"
    | "grant"
    | "received"
    | "group"
    | "webhook"
    | "conversation"
    | "item"
    | "response";
  /** Whether it is about the whole project, so that a key bound to a user is answered, with that user's part. */
  readonly isOfProject?: true;
  readonly query?: (of: TenantUser) => { readonly [name: string]: string };
  readonly body?: (of: TenantUser) => { readonly [field: string]: unknown } | string;
  readonly headers?: (of: TenantUser) => { readonly [name: string]: string };
  /** Whether ids of things stand in the body or the query, where others' can be put. */
  readonly hasIds?: true;
}

const OF_USER = { needs: ["read"], status: 200 } as const;

const NAMED_USER = { headers: ({ user }: TenantUser) => ({ "x-keepsake-user": user }) };

export const ROWS: { readonly [operation: string]: OperationRow } = {
  getHealth: { needs: "optional", status: 200 },
  getDocument: { needs: "none", status: 200 },
  getDocumentPage: { needs: "none", status: 200 },
  getDocumentStyle: { needs: "none", status: 200 },
  getReadiness: { needs: "optional", status: 200 },

  converse: {
    needs: ["read", "write"],
    status: 200,
    body: ({ user }) => ({
      user_id: user,
      message: "Which word is it?",
      include_memories: true,
      session_id: "matrix",
    }),
  },
  say: {
    needs: ["read", "write"],
    status: 200,
    body: ({ user }) => ({ userId: user, message: "What do you know about me?" }),
  },
  takeBack: {
    needs: ["erase"],
    status: 200,
    body: ({ user }) => ({ userId: user, message: "Forget the word." }),
  },
  addMessages: {
    needs: ["write"],
    status: 201,
    body: ({ user }) => ({ user_id: user, messages: [{ role: "user", content: "The day is grey." }] }),
  },

  addMemory: {
    needs: ["write"],
    status: 201,
    body: ({ user }) => ({ user_id: user, content: "The day is grey.", metadata: { page: 1 } }),
  },
  listMemories: {
    ...OF_USER,
    query: ({ cursor }) => ({ status: "all", ...(cursor === "" ? {} : { cursor }) }),
  },
  getStats: OF_USER,
  getProjectStats: { needs: ["admin"], status: 200 },
  getMetrics: { needs: ["admin"], status: 404 },
  getMemory: { ...OF_USER, id: "memory" },
  getMemoryHistory: { ...OF_USER, id: "memory" },
  changeMemory: { needs: ["write"], status: 200, id: "memory", body: () => ({ importance: 0.9 }) },
  removeMemory: { needs: ["write"], status: 200, id: "memory" },
  linkMemories: {
    needs: ["write"],
    status: 201,
    body: ({ memory, other }) => ({ from: memory, to: other, type: "extends" }),
    hasIds: true,
  },
  unlinkMemories: {
    needs: ["write"],
    status: 200,
    query: ({ memory, other }) => ({ from: other, to: memory }),
    hasIds: true,
  },
  listLinks: { ...OF_USER, query: ({ memory }) => ({ memory }), hasIds: true },
  getRelatedMemories: { ...OF_USER, id: "memory", query: () => ({ depth: "3" }) },
  listClusters: { ...OF_USER, query: () => ({ memories: "100" }) },
  listFacets: { ...OF_USER, query: () => ({ by: "subject" }) },
  listReflections: { ...OF_USER, query: () => ({ min_memories: "1" }) },
  undo: { needs: ["write"], status: 200, body: ({ revision }) => ({ revision }), hasIds: true },
  optimize: { needs: ["write"], status: 200 },
  eraseUser: { needs: ["erase"], status: 200 },

  searchMemories: { ...OF_USER, body: () => ({ query: "Which word is it?", explain: true, top_k: 50 }) },
  buildContext: {
    ...OF_USER,
    body: ({ user }) => ({ user_id: user, request: "Which word is it?", max_tokens: 800 }),
  },
  listPrompts: OF_USER,
  explainRecall: { ...OF_USER, id: "recall", query: ({ memory }) => ({ about: memory }), hasIds: true },

  share: { needs: ["write"], status: 201, body: () => ({ to_user: "friend", everything: true }) },
  listGrants: { ...OF_USER, query: () => ({ all: "true" }) },
  answerGrant: { needs: ["write"], status: 200, id: "received", body: () => ({ declined: true }) },
  withdrawGrant: { needs: ["write"], status: 200, id: "grant" },
  listShared: { ...OF_USER, query: ({ grant }) => ({ grant }), hasIds: true },
  saveGroup: { needs: ["write"], status: 201, body: () => ({ name: "team", members: ["friend"] }) },
  listGroups: OF_USER,
  deleteGroup: { needs: ["write"], status: 204, id: "group" },

  erase: {
    needs: ["erase"],
    status: 201,
    body: ({ user, memory }) => ({ user_id: user, ids: [memory] }),
    hasIds: true,
  },
  listErasures: { needs: ["read"], status: 200, isOfProject: true },
  getErasure: { needs: ["read"], status: 200, id: "erasure", isOfProject: true },

  getHistory: OF_USER,
  listChanges: { ...OF_USER, query: ({ user }) => ({ user_id: user, after: "0" }) },
  getProfile: OF_USER,
  listSessions: OF_USER,
  getSession: { ...OF_USER, id: "session" },
  getMessage: { ...OF_USER, id: "message" },
  addAttachment: {
    needs: ["write"],
    status: 201,
    body: () => "GIF89a, and a grey day",
    headers: () => ({ "content-type": "image/gif" }),
  },
  listAttachments: { ...OF_USER, query: () => ({ type: "image" }) },
  getAttachment: { ...OF_USER, id: "attachment" },
  getAttachmentContent: { ...OF_USER, id: "attachment" },
  eraseAttachment: { needs: ["erase"], status: 200, id: "attachment" },
  eraseSession: { needs: ["erase"], status: 200, id: "session" },
  startSession: { needs: ["write"], status: 201, body: () => ({ topic: "The day" }) },
  // The session has messages, and no state.
  getSessionState: { needs: ["read"], status: 404, id: "session" },
  updateSession: { needs: ["write"], status: 404, id: "session", body: () => ({ topic: "The day" }) },
  endSession: { needs: ["write"], status: 404, id: "session" },
  exportUser: OF_USER,
  importUser: {
    needs: ["write"],
    status: 200,
    body: () => ({ role: "user", content: "The day is grey." }),
    headers: () => ({ "content-type": "application/x-ndjson" }),
  },
  listUsers: { needs: ["admin"], status: 200 },

  createChatCompletion: {
    needs: ["read"],
    status: 200,
    body: ({ user }) => ({ model: "echo", user, messages: [{ role: "user", content: "Which word is it?" }] }),
  },
  createResponse: {
    needs: ["read"],
    status: 200,
    body: ({ user }) => ({ model: "echo", user, input: "Which word is it?" }),
  },
  createMessage: {
    needs: ["read"],
    status: 200,
    body: ({ user }) => ({
      model: "echo",
      user,
      max_tokens: 100,
      messages: [{ role: "user", content: "Which word is it?" }],
    }),
  },
  countMessageTokens: {
    needs: ["read"],
    status: 200,
    body: () => ({ model: "echo", messages: [{ role: "user", content: "Which word is it?" }] }),
  },
  createEmbedding: {
    needs: ["read"],
    status: 200,
    body: ({ user }) => ({ model: "echo", user, input: "A word." }),
  },
  createConversation: {
    ...NAMED_USER,
    needs: ["write"],
    status: 200,
    body: () => ({ items: [{ role: "user", content: "The day is grey." }] }),
  },
  getConversation: { ...NAMED_USER, ...OF_USER, id: "conversation" },
  updateConversation: {
    ...NAMED_USER,
    needs: ["write"],
    status: 200,
    id: "conversation",
    body: () => ({ metadata: { page: "1" } }),
  },
  deleteConversation: { ...NAMED_USER, needs: ["erase"], status: 200, id: "conversation" },
  addConversationItems: {
    ...NAMED_USER,
    needs: ["write"],
    status: 200,
    id: "conversation",
    body: () => ({ items: [{ role: "user", content: "The day is grey." }] }),
  },
  listConversationItems: {
    ...NAMED_USER,
    ...OF_USER,
    id: "conversation",
    query: () => ({ order: "asc", limit: "5" }),
  },
  getConversationItem: { ...NAMED_USER, ...OF_USER, id: "item" },
  deleteConversationItem: { ...NAMED_USER, needs: ["erase"], status: 200, id: "item" },
  getResponse: { ...NAMED_USER, ...OF_USER, id: "response" },
  deleteResponse: { ...NAMED_USER, needs: ["erase"], status: 200, id: "response" },
  listResponseInputItems: {
    ...NAMED_USER,
    ...OF_USER,
    id: "response",
    query: () => ({ order: "asc", limit: "5" }),
  },
  listModels: { needs: ["read"], status: 200 },
  getModel: { needs: ["read"], status: 200 },

  listJobs: { needs: ["admin"], status: 200 },
  listSettings: { needs: ["admin"], status: 200 },
  listKeys: { needs: ["admin"], status: 200 },
  createKey: { needs: ["admin"], status: 201, body: () => ({ label: "from the matrix", scopes: ["read"] }) },
  rotateKey: { needs: ["admin"], status: 200, id: "key", body: () => ({ grace_seconds: 0 }) },
  revokeKey: { needs: ["admin"], status: 204, id: "key" },

  getProjectEmbedder: { needs: ["admin"], status: 200 },
  chooseProjectEmbedder: { needs: ["admin"], status: 200, body: () => ({ embedder: "default" }) },
  clearProjectEmbedder: { needs: ["admin"], status: 200 },
  getUserEmbedder: OF_USER,
  chooseUserEmbedder: { needs: ["write"], status: 200, body: () => ({ embedder: "default" }) },
  clearUserEmbedder: { needs: ["write"], status: 200 },

  listWebhooks: { needs: ["admin"], status: 200 },
  createWebhook: {
    needs: ["admin"],
    status: 201,
    body: () => ({ url: "http://127.0.0.1:9/", enabled: false, label: "from the matrix" }),
  },
  getWebhook: { needs: ["admin"], status: 200, id: "webhook" },
  updateWebhook: { needs: ["admin"], status: 200, id: "webhook", body: () => ({ label: "changed" }) },
  deleteWebhook: { needs: ["admin"], status: 204, id: "webhook" },
  listWebhookAttempts: { needs: ["admin"], status: 200, id: "webhook" },
  testWebhook: { needs: ["admin"], status: 200, id: "webhook" },
  rotateWebhookSecret: { needs: ["admin"], status: 200, id: "webhook", body: () => ({ grace_seconds: 0 }) },

  signIn: { needs: "none", status: 401, body: () => ({ key: "nobody" }) },
  getSignIn: { needs: "any", status: 200 },
  signOut: { needs: "any", status: 204 },
};
