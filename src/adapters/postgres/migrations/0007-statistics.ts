/**
 * For its plans, the server samples the values of each column. No erasure reaches the samples: they stay in the catalogue until
 * the next ANALYZE. So columns that may contain a user's words or a name are not sampled any more. Existing samples are removed:
 * setting a column to its own type drops its samples and nothing else.
 */
const SAMPLED = "project type space state at stored_at day due job purpose model host outcome".split(" ");

export const STATISTICS: string = `
DO $$
DECLARE
  found record;
BEGIN
  FOR found IN
    SELECT c.oid, c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) AS type
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'bytea'::regtype)
      AND c.relname <> 'migrations' AND a.attname NOT IN (${SAMPLED.map((name) => `'${name}'`).join(", ")})
  LOOP
    EXECUTE format('ALTER TABLE %I ALTER %I SET STATISTICS 0', found.relname, found.attname);
    IF found.attname IN ('body', 'terms', 'vector', 'trace', 'request')
      AND EXISTS (SELECT FROM pg_stats WHERE schemaname = current_schema() AND tablename = found.relname AND attname = found.attname)
    THEN
      EXECUTE format('ALTER TABLE %I ALTER %I TYPE %s', found.relname, found.attname, found.type);
    END IF;
  END LOOP;
END $$;
`;
