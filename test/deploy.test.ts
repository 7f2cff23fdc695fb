import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { dashboard } from "../scripts/dashboard.ts";
import { readSettings } from "../src/config/settings.ts";
import { VENDOR_PACKAGES } from "../src/config/vendor-packages.ts";
import { SERVED_METRICS } from "../src/domain/operations/metrics.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

interface Service {
  readonly image: string;
  readonly environment?: { readonly [name: string]: string };
  readonly volumes?: readonly string[];
  readonly depends_on?: { readonly [service: string]: { readonly condition: string } };
  readonly healthcheck?: object;
  readonly ports?: readonly string[];
}

const { services, volumes } = parse(read("compose.yaml"), { merge: true }) as {
  readonly services: { readonly [name: string]: Service };
  readonly volumes: object;
};

/** With something in place of what `.env` holds. */
const filled = (environment: Service["environment"] = {}): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      String(value).replace(/\$\{\w+:\?\}/g, "0123456789abcdef01234567"),
    ]),
  );

/** A metric as it is served now: the dashboard asks for no earlier name. */
const metricOf = (name: string) =>
  SERVED_METRICS.find((metric) => !metric.isDeprecated && metric.name === name.replace(/_bucket$/, ""));

describe("compose.yaml", () => {
  it.each(["keepsake", "worker"])("sets nothing for %s that Keepsake would not start with", (name) => {
    expect(readSettings(filled(services[name]?.environment))).toMatchObject({
      secret: "0123456789abcdef01234567",
      backends: {
        postgres: { url: expect.stringContaining("@postgres:5432/") },
        redis: { url: "redis://redis:6379" },
        sessions: "redis",
        queue: "bullmq",
        chroma: { url: "http://chroma:8000" },
      },
    });
  });

  it("pins every image, and lets this machine alone in", () => {
    for (const [name, { image, ports = [] }] of Object.entries(services)) {
      if (image !== "keepsake") expect(image, name).toMatch(/:[\w.-]*\d/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("mounts only what is there, and waits only for what says that it is well", () => {
    for (const { volumes: mounts = [], depends_on: needed = {} } of Object.values(services)) {
      for (const mount of mounts) {
        const [source = ""] = mount.split(":");
        expect(source.startsWith(".") ? existsSync(join(ROOT, source)) : source in volumes, mount).toBe(true);
      }
      for (const name of Object.keys(needed)) expect(services[name]?.healthcheck, name).toBeDefined();
    }
  });

  it("has an image with the vendors' packages in the versions that the suites ran with", () => {
    const [, list = ""] = /\.tgz (.*) \\/.exec(read("deploy/Dockerfile")) ?? [];
    const packages = list.split(" ").map((one) => one.split("@"));
    expect(packages.length).toBeGreaterThan(3);
    for (const [name = "", major] of packages) {
      expect(Object.entries(VENDOR_PACKAGES).find(([known]) => known === name)?.[1].major, name).toBe(
        Number(major),
      );
    }
  });
});

describe("the dashboard", () => {
  const { panels } = dashboard() as {
    readonly panels: readonly {
      readonly title: string;
      readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
      readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
    }[];
  };
  const targets = panels.flatMap(({ targets: all = [] }) => all);

  /** The names in a query under which Prometheus knows our metrics. */
  const namesIn = (query: string): string[] =>
    [...query.matchAll(/\b(?:memory|llm|cache|keepsake|process|nodejs)_\w+/g)].map(([name]) => name);

  it("is what `npm run docs` writes", () => {
    expect(JSON.parse(read("deploy/grafana/dashboards/keepsake.json"))).toEqual(dashboard());
  });

  it("asks for metrics that there are, as what they are", () => {
    expect(targets.length).toBeGreaterThan(20);
    for (const { expr } of targets) {
      const names = namesIn(expr);
      expect(names.length, expr).toBeGreaterThan(0);
      for (const name of names) {
        const metric = metricOf(name);
        expect(metric, name).toBeDefined();
        expect(metric?.type === "histogram", name).toBe(name.endsWith("_bucket"));
        const isCounted = new RegExp(`(?:rate|increase)\\(${name}`).test(expr);
        expect(isCounted, `${name} in ${expr}`).toBe(metric?.type !== "gauge");
      }
    }
  });

  it("divides by labels that those have, and names its lines by them", () => {
    for (const { expr, legendFormat } of targets) {
      const labels = namesIn(expr).flatMap((name) => Object.keys(metricOf(name)?.labels ?? {}));
      const used = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", "));
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
      for (const label of [...used, ...shown]) expect([...labels, "le", "instance"]).toContain(label);
    }
  });

  it("lays no graph over another", () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_cell, i) => `${x + (i % w)}, ${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});
