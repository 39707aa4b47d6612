-- Takes away what trail_reads.sql made.
DROP FUNCTION memconsole_events_of(text, uuid, bigint, integer);
DROP POLICY reads ON event;
DROP INDEX event_of_incident, event_of_operation, event_bulk, event_refused, event_by_actor, event_by_action,
    event_by_time;
