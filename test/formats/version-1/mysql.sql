CREATE TABLE `deneb_positions` (
  `deneb_sink` varchar(384) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `deneb_channel` varchar(384) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `deneb_position` text DEFAULT NULL,
  `deneb_owner` text DEFAULT NULL,
  `deneb_moved` text DEFAULT NULL,
  `deneb_events` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`deneb_sink`,`deneb_channel`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `deneb_positions` VALUES ('my','2b41544e3b436a04','2b41544e3b436a04:99221224d17a:3','host,15523,2026-11-22T21:19:54.542Z,fc9bf4703023941a','2026-11-22T21:19:55.873Z',3);
CREATE TABLE `deneb_tables` (
  `schema_name` varchar(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `table_name` varchar(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `sink` varchar(256) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `kind` text DEFAULT NULL,
  `subject` longtext DEFAULT NULL,
  `known_since` text DEFAULT NULL,
  `data_model` text DEFAULT NULL,
  `entity_type` longtext DEFAULT NULL,
  `service` longtext DEFAULT NULL,
  `service_path` longtext DEFAULT NULL,
  `last_write` text DEFAULT NULL,
  PRIMARY KEY (`schema_name`,`table_name`,`sink`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `deneb_tables` VALUES ('connectfixture','service:d9ca1f4328710132','old.my','service','connectfixture','2026-11-22T21:19:55.851Z',NULL,NULL,NULL,NULL,NULL);
INSERT INTO `deneb_tables` VALUES ('connectfixture','urn_room_1','old.my','history','urn:room:1','2026-11-22T21:19:55.789Z','dm-by-entity','Room','connectfixture','/','2026-11-22T21:19:55.846Z');
INSERT INTO `deneb_tables` VALUES ('connectfixture','urn_room_2','old.my','history','urn:room:2','2026-11-22T21:19:55.866Z','dm-by-entity','Room','connectfixture','/','2026-11-22T21:19:55.876Z');
INSERT INTO `deneb_tables` VALUES ('connectfixture','urn_room_3','old.my','history','urn:room:3','2026-11-22T21:19:55.866Z','dm-by-entity','Room','connectfixture','/','2026-11-22T21:19:55.876Z');
CREATE TABLE `urn_room_1` (
  `recvtime` text DEFAULT NULL,
  `entityid` text DEFAULT NULL,
  `entitytype` text DEFAULT NULL,
  `number` text DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `urn_room_1` VALUES ('2026-11-22T21:19:55.699Z','urn:room:1','Room','1');
CREATE TABLE `urn_room_2` (
  `recvtime` text DEFAULT NULL,
  `entityid` text DEFAULT NULL,
  `entitytype` text DEFAULT NULL,
  `number` text DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `urn_room_2` VALUES ('2026-11-22T21:19:55.801Z','urn:room:2','Room','2');
CREATE TABLE `urn_room_3` (
  `recvtime` text DEFAULT NULL,
  `entityid` text DEFAULT NULL,
  `entitytype` text DEFAULT NULL,
  `number` text DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `urn_room_3` VALUES ('2026-11-22T21:19:55.825Z','urn:room:3','Room','3');
