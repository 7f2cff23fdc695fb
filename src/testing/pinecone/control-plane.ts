import { createControlRefusal, createSuccess, type PineconeAnswer } from "./answer.ts";
import type { PineconeBody } from "./checks.ts";
import type { StoredIndex } from "./state.ts";

/** Indexes by name, and what the control plane needs to make one. */
export interface PineconeIndexes {
  readonly all: Map<string, StoredIndex>;
  /** The address of an index's own host. */
  hostOf(name: string): string;
  /** How long an index takes to be ready, and to be gone, in ms. */
  readonly createMs: number;
  readonly terminateMs: number;
}

/** Answers as the control plane does (API version 2026-07): list, make, describe and drop indexes. */
export function createControlAnswer(
  indexes: PineconeIndexes,
  method: string,
  path: string,
  body: PineconeBody,
): PineconeAnswer {
  const now = performance.now();
  for (const { name, goneAt } of indexes.all.values()) {
    if (goneAt !== undefined && goneAt <= now) indexes.all.delete(name);
  }
  if (path === "/indexes") {
    if (method === "POST") return createIndex(indexes, body);
    return createSuccess({ indexes: [...indexes.all.values()].map((one) => toIndexModel(indexes, one)) });
  }
  const name = decodeURIComponent(/^\/indexes\/([^/]+)$/.exec(path)?.[1] ?? "");
  const index = indexes.all.get(name);
  if (!index) return createControlRefusal(404, `Resource ${name} not found`);
  if (method === "GET") return createSuccess(toIndexModel(indexes, index));
  if (method !== "DELETE") return createControlRefusal(404, "Not Found");
  index.goneAt ??= now + indexes.terminateMs;
  if (indexes.terminateMs === 0) indexes.all.delete(name);
  return { status: 202, body: "" };
}

function createIndex(indexes: PineconeIndexes, body: PineconeBody): PineconeAnswer {
  const { name, deployment, schema, tags } = body;
  if (typeof name !== "string" || !/^[a-z0-9](?:[a-z0-9-]{0,43}[a-z0-9])?$/.test(name)) {
    return createControlRefusal(400, "Name must consist of lower case alphanumeric characters or '-'");
  }
  if (indexes.all.has(name)) return createControlRefusal(409, "Resource already exists");
  const field = (schema as { fields?: { [name: string]: PineconeBody } } | undefined)?.fields?._values;
  const { dimension, metric } = field ?? {};
  if (typeof dimension !== "number" || dimension < 1 || dimension > 20_000 || typeof metric !== "string") {
    return createControlRefusal(400, "Invalid dimension or metric");
  }
  const index: StoredIndex = {
    name,
    dimension,
    metric,
    deployment: deployment as object,
    tags: (tags as StoredIndex["tags"] | undefined) ?? {},
    readyAt: performance.now() + indexes.createMs,
    namespaces: new Map(),
  };
  indexes.all.set(name, index);
  return { status: 201, body: toIndexModel(indexes, index) };
}

function toIndexModel(indexes: PineconeIndexes, index: StoredIndex): object {
  const { name, dimension, metric, deployment, tags, readyAt, goneAt } = index;
  const isReady = goneAt === undefined && performance.now() >= readyAt;
  const state = goneAt === undefined ? (isReady ? "Ready" : "Initializing") : "Terminating";
  return {
    name,
    host: indexes.hostOf(name),
    status: { ready: isReady, state },
    deployment,
    schema: { fields: { _values: { type: "dense_vector", dimension, metric } } },
    tags,
    deletion_protection: "disabled",
  };
}
