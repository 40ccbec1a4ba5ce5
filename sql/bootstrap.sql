-- What only an administrator may do: the roles, the schema and the extension.
-- `migrate up` runs this file first. Where the migrating login may not create roles or
-- extensions (managed Postgres), an administrator runs it once by hand and grants
-- hippocampus_owner to that login. Safe to run again, and by several databases of one
-- cluster at once: roles belong to the cluster, so a role that is already there stays.

DO $bootstrap$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['hippocampus_owner', 'hippocampus_reader', 'hippocampus_tenant',
                                  'hippocampus_service', 'hippocampus_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = v_role) THEN
            BEGIN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', v_role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database's bootstrap was first
            END;
        END IF;
    END LOOP;
END
$bootstrap$;

-- The login that migrates works as the owner. A trusted service may step down to a tenant
-- (SET ROLE), which is how the Go service runs; a worker may step up to the owner, but only
-- by asking for it (INHERIT FALSE), because building an index needs the table's owner.
DO $memberships$
DECLARE
    v_grant record;
BEGIN
    FOR v_grant IN
        SELECT * FROM (VALUES
            ('hippocampus_owner', current_user::text, ''),
            ('hippocampus_tenant', 'hippocampus_service', ''),
            ('hippocampus_service', 'hippocampus_worker', ''),
            ('hippocampus_owner', 'hippocampus_worker', 'WITH INHERIT FALSE, SET TRUE')
        ) AS g (granted, member, options)
        WHERE g.granted <> g.member
          AND NOT pg_catalog.pg_has_role(g.member, g.granted, 'SET')
    LOOP
        BEGIN
            EXECUTE pg_catalog.format('GRANT %I TO %I %s', v_grant.granted, v_grant.member, v_grant.options);
        EXCEPTION WHEN unique_violation OR internal_error THEN
            NULL; -- the same grant, made by another database's bootstrap at this moment
        END;
    END LOOP;
END
$memberships$;

-- The schema and the extension. Whoever works with vectors needs pgvector's schema, which is not
-- open to everybody everywhere.
DO $objects$
DECLARE
    v_role   text;
    v_schema text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = 'hippocampus') THEN
        CREATE SCHEMA hippocampus AUTHORIZATION hippocampus_owner;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension e WHERE e.extname = 'vector') THEN
        CREATE EXTENSION vector WITH SCHEMA public;
    END IF;
    SELECT n.nspname INTO STRICT v_schema FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
    FOREACH v_role IN ARRAY ARRAY['hippocampus_owner', 'hippocampus_reader', 'hippocampus_tenant',
                                  'hippocampus_service', 'hippocampus_worker'] LOOP
        IF NOT pg_catalog.has_schema_privilege(v_role, v_schema, 'USAGE') THEN
            EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', v_schema, v_role);
        END IF;
    END LOOP;
END
$objects$;
