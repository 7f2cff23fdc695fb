/** A duration of Compose: "2s", "1m30s". */
const DURATION = { type: "string", pattern: "^(?:\\d+(?:us|ms|s|m|h))+$" } as const;
const TEXT = { type: "string", minLength: 1 } as const;
const COMMAND = { oneOf: [TEXT, { type: "array", items: TEXT, minItems: 1 }] } as const;
/** A variable's value: Compose reads other values than texts, but a number such as 0123 changes on the way. */
const ENVIRONMENT = { type: "object", additionalProperties: { type: "string" } } as const;

const HEALTHCHECK = {
  type: "object",
  additionalProperties: false,
  required: ["test"],
  properties: {
    test: {
      type: "array",
      minItems: 2,
      items: { type: "string" },
      prefixItems: [{ enum: ["CMD", "CMD-SHELL"] }],
    },
    interval: DURATION,
    timeout: DURATION,
    start_period: DURATION,
    retries: { type: "integer", minimum: 1 },
  },
} as const;

const SERVICE = {
  type: "object",
  additionalProperties: false,
  required: ["image"],
  properties: {
    build: {
      type: "object",
      additionalProperties: false,
      required: ["context"],
      properties: { context: TEXT, dockerfile: TEXT },
    },
    image: TEXT,
    restart: { enum: ["no", "always", "on-failure", "unless-stopped"] },
    command: COMMAND,
    environment: ENVIRONMENT,
    depends_on: {
      type: "object",
      additionalProperties: {
        type: "object",
        additionalProperties: false,
        required: ["condition"],
        properties: {
          condition: { enum: ["service_started", "service_healthy", "service_completed_successfully"] },
        },
      },
    },
    // An unquoted port of YAML 1.1 may be a number to the base of 60.
    ports: { type: "array", items: { type: "string", pattern: "^127\\.0\\.0\\.1:\\d+:\\d+$" } },
    volumes: { type: "array", items: { type: "string", pattern: "^[^:]+:/[^:]+(?::ro)?$" } },
    healthcheck: HEALTHCHECK,
    stop_grace_period: DURATION,
    shm_size: { type: "string", pattern: "^\\d+[kmg]b?$" },
  },
} as const;

/**
 * The part of the Compose specification that `compose.yaml` uses, written down by its text. A key that is not here is refused: it is a
 * slip, or belongs here with its form.
 */
export const COMPOSE_SCHEMA: object = {
  type: "object",
  additionalProperties: false,
  required: ["services"],
  patternProperties: { "^x-": {} },
  properties: {
    services: {
      type: "object",
      propertyNames: { pattern: "^[a-zA-Z0-9._-]+$" },
      additionalProperties: SERVICE,
    },
    volumes: { type: "object", additionalProperties: { type: "null" } },
  },
};

/** The part of Grafana's model of a dashboard that ours uses: a key that Grafana does not know is ignored there, in silence. */
export const DASHBOARD_SCHEMA: object = {
  type: "object",
  additionalProperties: false,
  required: ["uid", "title", "schemaVersion", "panels"],
  properties: {
    uid: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,40}$" },
    title: TEXT,
    schemaVersion: { type: "integer", minimum: 36 },
    editable: { type: "boolean" },
    refresh: DURATION,
    time: {
      type: "object",
      additionalProperties: false,
      required: ["from", "to"],
      properties: { from: TEXT, to: TEXT },
    },
    timezone: { enum: ["browser", "utc"] },
    panels: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["id", "type", "title", "gridPos"],
        properties: {
          id: { type: "integer", minimum: 1 },
          type: { enum: ["row", "timeseries"] },
          title: TEXT,
          description: TEXT,
          collapsed: { type: "boolean" },
          panels: { type: "array", maxItems: 0 },
          gridPos: {
            type: "object",
            additionalProperties: false,
            required: ["x", "y", "w", "h"],
            properties: {
              x: { type: "integer", minimum: 0, maximum: 23 },
              y: { type: "integer", minimum: 0 },
              w: { type: "integer", minimum: 1, maximum: 24 },
              h: { type: "integer", minimum: 1 },
            },
          },
          datasource: {
            type: "object",
            additionalProperties: false,
            required: ["type", "uid"],
            properties: { type: { const: "prometheus" }, uid: { const: "prometheus" } },
          },
          fieldConfig: {
            type: "object",
            additionalProperties: false,
            required: ["defaults", "overrides"],
            properties: {
              defaults: {
                type: "object",
                additionalProperties: false,
                properties: {
                  unit: {
                    enum: [
                      "s",
                      "ops",
                      "reqps",
                      "bytes",
                      "short",
                      "currencyUSD",
                      "percentunit",
                      "dateTimeFromNow",
                    ],
                  },
                  min: { type: "number" },
                  custom: { type: "object" },
                },
              },
              overrides: { type: "array" },
            },
          },
          options: { type: "object" },
          targets: {
            type: "array",
            minItems: 1,
            items: {
              type: "object",
              required: ["refId", "expr"],
              properties: { refId: { type: "string", pattern: "^[A-Z]$" }, expr: TEXT, legendFormat: TEXT },
            },
          },
        },
      },
    },
  },
};
