DROP FUNCTION memconsole_search(integer[], text, integer);
DROP POLICY reads ON memory_record;
DROP INDEX claim_of_source, memory_record_ending, memory_record_held, memory_record_tags,
    memory_record_terms, memory_record_by_predicate, memory_record_by_partition;
