-- Read by sqlc alone, never run: sql/bootstrap.sql makes the schema inside a DO block, which sqlc cannot see.
CREATE SCHEMA hippocampus;
