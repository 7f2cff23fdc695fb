import { describe, expect, it } from "vitest";
import { writeOutRows } from "./row-lists.ts";

describe("rows of arrays written out for Citus", () => {
  it("become one list of values, with constants and parameters in each row", () => {
    const sql =
      "INSERT INTO gone (person, type, id, place) SELECT $1, 'memory', id, place FROM unnest($2::text[], $3::bigint[]) " +
      "WITH ORDINALITY AS row (id, place, order) ORDER BY place ON CONFLICT (person, id) DO UPDATE SET place = excluded.place";
    expect(writeOutRows({ sql, values: [7, ["a", "b"], [1, null]] })).toEqual([
      {
        sql:
          "INSERT INTO gone (person, type, id, place) VALUES ($1, 'memory', $2::text, $3::bigint), ($1, 'memory', $4::text, $5::bigint) " +
          "ON CONFLICT (person, id) DO UPDATE SET place = excluded.place",
        values: [7, "a", 1, "b", null],
        isUnnamed: true,
      },
    ]);
  });

  it("keep an array in a column", () => {
    const sql =
      "INSERT INTO t (id, list) SELECT row.id, ARRAY(SELECT json_array_elements_text(row.list)) " +
      "FROM unnest($1::text[], $2::json[]) WITH ORDINALITY AS row (id, list, place) ORDER BY place ON CONFLICT DO NOTHING";
    expect(writeOutRows({ sql, values: [["a"], ['["x","y"]']] })).toEqual([
      {
        sql: "INSERT INTO t (id, list) VALUES ($1::text, $2::text[]) ON CONFLICT DO NOTHING",
        values: ["a", ["x", "y"]],
        isUnnamed: true,
      },
    ]);
  });

  it("are split before the limit of parameters", () => {
    const sql = "INSERT INTO t (person, id) SELECT $1, id FROM unnest($2::text[]) AS row (id)";
    const statements = writeOutRows({ sql, values: [7, Array.from({ length: 30_000 }, (_, i) => `${i}`)] });
    expect(statements.map(({ values }) => values.length)).toEqual([10_667, 10_667, 8669]);
  });

  it("are no statement if there is no row", () => {
    const sql = "INSERT INTO t (person, id) SELECT $1, id FROM unnest($2::text[]) AS row (id)";
    expect(writeOutRows({ sql, values: [7, []] })).toEqual([]);
  });

  it("leave other statements unchanged", () => {
    const statement = { sql: "UPDATE t SET id = row.id FROM unnest($1::text[]) AS row (id)", values: [[]] };
    expect(writeOutRows(statement)).toEqual([statement]);
  });
});
