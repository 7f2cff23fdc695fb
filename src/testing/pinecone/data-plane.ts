import { fine, type PineconeAnswer, refusal } from "./answer.ts";
import {
  type Body,
  deleteProblem,
  idProblem,
  namespaceProblem,
  PINECONE_LIMITS,
  queryProblem,
  upsertProblem,
} from "./checks.ts";
import { passes } from "./filter.ts";
import { accept, type Namespace, namespaceIn, type StoredIndex, type StoredRecord } from "./state.ts";

/** A request to an index. */
export interface DataRequest {
  readonly index: StoredIndex;
  readonly method: string;
  /** Of the index's own host: "/vectors/upsert". */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly bytes: number;
  readonly lagMs: number;
}

type Route = (request: DataRequest) => PineconeAnswer;

const ROUTES: { readonly [route: string]: Route } = {
  "POST /vectors/upsert": upserted,
  "POST /query": found,
  "GET /vectors/fetch": fetched,
  "GET /vectors/list": listed,
  "POST /vectors/delete": deleted,
  "POST /describe_index_stats": described,
  "GET /namespaces": namespaces,
};

/** Answers as the data plane does (API version 2026-07), for the routes of vectors and namespaces. */
export function dataAnswer(request: DataRequest): PineconeAnswer {
  const { method, path, body, query } = request;
  const one = /^\/namespaces\/([^/]+)$/.exec(path)?.[1];
  if (one !== undefined) return ofNamespace(request, decodeURIComponent(one));
  const route = ROUTES[`${method} ${path}`];
  if (!route) return refusal(404, "Not Found");
  const problem = namespaceProblem(body.namespace ?? query.get("namespace") ?? "");
  return problem === undefined ? route(request) : refusal(400, problem);
}

const nameOf = ({ body, query }: DataRequest): string =>
  String(body.namespace ?? query.get("namespace") ?? "");

const opened = (request: DataRequest): Namespace =>
  namespaceIn(request.index, nameOf(request), request.lagMs);

const written = (namespace: Namespace, body: object): PineconeAnswer =>
  fine(body, { "x-pinecone-request-lsn": String(namespace.lsn) });

const read = (namespace: Namespace, body: object): PineconeAnswer =>
  fine(body, { "x-pinecone-max-indexed-lsn": String(namespace.shownLsn) });

function upserted(request: DataRequest): PineconeAnswer {
  const { index, body, bytes, lagMs } = request;
  const problem = upsertProblem(index, body, bytes);
  if (problem !== undefined) return refusal(400, problem);
  const records = (body.vectors as StoredRecord[]).map(({ id, values, metadata = {} }) => {
    return { id, values: values.map(Math.fround), metadata };
  });
  const namespace = opened(request);
  const put = (view: Namespace["accepted"]): void => {
    view.isThere = true;
    for (const record of records) view.records.set(record.id, record);
  };
  accept(namespace, put, lagMs);
  return written(namespace, { upsertedCount: records.length });
}

/** The nearest, exactly. ASSUMED: the real search, which is approximate, finds the same among few. */
function found(request: DataRequest): PineconeAnswer {
  const { index, body } = request;
  const problem = queryProblem(index, body);
  if (problem !== undefined) return refusal(400, problem);
  const { topK, vector, filter, includeValues, includeMetadata } = body;
  const namespace = opened(request);
  const matches = [...namespace.shown.records.values()]
    .filter(({ metadata }) => filter === undefined || passes(filter as Body, metadata))
    .map((record) => ({ record, score: cosine(record.values, vector as number[]) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, topK as number)
    .map(({ record: { id, values, metadata }, score }) => ({
      id,
      score,
      values: includeValues === true ? values : [],
      ...(includeMetadata === true ? { metadata } : {}),
    }));
  return read(namespace, { matches, namespace: nameOf(request), usage: { readUnits: 1 } });
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const product = one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
  return product / (Math.hypot(...one) * Math.hypot(...other));
}

function fetched(request: DataRequest): PineconeAnswer {
  const ids = request.query.getAll("ids");
  if (ids.length === 0 || ids.length > PINECONE_LIMITS.fetched) return refusal(400, "ids: 1 to 1000");
  const problem = ids.map(idProblem).find((one) => one !== undefined);
  if (problem !== undefined) return refusal(400, problem);
  const namespace = opened(request);
  const records = ids.flatMap((id) => namespace.shown.records.get(id) ?? []);
  const vectors = Object.fromEntries(records.map((record) => [record.id, record]));
  return read(namespace, { vectors, namespace: nameOf(request), usage: { readUnits: 1 } });
}

/** A page of names in bitwise order; the token is where the next one begins. */
function page(
  request: DataRequest,
  names: readonly string[],
): { names: string[]; pagination?: object } | undefined {
  const { query } = request;
  const limit = Number(query.get("limit") ?? PINECONE_LIMITS.listed);
  if (!Number.isInteger(limit) || limit < 1 || limit > PINECONE_LIMITS.listed) return undefined;
  const after = Buffer.from(query.get("paginationToken") ?? "", "base64").toString("utf8");
  const prefix = query.get("prefix") ?? "";
  // ASCII alone: the order of JavaScript's texts is the bitwise one.
  const all = names.filter((name) => name.startsWith(prefix) && name > after).sort();
  const some = all.slice(0, limit);
  const next = Buffer.from(some.at(-1) ?? "").toString("base64");
  return { names: some, ...(all.length > some.length ? { pagination: { next } } : {}) };
}

const wrongLimit = (): PineconeAnswer => refusal(400, "limit must be between 1 and 100");

function listed(request: DataRequest): PineconeAnswer {
  const namespace = opened(request);
  const some = page(request, [...namespace.shown.records.keys()]);
  if (!some) return wrongLimit();
  const { names, ...pagination } = some;
  const vectors = names.map((id) => ({ id }));
  return read(namespace, { vectors, ...pagination, namespace: nameOf(request), usage: { readUnits: 1 } });
}

function deleted(request: DataRequest): PineconeAnswer {
  const { body, lagMs } = request;
  const problem = deleteProblem(body);
  if (problem !== undefined) return refusal(400, problem);
  const namespace = opened(request);
  if (!namespace.accepted.isThere) return refusal(404, "Namespace not found");
  const { ids, filter, deleteAll } = body;
  const take = (view: Namespace["accepted"]): void => {
    if (deleteAll === true) view.isThere = false;
    const gone = (one: StoredRecord): boolean =>
      deleteAll === true ||
      (filter === undefined ? (ids as string[]).includes(one.id) : passes(filter as Body, one.metadata));
    for (const record of [...view.records.values()]) if (gone(record)) view.records.delete(record.id);
  };
  accept(namespace, take, lagMs);
  return written(namespace, {});
}

const shownIn = ({ index, lagMs }: DataRequest): [string, Namespace][] =>
  [...index.namespaces.keys()]
    .map((name): [string, Namespace] => [name, namespaceIn(index, name, lagMs)])
    .filter(([, { shown }]) => shown.isThere);

function described(request: DataRequest): PineconeAnswer {
  const all = shownIn(request).map(
    ([name, { shown }]) => [name, { vectorCount: shown.records.size }] as const,
  );
  const totalVectorCount = all.reduce((sum, [, { vectorCount }]) => sum + vectorCount, 0);
  const { dimension, metric } = request.index;
  const kind = { dimension, metric, indexFullness: 0, vectorType: "dense" };
  return fine({ ...kind, namespaces: Object.fromEntries(all), totalVectorCount });
}

function namespaces(request: DataRequest): PineconeAnswer {
  const all = new Map(shownIn(request));
  const some = page(request, [...all.keys()]);
  if (!some) return wrongLimit();
  const { names, ...pagination } = some;
  const count = (name: string): string => String(all.get(name)?.shown.records.size ?? 0);
  const shown = names.map((name) => ({ name, record_count: count(name) }));
  return fine({ namespaces: shown, ...pagination, total_count: all.size });
}

function ofNamespace(request: DataRequest, name: string): PineconeAnswer {
  const { index, method, lagMs } = request;
  const namespace = namespaceIn(index, name, lagMs);
  if (method === "DELETE") {
    if (!namespace.accepted.isThere) return refusal(404, "Namespace not found");
    accept(
      namespace,
      (view) => {
        view.isThere = false;
        view.records.clear();
      },
      lagMs,
    );
    return fine({});
  }
  if (method !== "GET") return refusal(404, "Not Found");
  if (!namespace.shown.isThere) return refusal(404, "Namespace not found");
  return fine({ name, record_count: String(namespace.shown.records.size) });
}
