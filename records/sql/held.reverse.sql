DROP INDEX memory_record_held_since;
DROP INDEX memory_record_held_reason;
