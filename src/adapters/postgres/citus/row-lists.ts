import type { SqlStatement } from "../database/connection.ts";

/**
 * Rows that a statement takes from arrays (`INSERT … SELECT … FROM unnest(…)`), written out as VALUES. Citus would run the arrays on
 * the coordinator and copy the rows, which row-level security forbids. Rows written out go to the shard that stores them.
 */
export function writeOutRows(statement: SqlStatement): readonly SqlStatement[] {
  const insert = parseInsert(statement.sql);
  if (!insert) return [statement];
  const { values } = statement;
  const count = (values[insert.arrays[0]?.parameter ?? 0] as readonly unknown[]).length;
  const perStatement = Math.max(1, Math.floor(MAX_PARAMETERS / (insert.arrays.length + values.length)));
  const statements: SqlStatement[] = [];
  for (let from = 0; from < count; from += perStatement) {
    statements.push(writeOut(insert, values, from, Math.min(count, from + perStatement)));
  }
  return statements;
}

/** Below the protocol's limit of 65,535. */
const MAX_PARAMETERS = 32_000;

/** A column of the inserted rows: a parameter, a literal, or an element of an array. */
type InsertColumn =
  | { readonly type: "parameter"; readonly parameter: number }
  | { readonly type: "literal"; readonly sql: string }
  | { readonly type: "element"; readonly array: number; readonly isJson: boolean };

interface ArrayInsert {
  readonly head: string;
  readonly columns: readonly InsertColumn[];
  readonly arrays: readonly { readonly parameter: number; readonly type: string }[];
  readonly tail: string;
}

const ARRAY_INSERT =
  /^(?<head>INSERT INTO \w+ \([^)]+\)) SELECT (?<columns>.+) FROM unnest\((?<arrays>[^)]+)\)(?: WITH ORDINALITY)? AS row \((?<names>[^)]+)\)(?: ORDER BY place)?(?<tail>| ON CONFLICT .*)$/;
/** An array as JSON, because arrays of arrays are multidimensional in PostgreSQL. Written out, it is one array. */
const JSON_ARRAY = "ARRAY(SELECT json_array_elements_text(";
const parsedInserts = new Map<string, ArrayInsert | undefined>();

function parseInsert(sql: string): ArrayInsert | undefined {
  if (!parsedInserts.has(sql)) parsedInserts.set(sql, parseArrayInsert(sql));
  return parsedInserts.get(sql);
}

function parseArrayInsert(sql: string): ArrayInsert | undefined {
  const {
    head = "",
    columns = "",
    arrays = "",
    names = "",
    tail = "",
  } = ARRAY_INSERT.exec(sql)?.groups ?? {};
  if (head === "") return undefined;
  const places = names.split(", ");
  return {
    head,
    tail,
    arrays: arrays.split(", ").map((array) => {
      const [parameter = "", type = ""] = array.split("::");
      return { parameter: Number(parameter.slice(1)) - 1, type: type.replace("[]", "") };
    }),
    columns: columns.split(", ").map((column): InsertColumn => {
      if (column.startsWith("$")) return { type: "parameter", parameter: Number(column.slice(1)) - 1 };
      const isJson = column.startsWith(JSON_ARRAY);
      const name = column.replace(JSON_ARRAY, "").replace("row.", "").replaceAll(")", "");
      const array = places.indexOf(name);
      return array < 0 ? { type: "literal", sql: column } : { type: "element", array, isJson };
    }),
  };
}

function writeOut(
  { head, columns, arrays, tail }: ArrayInsert,
  values: readonly unknown[],
  from: number,
  to: number,
): SqlStatement {
  const parameters: unknown[] = [];
  const shared = new Map<number, string>();
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const bindShared = (parameter: number): string => {
    const known = shared.get(parameter) ?? bind(values[parameter]);
    shared.set(parameter, known);
    return known;
  };
  const rows = Array.from({ length: to - from }, (_, i) => {
    const cells = columns.map((column) => {
      if (column.type === "literal") return column.sql;
      if (column.type === "parameter") return bindShared(column.parameter);
      const { parameter = 0, type = "text" } = arrays[column.array] ?? {};
      const value = (values[parameter] as readonly unknown[])[from + i];
      return column.isJson ? `${bind(JSON.parse(String(value)))}::text[]` : `${bind(value)}::${type}`;
    });
    return `(${cells.join(", ")})`;
  });
  return { sql: `${head} VALUES ${rows.join(", ")}${tail}`, values: parameters, isUnnamed: true };
}
