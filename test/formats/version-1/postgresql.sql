CREATE SCHEMA connectfixture;
CREATE SCHEMA deneb;
CREATE TABLE connectfixture.urn_room_1 (
    recvtime text,
    entityid text,
    entitytype text,
    number text
);
CREATE TABLE connectfixture.urn_room_1_last_data (
    recvtime text,
    entityid text NOT NULL,
    entitytype text,
    number text
);
CREATE TABLE connectfixture.urn_room_2 (
    recvtime text,
    entityid text,
    entitytype text,
    number text
);
CREATE TABLE connectfixture.urn_room_2_last_data (
    recvtime text,
    entityid text NOT NULL,
    entitytype text,
    number text
);
CREATE TABLE connectfixture.urn_room_3 (
    recvtime text,
    entityid text,
    entitytype text,
    number text
);
CREATE TABLE connectfixture.urn_room_3_last_data (
    recvtime text,
    entityid text NOT NULL,
    entitytype text,
    number text
);
CREATE TABLE deneb.positions (
    deneb_sink text NOT NULL,
    deneb_channel text NOT NULL,
    deneb_position text,
    deneb_owner text,
    deneb_moved text,
    deneb_events bigint
);
CREATE TABLE deneb.tables (
    schema_name text NOT NULL,
    table_name text NOT NULL,
    sink text NOT NULL,
    kind text,
    subject text,
    known_since text,
    data_model text,
    entity_type text,
    service text,
    service_path text,
    last_write text
);
INSERT INTO connectfixture.urn_room_1 VALUES ('2026-11-22T21:19:55.699Z', 'urn:room:1', 'Room', '1');
INSERT INTO connectfixture.urn_room_1_last_data VALUES ('2026-11-22T21:19:55.699Z', 'urn:room:1', 'Room', '1');
INSERT INTO connectfixture.urn_room_2 VALUES ('2026-11-22T21:19:55.801Z', 'urn:room:2', 'Room', '2');
INSERT INTO connectfixture.urn_room_2_last_data VALUES ('2026-11-22T21:19:55.801Z', 'urn:room:2', 'Room', '2');
INSERT INTO connectfixture.urn_room_3 VALUES ('2026-11-22T21:19:55.825Z', 'urn:room:3', 'Room', '3');
INSERT INTO connectfixture.urn_room_3_last_data VALUES ('2026-11-22T21:19:55.825Z', 'urn:room:3', 'Room', '3');
INSERT INTO deneb.positions VALUES ('pg', '475d7f67f944123f', '475d7f67f944123f:8953456bc681:3', 'host,15523,2026-11-22T21:19:54.542Z,fc9bf4703023941a', '2026-11-22T21:19:55.851Z', 3);
INSERT INTO deneb.tables VALUES ('connectfixture', 'service:d9ca1f4328710132', 'old.pg', 'service', 'connectfixture', '2026-11-22T21:19:55.767Z', NULL, NULL, NULL, NULL, NULL);
INSERT INTO deneb.tables VALUES ('connectfixture', 'urn_room_1', 'old.pg', 'history', 'urn:room:1', '2026-11-22T21:19:55.730Z', 'dm-by-entity', 'Room', 'connectfixture', '/', '2026-11-22T21:19:55.765Z');
INSERT INTO deneb.tables VALUES ('connectfixture', 'urn_room_1_last_data', 'old.pg', 'last data', 'urn:room:1', '2026-11-22T21:19:55.730Z', 'dm-by-entity', 'Room', 'connectfixture', '/', '2026-11-22T21:19:55.765Z');
INSERT INTO deneb.tables VALUES ('connectfixture', 'urn_room_2', 'old.pg', 'history', 'urn:room:2', '2026-11-22T21:19:55.806Z', 'dm-by-entity', 'Room', 'connectfixture', '/', '2026-11-22T21:19:55.832Z');
INSERT INTO deneb.tables VALUES ('connectfixture', 'urn_room_2_last_data', 'old.pg', 'last data', 'urn:room:2', '2026-11-22T21:19:55.806Z', 'dm-by-entity', 'Room', 'connectfixture', '/', '2026-11-22T21:19:55.832Z');
INSERT INTO deneb.tables VALUES ('connectfixture', 'urn_room_3', 'old.pg', 'history', 'urn:room:3', '2026-11-22T21:19:55.840Z', 'dm-by-entity', 'Room', 'connectfixture', '/', '2026-11-22T21:19:55.855Z');
INSERT INTO deneb.tables VALUES ('connectfixture', 'urn_room_3_last_data', 'old.pg', 'last data', 'urn:room:3', '2026-11-22T21:19:55.840Z', 'dm-by-entity', 'Room', 'connectfixture', '/', '2026-11-22T21:19:55.855Z');
ALTER TABLE ONLY connectfixture.urn_room_1_last_data
    ADD CONSTRAINT urn_room_1_last_data_pkey PRIMARY KEY (entityid);
ALTER TABLE ONLY connectfixture.urn_room_2_last_data
    ADD CONSTRAINT urn_room_2_last_data_pkey PRIMARY KEY (entityid);
ALTER TABLE ONLY connectfixture.urn_room_3_last_data
    ADD CONSTRAINT urn_room_3_last_data_pkey PRIMARY KEY (entityid);
ALTER TABLE ONLY deneb.positions
    ADD CONSTRAINT positions_pkey PRIMARY KEY (deneb_sink, deneb_channel);
ALTER TABLE ONLY deneb.tables
    ADD CONSTRAINT tables_pkey PRIMARY KEY (schema_name, table_name, sink);
