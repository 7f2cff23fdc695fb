import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { started } from "../bench/load/server.ts";
import { dashboard } from "../scripts/dashboard.ts";
import { readSettings } from "../src/config/settings.ts";
import { VENDOR_PACKAGES } from "../src/config/vendor-packages.ts";
import { SERVED_METRICS } from "../src/domain/operations/metrics.ts";
import { COMPOSE_SCHEMA, DASHBOARD_SCHEMA } from "./compose-schema.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** A folder with promtool and kubernetes-validate: `test/services/deploy-tools` makes one. */
const { KEEPSAKE_TEST_DEPLOY_TOOLS: TOOLS } = process.env;
const WITHOUT_TOOLS = "(needs KEEPSAKE_TEST_DEPLOY_TOOLS: see test/services/deploy-tools)";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: object;
    readonly ports?: readonly object[];
    readonly template?: {
      readonly metadata: {
        readonly labels: object;
        readonly annotations: { readonly [name: string]: string };
      };
      readonly spec: {
        readonly enableServiceLinks?: boolean;
        readonly securityContext: object;
        readonly containers: readonly ManifestContainer[];
        readonly volumes?: readonly { readonly name: string }[];
      };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface ManifestContainer {
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly ports?: readonly object[];
  readonly securityContext?: object;
  readonly startupProbe?: object;
  readonly readinessProbe?: object;
  readonly livenessProbe?: object;
  readonly volumeMounts?: readonly { readonly name: string }[];
}

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

/** What a schema says against a document: nothing if it fits. */
function findSchemaFaults(schema: object, document: unknown): string[] {
  const ajv = new Ajv2020({ allErrors: true, strictTuples: false });
  ajv.validate(schema, document);
  return (ajv.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
  );
}

describe("compose.yaml", () => {
  it("has only keys and values of the Compose specification", () => {
    const document = parse(read("compose.yaml"), { merge: true }) as { services: { keepsake: object } };
    expect(findSchemaFaults(COMPOSE_SCHEMA, document)).toEqual([]);
    const { keepsake } = document.services;
    for (const slip of [
      { restarts: "always" },
      { depends_on: { redis: { condition: "healthy" } } },
      { ports: [7420] },
      { stop_grace_period: "30" },
      { environment: { KEEPSAKE_PORT: 7420 } },
    ]) {
      const wrong = { ...document, services: { keepsake: { ...keepsake, ...slip } } };
      expect(findSchemaFaults(COMPOSE_SCHEMA, wrong), JSON.stringify(slip)).not.toEqual([]);
    }
  });

  it("mounts where Grafana's provisioning and its dashboards look for each other", () => {
    const at = "deploy/grafana/provisioning";
    const { providers } = parse(read(`${at}/dashboards/keepsake.yaml`)) as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const mounts = services.grafana?.volumes ?? [];
    for (const { options } of providers)
      expect(mounts).toContain(`./deploy/grafana/dashboards:${options.path}:ro`);
    const { datasources } = parse(read(`${at}/datasources/prometheus.yaml`)) as {
      readonly datasources: readonly { readonly uid: string; readonly type: string; readonly url: string }[];
    };
    expect(datasources).toMatchObject([
      { uid: "prometheus", type: "prometheus", url: "http://prometheus:9090" },
    ]);
    expect(services.prometheus).toBeDefined();
  });

  it("has Prometheus scrape services that there are, on ports where they listen", () => {
    const { scrape_configs: jobs } = parse(read("deploy/prometheus.yaml")) as {
      readonly scrape_configs: readonly {
        readonly static_configs?: readonly { readonly targets: readonly string[] }[];
        readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
      }[];
    };
    const targets = jobs.flatMap((job) => [
      ...(job.static_configs ?? []).flatMap(({ targets: all }) => all),
      ...(job.dns_sd_configs ?? []).flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
    ]);
    expect(targets.sort()).toEqual(["keepsake:7420", "worker:7421"]);
    expect(JSON.stringify(services.worker)).toContain("7421");
  });

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

  it("has an image with every vendor's package that a setting needs, in the version that the suites ran with", () => {
    const [, command = ""] = /npm install ([^&]*)&&/.exec(read("deploy/Dockerfile")) ?? [];
    const packages = command.split(/[\s\\]+/).filter((word) => /@\d+$/.test(word));
    const wanted = Object.entries(VENDOR_PACKAGES).map(([name, { major }]) => `${name}@${major}`);
    expect(packages.sort()).toEqual(wanted.sort());
  });
});

describe("the rules of Prometheus", () => {
  const { groups } = parse(read("deploy/prometheus-rules.yaml")) as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  it("alert on metrics that there are, by labels that those have", () => {
    expect(rules.length).toBeGreaterThan(4);
    for (const { alert, expr } of rules) {
      const names = [...expr.matchAll(/\b(?:memory|keepsake)_\w+/g)].map(([name]) => name);
      expect(names.length + (/\bup\b/.test(expr) ? 1 : 0), alert).toBeGreaterThan(0);
      for (const name of names) expect(metricOf(name), `${name} in ${alert}`).toBeDefined();
      const labels = names.flatMap((name) => Object.keys(metricOf(name)?.labels ?? {}));
      for (const [, label = ""] of expr.matchAll(/\{(\w+)=/g))
        expect([...labels, "job"], alert).toContain(label);
    }
  });

  it("alert before two days have passed without a backup", () => {
    const rule = rules.find(({ alert }) => alert === "KeepsakeBackupOld");
    expect(rule?.expr).toContain(`> ${2 * 86_400}`);
  });

  it("are mounted where the configuration looks for them", () => {
    const { rule_files: files } = parse(read("deploy/prometheus.yaml")) as { rule_files: readonly string[] };
    expect(services.prometheus?.volumes).toContain(
      `./deploy/prometheus-rules.yaml:/etc/prometheus/${files[0]}:ro`,
    );
  });

  it.skipIf(!TOOLS)(`pass promtool ${TOOLS ? "" : WITHOUT_TOOLS}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-rules-"));
    writeFileSync(join(folder, "prometheus.yml"), read("deploy/prometheus.yaml"));
    writeFileSync(join(folder, "rules.yml"), read("deploy/prometheus-rules.yaml"));
    const out = execFileSync(
      join(TOOLS ?? "", "promtool"),
      ["check", "config", join(folder, "prometheus.yml")],
      {
        encoding: "utf8",
      },
    );
    expect(out).toMatch(/SUCCESS: \d+ rules found/);
    rmSync(folder, { recursive: true });
  });
});

/** A request with this `Host`: the status and the body. */
const get = (port: string, path: string, host: string): Promise<[number, string]> =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      response.once("end", () => resolve([response.statusCode ?? 0, body]));
    })
      .once("error", reject)
      .end();
  });

describe("the manifests of Kubernetes", () => {
  const manifests = parseAllDocuments(read("deploy/kubernetes/keepsake.yaml")).map(
    (document) => document.toJS() as Manifest,
  );
  const find = (kind: string): Manifest => {
    const found = manifests.find((one) => one.kind === kind);
    if (!found) throw new Error(`there is no ${kind}`);
    return found;
  };
  const [container] = find("StatefulSet").spec.template?.spec.containers ?? [];
  const key = "0123456789abcdef01234567";

  /** What a pod with this address gets: references are to earlier variables. */
  const environmentOf = (podIp: string): { [name: string]: string } => {
    const variables: { [name: string]: string } = {};
    for (const { name, value = "", valueFrom } of container?.env ?? []) {
      const isAddress = valueFrom?.fieldRef.fieldPath === "status.podIP";
      variables[name] = isAddress ? podIp : value.replace(/\$\((\w+)\)/g, (all, of) => variables[of] ?? all);
    }
    return { ...variables, KEEPSAKE_SECRET: key, KEEPSAKE_API_KEY: key };
  };

  /** What Kubernetes sets in pods that were started after a Service, unless they say otherwise. */
  const linksOf = ({ metadata: { name } }: Manifest): { [name: string]: string } => {
    const prefix = name.toUpperCase().replaceAll("-", "_");
    return {
      [`${prefix}_SERVICE_HOST`]: "10.0.0.7",
      [`${prefix}_SERVICE_PORT`]: "7420",
      [`${prefix}_SERVICE_PORT_HTTP`]: "7420",
      [`${prefix}_PORT`]: "tcp://10.0.0.7:7420",
      [`${prefix}_PORT_7420_TCP`]: "tcp://10.0.0.7:7420",
      [`${prefix}_PORT_7420_TCP_PROTO`]: "tcp",
      [`${prefix}_PORT_7420_TCP_PORT`]: "7420",
      [`${prefix}_PORT_7420_TCP_ADDR`]: "10.0.0.7",
    };
  };

  it.each(["10.1.2.3", "fd00::7"])(
    "set nothing that Keepsake would not start with, in a pod at %s",
    (podIp) => {
      const hasLinks = find("StatefulSet").spec.template?.spec.enableServiceLinks !== false;
      const links = hasLinks ? linksOf(find("Service")) : {};
      expect(readSettings({ ...links, ...environmentOf(podIp) })).toMatchObject({
        path: "/data/keepsake.db",
        port: 7420,
        backups: { to: { folder: "/backups" } },
        log: { form: "json", level: "info" },
      });
    },
  );

  it("run one process on one file, without rights, and write only into their volumes", () => {
    const { replicas, template, volumeClaimTemplates: claims = [] } = find("StatefulSet").spec;
    expect(replicas).toBe(1);
    expect(template?.spec.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container?.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
    const volumes = [
      ...claims.map(({ metadata }) => metadata.name),
      ...(template?.spec.volumes ?? []).map(({ name }) => name),
    ];
    expect((container?.volumeMounts ?? []).map(({ name }) => name).sort()).toEqual(volumes.sort());
  });

  it("ask paths that there are, name a port that there is, and select the pods", () => {
    const probes = JSON.stringify([
      container?.startupProbe,
      container?.readinessProbe,
      container?.livenessProbe,
    ]);
    for (const [, path = ""] of probes.matchAll(/7420(\/[\w/]+)/g))
      expect(["/api/v1/health", "/api/v1/ready"]).toContain(path);
    expect(find("Service").spec.ports).toMatchObject([{ targetPort: "http" }]);
    expect(container?.ports).toMatchObject([{ name: "http", containerPort: 7420 }]);
    expect(find("Service").spec.selector).toEqual(find("StatefulSet").spec.template?.metadata.labels);
  });

  it("let Prometheus scrape a pod as its annotations say: by its address, without a key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-pod-"));
    const own = { ...environmentOf("10.1.2.3"), KEEPSAKE_BACKUP_TO: folder, KEEPSAKE_LOG: "off" };
    const server = await started(join(folder, "memory.db"), own);
    try {
      const { annotations = {} } = find("StatefulSet").spec.template?.metadata ?? {};
      expect(annotations["prometheus.io/scrape"]).toBe("true");
      const port = Number(annotations["prometheus.io/port"]);
      expect(container?.ports).toMatchObject([{ containerPort: port }]);
      const scrape = (address: string) =>
        get(new URL(server.url).port, annotations["prometheus.io/path"] ?? "/metrics", `${address}:${port}`);
      expect(await scrape("10.1.2.3")).toEqual([200, expect.stringContaining("process_cpu_seconds_total")]);
      expect((await scrape("10.1.2.4"))[0]).toBe(403);
    } finally {
      await server.end("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  });

  it.skipIf(!TOOLS)(`fit the schemas of Kubernetes, strictly ${TOOLS ? "" : WITHOUT_TOOLS}`, () => {
    const out = execFileSync(
      join(TOOLS ?? "", "kubernetes-validate"),
      ["--strict", join(ROOT, "deploy/kubernetes/keepsake.yaml")],
      { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    );
    expect(out).not.toMatch(/ERROR/);
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

  it("has only fields of Grafana's model of a dashboard", () => {
    expect(findSchemaFaults(DASHBOARD_SCHEMA, dashboard())).toEqual([]);
    expect(findSchemaFaults(DASHBOARD_SCHEMA, { ...dashboard(), panel: [] })).toHaveLength(1);
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
