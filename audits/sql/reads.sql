-- How the console finds records among a million: indexes for its filters, and one narrow
-- function for what row-level security would keep from an index. Where rows are counted the
-- index includes the partition, which the policies ask for: the count reads no row.

CREATE INDEX memory_record_by_partition ON memory_record (partition_id, status, id);
CREATE INDEX memory_record_by_predicate ON memory_record (workspace_id, predicate, status, id) INCLUDE (partition_id);
CREATE INDEX memory_record_terms ON memory_record USING gin (terms);
CREATE INDEX memory_record_tags ON memory_record USING gin (tags) WHERE tags <> '{}';
CREATE INDEX memory_record_ending ON memory_record (workspace_id, valid_until) INCLUDE (partition_id)
    WHERE status = 'active';
CREATE INDEX memory_record_held ON memory_record (workspace_id, status_at, id) WHERE status = 'quarantined';
CREATE INDEX claim_of_source ON claim (source_id, record_id);

-- Containment of arrays is not leakproof, so under policies no index serves it: a search
-- through a workspace would read every row. The function runs as the owner, who is let
-- through, and keeps to the caller's workspace itself: without the reach of a whole
-- workspace it finds nothing. It answers ids alone, the newest first; the caller reads the
-- rows under its own policies.
CREATE POLICY reads ON memory_record FOR SELECT TO memconsole_owner USING (true);

CREATE FUNCTION memconsole_search(wanted integer[], wanted_tag text, most integer) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = pg_catalog, public AS $$
DECLARE
    here uuid := memconsole_workspace();
BEGIN
    IF here IS NULL OR NOT memconsole_whole_workspace() THEN
        RETURN;
    END IF;
    -- Planned each time: a rare word wants the inverted index, a common one the order of ids.
    RETURN QUERY EXECUTE
        'SELECT id FROM memory_record WHERE workspace_id = $1'
        || CASE WHEN wanted IS NULL THEN '' ELSE ' AND terms @> $2' END
        || CASE WHEN wanted_tag IS NULL THEN '' ELSE ' AND tags <> ''{}'' AND tags @> ARRAY[$3]' END
        || ' ORDER BY id DESC LIMIT $4'
        USING here, wanted, wanted_tag, most;
END $$;
REVOKE ALL ON FUNCTION memconsole_search(integer[], text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memconsole_search(integer[], text, integer) TO memconsole_app;
