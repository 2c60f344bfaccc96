-- The database `pit` and its three roles, made once, on the machine of the primary:
--   runuser -u postgres -- psql < roles.sql
\set ON_ERROR_STOP on

-- The pits. `leader` makes the ledger's tables, so they are its own.
CREATE ROLE leader LOGIN PASSWORD '$leaders_password';
-- People's commands. They read: people decide at the control socket of the pit that leads, and nowhere else.
CREATE ROLE people LOGIN PASSWORD '$peoples_password';
-- The pages. They change nothing.
CREATE ROLE reader LOGIN PASSWORD '$readers_password';

CREATE DATABASE pit OWNER leader ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE pit FROM PUBLIC;
GRANT CONNECT ON DATABASE pit TO people, reader;
\connect pit
ALTER SCHEMA public OWNER TO leader;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO people, reader;
-- The ledger's tables come later, when the first pit begins the ledger.
ALTER DEFAULT PRIVILEGES FOR ROLE leader GRANT SELECT ON TABLES TO people, reader;
