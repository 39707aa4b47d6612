REVOKE ALL ON review_item, review_decision, review_note FROM memconsole_app, memconsole_maintenance;
