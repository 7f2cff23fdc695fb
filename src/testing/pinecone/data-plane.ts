import {
  acceptChange,
  getNamespace,
  type PineconeNamespace,
  type StoredIndex,
  type StoredRecord,
} from "./namespaces.ts";
import {
  createDataRefusal,
  createSuccess,
  findDeleteProblem,
  findIdProblem,
  findNamespaceProblem,
  findQueryProblem,
  findUpsertProblem,
  PINECONE_LIMITS,
  type PineconeAnswer,
  type PineconeBody,
  passesFilter,
} from "./protocol.ts";

/** A request to an index. */
export interface DataRequest {
  readonly index: StoredIndex;
  readonly method: string;
  /** Relative to the index's own host: "/vectors/upsert". */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: PineconeBody;
  readonly bytes: number;
  readonly lagMs: number;
}

type DataRoute = (request: DataRequest) => PineconeAnswer;

const ROUTES: { readonly [route: string]: DataRoute } = {
  "POST /vectors/upsert": upsertVectors,
  "POST /query": queryVectors,
  "GET /vectors/fetch": fetchVectors,
  "GET /vectors/list": listVectors,
  "POST /vectors/delete": deleteVectors,
  "POST /describe_index_stats": describeIndex,
  "GET /namespaces": listNamespaces,
};

/** Answers of the data plane (API version 2026-07), for the routes of vectors and namespaces. */
export function createDataAnswer(request: DataRequest): PineconeAnswer {
  const { method, path, body, query } = request;
  const one = /^\/namespaces\/([^/]+)$/.exec(path)?.[1];
  if (one !== undefined) return describeNamespace(request, decodeURIComponent(one));
  const route = ROUTES[`${method} ${path}`];
  if (!route) return createDataRefusal(404, "Not Found");
  const problem = findNamespaceProblem(body.namespace ?? query.get("namespace") ?? "");
  return problem === undefined ? route(request) : createDataRefusal(400, problem);
}

const readNamespaceName = ({ body, query }: DataRequest): string =>
  String(body.namespace ?? query.get("namespace") ?? "");

const openNamespace = (request: DataRequest): PineconeNamespace =>
  getNamespace(request.index, readNamespaceName(request), request.lagMs);

const createWriteAnswer = (namespace: PineconeNamespace, body: object): PineconeAnswer =>
  createSuccess(body, { "x-pinecone-request-lsn": String(namespace.lsn) });

const createReadAnswer = (namespace: PineconeNamespace, body: object): PineconeAnswer =>
  createSuccess(body, { "x-pinecone-max-indexed-lsn": String(namespace.shownLsn) });

function upsertVectors(request: DataRequest): PineconeAnswer {
  const { index, body, bytes, lagMs } = request;
  const problem = findUpsertProblem(index, body, bytes);
  if (problem !== undefined) return createDataRefusal(400, problem);
  const records = (body.vectors as StoredRecord[]).map(({ id, values, metadata = {} }) => {
    return { id, values: values.map(Math.fround), metadata };
  });
  const namespace = openNamespace(request);
  const put = (view: PineconeNamespace["accepted"]): void => {
    view.isThere = true;
    for (const record of records) view.records.set(record.id, record);
  };
  acceptChange(namespace, put, lagMs);
  return createWriteAnswer(namespace, { upsertedCount: records.length });
}

/** The exact nearest. ASSUMED: the real, approximate search finds the same among few vectors. */
function queryVectors(request: DataRequest): PineconeAnswer {
  const { index, body } = request;
  const problem = findQueryProblem(index, body);
  if (problem !== undefined) return createDataRefusal(400, problem);
  const { topK, vector, filter, includeValues, includeMetadata } = body;
  const namespace = openNamespace(request);
  const matches = [...namespace.shown.records.values()]
    .filter(({ metadata }) => filter === undefined || passesFilter(filter as PineconeBody, metadata))
    .map((record) => ({ record, score: computeCosine(record.values, vector as number[]) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, topK as number)
    .map(({ record: { id, values, metadata }, score }) => ({
      id,
      score,
      values: includeValues === true ? values : [],
      ...(includeMetadata === true ? { metadata } : {}),
    }));
  return createReadAnswer(namespace, {
    matches,
    namespace: readNamespaceName(request),
    usage: { readUnits: 1 },
  });
}

function computeCosine(one: readonly number[], other: readonly number[]): number {
  const product = one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
  return product / (Math.hypot(...one) * Math.hypot(...other));
}

function fetchVectors(request: DataRequest): PineconeAnswer {
  const ids = request.query.getAll("ids");
  if (ids.length === 0 || ids.length > PINECONE_LIMITS.fetched)
    return createDataRefusal(400, "ids: 1 to 1000");
  const problem = ids.map(findIdProblem).find((one) => one !== undefined);
  if (problem !== undefined) return createDataRefusal(400, problem);
  const namespace = openNamespace(request);
  const records = ids.flatMap((id) => namespace.shown.records.get(id) ?? []);
  const vectors = Object.fromEntries(records.map((record) => [record.id, record]));
  return createReadAnswer(namespace, {
    vectors,
    namespace: readNamespaceName(request),
    usage: { readUnits: 1 },
  });
}

/** A page of names in bitwise order. The token is the start of the next page. */
function createPage(
  request: DataRequest,
  names: readonly string[],
): { names: string[]; pagination?: object } | undefined {
  const { query } = request;
  const limit = Number(query.get("limit") ?? PINECONE_LIMITS.listed);
  if (!Number.isInteger(limit) || limit < 1 || limit > PINECONE_LIMITS.listed) return undefined;
  const after = Buffer.from(query.get("paginationToken") ?? "", "base64").toString("utf8");
  const prefix = query.get("prefix") ?? "";
  // Names are ASCII, so JavaScript's text order is bitwise.
  const all = names.filter((name) => name.startsWith(prefix) && name > after).sort();
  const some = all.slice(0, limit);
  const next = Buffer.from(some.at(-1) ?? "").toString("base64");
  return { names: some, ...(all.length > some.length ? { pagination: { next } } : {}) };
}

const createLimitRefusal = (): PineconeAnswer => createDataRefusal(400, "limit must be between 1 and 100");

function listVectors(request: DataRequest): PineconeAnswer {
  const namespace = openNamespace(request);
  const some = createPage(request, [...namespace.shown.records.keys()]);
  if (!some) return createLimitRefusal();
  const { names, ...pagination } = some;
  const vectors = names.map((id) => ({ id }));
  return createReadAnswer(namespace, {
    vectors,
    ...pagination,
    namespace: readNamespaceName(request),
    usage: { readUnits: 1 },
  });
}

function deleteVectors(request: DataRequest): PineconeAnswer {
  const { body, lagMs } = request;
  const problem = findDeleteProblem(body);
  if (problem !== undefined) return createDataRefusal(400, problem);
  const namespace = openNamespace(request);
  if (!namespace.accepted.isThere) return createDataRefusal(404, "Namespace not found");
  const { ids, filter, deleteAll } = body;
  const take = (view: PineconeNamespace["accepted"]): void => {
    if (deleteAll === true) view.isThere = false;
    const gone = (one: StoredRecord): boolean =>
      deleteAll === true ||
      (filter === undefined
        ? (ids as string[]).includes(one.id)
        : passesFilter(filter as PineconeBody, one.metadata));
    for (const record of [...view.records.values()]) if (gone(record)) view.records.delete(record.id);
  };
  acceptChange(namespace, take, lagMs);
  return createWriteAnswer(namespace, {});
}

const listShownNamespaces = ({ index, lagMs }: DataRequest): [string, PineconeNamespace][] =>
  [...index.namespaces.keys()]
    .map((name): [string, PineconeNamespace] => [name, getNamespace(index, name, lagMs)])
    .filter(([, { shown }]) => shown.isThere);

function describeIndex(request: DataRequest): PineconeAnswer {
  const all = listShownNamespaces(request).map(
    ([name, { shown }]) => [name, { vectorCount: shown.records.size }] as const,
  );
  const totalVectorCount = all.reduce((sum, [, { vectorCount }]) => sum + vectorCount, 0);
  const { dimension, metric } = request.index;
  const kind = { dimension, metric, indexFullness: 0, vectorType: "dense" };
  return createSuccess({ ...kind, namespaces: Object.fromEntries(all), totalVectorCount });
}

function listNamespaces(request: DataRequest): PineconeAnswer {
  const all = new Map(listShownNamespaces(request));
  const some = createPage(request, [...all.keys()]);
  if (!some) return createLimitRefusal();
  const { names, ...pagination } = some;
  const count = (name: string): string => String(all.get(name)?.shown.records.size ?? 0);
  const shown = names.map((name) => ({ name, record_count: count(name) }));
  return createSuccess({ namespaces: shown, ...pagination, total_count: all.size });
}

function describeNamespace(request: DataRequest, name: string): PineconeAnswer {
  const { index, method, lagMs } = request;
  const namespace = getNamespace(index, name, lagMs);
  if (method === "DELETE") {
    if (!namespace.accepted.isThere) return createDataRefusal(404, "Namespace not found");
    acceptChange(
      namespace,
      (view) => {
        view.isThere = false;
        view.records.clear();
      },
      lagMs,
    );
    return createSuccess({});
  }
  if (method !== "GET") return createDataRefusal(404, "Not Found");
  if (!namespace.shown.isThere) return createDataRefusal(404, "Namespace not found");
  return createSuccess({ name, record_count: String(namespace.shown.records.size) });
}
