-- Everything goes with the tables.
SELECT 1;
