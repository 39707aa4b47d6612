REVOKE ALL ON sample_batch, sample_item FROM memconsole_app, memconsole_maintenance;
DROP POLICY scope ON sample_item;
DROP POLICY scope ON sample_batch;
