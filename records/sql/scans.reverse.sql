REVOKE ALL ON scan, scan_range, scan_hit FROM memconsole_app, memconsole_maintenance;
DROP POLICY scope ON scan_hit;
DROP POLICY scope ON scan_range;
DROP POLICY scope ON scan;
ALTER TABLE scan_hit DROP CONSTRAINT scan_hit_scan_fk, DROP CONSTRAINT scan_hit_record_fk;
ALTER TABLE scan_range DROP CONSTRAINT scan_range_scan_fk;
