import { expect, it } from "vitest";
import { SERVED_METRICS } from "../../domain/operations/metrics.ts";
import { prometheusMeter } from "./index.ts";

const linesOf = (text: string, name: string): string[] =>
  text.split("\n").filter((line) => line.startsWith(name));

it("counts by labels, in the order of the table", () => {
  const meter = prometheusMeter();
  meter.count("memory_operations_total", { outcome: "ok", operation: "recall" });
  meter.count("memory_operations_total", { operation: "recall", outcome: "ok" }, 2);
  meter.count("memory_operations_total", { operation: "add", outcome: "conflict" });
  expect(linesOf(meter.text(), "memory_operations_total")).toEqual([
    'memory_operations_total{operation="add",outcome="conflict"} 1',
    'memory_operations_total{operation="recall",outcome="ok"} 3',
  ]);
});

it("adds observed values to cumulative buckets", () => {
  const meter = prometheusMeter();
  for (const ms of [0.1, 0.3, 3, 3, 5000]) meter.observe("memory_retrieval_duration_ms", ms);
  const lines = linesOf(meter.text(), "memory_retrieval_duration_ms");
  expect(lines.slice(0, 5)).toEqual([
    'memory_retrieval_duration_ms_bucket{le="0.25"} 1',
    'memory_retrieval_duration_ms_bucket{le="0.5"} 2',
    'memory_retrieval_duration_ms_bucket{le="1"} 2',
    'memory_retrieval_duration_ms_bucket{le="2.5"} 2',
    'memory_retrieval_duration_ms_bucket{le="5"} 4',
  ]);
  expect(lines.slice(-3)).toEqual([
    'memory_retrieval_duration_ms_bucket{le="+Inf"} 5',
    "memory_retrieval_duration_ms_sum 5006.4",
    "memory_retrieval_duration_ms_count 5",
  ]);
});

it("replaces label values that are not allowed", () => {
  const meter = prometheusMeter();
  meter.count("memory_operations_total", { operation: "I live in Porto.", outcome: "ok", user: "ana" });
  meter.count("memory_api_requests_total", { method: "BREW", endpoint: "/api/v1/health", status: "Porto" });
  meter.count("what is this", { user: "ana" });
  for (let i = 0; i < 1000; i += 1) meter.set("llm_circuit_state", 0, { server: `host-${i}` });
  meter.set("llm_circuit_state", 2, { server: "x".repeat(10_000) });
  const text = meter.text();
  expect(text).not.toMatch(/Porto|ana"|BREW|what is this|xxxx/);
  expect(linesOf(text, "llm_circuit_state").length).toBe(201);
});

it("escapes names so that no line can be forged", () => {
  const meter = prometheusMeter();
  meter.set("llm_circuit_state", 1, { server: 'a"b\\c\nmemory_turns_total 9' });
  expect(linesOf(meter.text(), "llm_circuit_state")).toEqual([
    'llm_circuit_state{server="a\\"b\\\\c\\nmemory_turns_total 9"} 1',
  ]);
});

it("reports every metric of the table and the process metrics", () => {
  const text = prometheusMeter().text();
  for (const { name, type, help } of SERVED_METRICS) {
    expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  }
  expect(Number(/^process_resident_memory_bytes (.+)$/m.exec(text)?.[1])).toBeGreaterThan(1e6);
  expect(text.endsWith("\n")).toBe(true);
});

it("ignores invalid counts", () => {
  const meter = prometheusMeter();
  meter.count("memory_turns_total", {}, Number.NaN);
  meter.count("memory_turns_total", {}, -1);
  meter.observe("memory_retrieval_duration_ms", Number.NaN);
  expect(linesOf(meter.text(), "memory_turns_total")).toEqual(["memory_turns_total 0"]);
});
