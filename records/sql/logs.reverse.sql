DROP TABLE serve;
DROP TABLE recall;
DROP TABLE event;
