import { createServer, type Server } from "node:http";
import { MemoryError } from "../errors.ts";

/** How a worker is: whether its database answers, without which it can do nothing, and its queue, without which it goes on. */
export interface WorkerHealth {
  readonly record: "ok" | "unavailable";
  readonly queue?: "ok" | "unavailable";
}

interface HealthServerOptions {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  readonly health: () => Promise<WorkerHealth>;
  /** Prometheus' text. */
  readonly metrics: () => Promise<string>;
}

const HEADERS_MS = 5000;

/**
 * Answers `GET /health` (200, or 503 where the database does not answer) and `GET /metrics`, with nothing about anybody. Gives where
 * it listens; `unavailable` where the port is taken.
 */
export async function createHealthServer({
  host,
  port,
  health,
  metrics,
}: HealthServerOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const answer = async (path: string): Promise<{ status: number; type: string; body: string }> => {
    if (path === "/metrics") {
      return { status: 200, type: "text/plain; version=0.0.4", body: await metrics() };
    }
    if (path !== "/health") return { status: 404, type: "application/json", body: '{"error":"not found"}\n' };
    const { record, ...rest } = await health();
    const status = record === "ok" ? 200 : 503;
    const body = { status: status === 200 ? "ok" : "unavailable", record, ...rest };
    return { status, type: "application/json", body: `${JSON.stringify(body)}\n` };
  };
  const server = createServer({ headersTimeout: HEADERS_MS }, (request, response) => {
    const path = request.method === "GET" ? (request.url ?? "").split("?")[0] : "";
    answer(path ?? "").then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await startListening(server, host, port);
  const address = server.address();
  const found = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${found}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `it cannot listen on ${host}, port ${port}. Choose another with --port.`;
      reject(new MemoryError("unavailable", message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}
