-- A text as a reader takes it who looks past spelling: full-width letters, accents as marks of their own, and letters of
-- other scripts, or small capitals, that look like Latin ones. It is compared with the few words that nobody may imitate.
CREATE OR REPLACE FUNCTION hippocampus._plain_letters(
    p_text text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT translate(normalize(p_text, NFKD), 'АаСсԁЕеІіӀӏМмОоΕΙΜΟοЅѕɑαϲгᴦɩιɾʀᴇᴄᴀʟᴅᴍᴏɪꜱРруУТтνѵʏᴛᴘᴠ',
        'aaccdeeiillmmooeimoossaacrriirrecaldmoisppyyttvvytpv');
END;
COMMENT ON FUNCTION hippocampus._plain_letters IS 'A text with what looks like a Latin letter as that letter.';
REVOKE ALL ON FUNCTION hippocampus._plain_letters FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._plain_letters
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
