/** Functions with the names of Citus's, which write down what they were asked; the real ones refuse tables with foreign keys. */
export const citusBesides = `
  CREATE TABLE asked (n serial, what text); CREATE TABLE pg_dist_partition (logicalrelid regclass);
  CREATE FUNCTION no_keys(t text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND conrelid = t::regclass) THEN
      RAISE 'cannot distribute a table with foreign keys: %', t; END IF; END $$;
  CREATE FUNCTION create_reference_table(t text) RETURNS void LANGUAGE sql AS
    $$ SELECT no_keys(t); INSERT INTO asked (what) VALUES ('reference ' || t) $$;
  CREATE FUNCTION create_distributed_table(t text, c text, shard_count int DEFAULT 0, colocate_with text DEFAULT '')
    RETURNS void LANGUAGE sql AS $$ SELECT no_keys(t);
      INSERT INTO asked (what) VALUES (c || ' ' || t || ' ' || shard_count || colocate_with);
      INSERT INTO pg_dist_partition VALUES (t::regclass) $$`
