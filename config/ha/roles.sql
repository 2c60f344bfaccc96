-- The database `pit` and its three roles, made once, on the machine of the primary. psql asks for the passwords:
--   cd / && runuser -u postgres -- psql --file /usr/share/doc/table-controller/examples/ha/roles.sql
\set ON_ERROR_STOP on
\prompt 'Password of leader, the pits: ' leader_password
\prompt 'Password of people, for pitctl: ' people_password
\prompt 'Password of reader, the pages: ' reader_password

-- The pits. `leader` makes the ledger's tables, so they are its own.
CREATE ROLE leader LOGIN PASSWORD :'leader_password';
-- People's decisions. A person begins no ledger and takes in no event: only a table's signed word becomes an event.
CREATE ROLE people LOGIN PASSWORD :'people_password';
-- The pages. They change nothing.
CREATE ROLE reader LOGIN PASSWORD :'reader_password';

CREATE DATABASE pit OWNER leader ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE pit FROM PUBLIC;
GRANT CONNECT ON DATABASE pit TO people, reader;
\connect pit
ALTER SCHEMA public OWNER TO leader;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO people, reader;
-- The ledger's tables come later, when the first pit begins the ledger. It then takes `event` out of people's hands.
ALTER DEFAULT PRIVILEGES FOR ROLE leader GRANT SELECT ON TABLES TO people, reader;
ALTER DEFAULT PRIVILEGES FOR ROLE leader GRANT INSERT, UPDATE, DELETE ON TABLES TO people;
