-- English forms that a stemmer cannot bring together: «went» and «go», «children» and «child». Both sides are
-- stems, as Postgres's english dictionary makes them. Forms that are a word of their own (left, found, lives)
-- are in where the verb is by far the commoner, and out otherwise.
CREATE OR REPLACE FUNCTION hippocampus._irregular_forms()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
BEGIN ATOMIC
    SELECT '{"ate":"eat","began":"begin","begun":"begin","bit":"bite","bitten":"bite","blew":"blow","blown":"blow",'
        '"bought":"buy","broke":"break","broken":"break","brought":"bring","built":"build","came":"come",'
        '"caught":"catch","children":"child","chose":"choos","chosen":"choos","dealt":"deal","drank":"drink",'
        '"drawn":"draw","drew":"draw","driven":"drive","drove":"drive","drunk":"drink","dug":"dig","eaten":"eat",'
        '"fallen":"fall","fed":"feed","feet":"foot","fell":"fall","felt":"feel","flew":"fli","flown":"fli",'
        '"forgav":"forgiv","forgiven":"forgiv","forgot":"forget","forgotten":"forget","fought":"fight",'
        '"found":"find","froze":"freez","frozen":"freez","gave":"give","given":"give","gone":"go","got":"get",'
        '"gotten":"get","grew":"grow","grown":"grow","heard":"hear","held":"hold","hid":"hide","hidden":"hide",'
        '"hung":"hang","kept":"keep","knew":"know","known":"know","leav":"leaf","led":"lead","left":"leav",'
        '"lent":"lend","lost":"lose","made":"make","men":"man","met":"meet","mice":"mous","paid":"pay",'
        '"peopl":"person","ran":"run","ridden":"ride","risen":"rise","rode":"ride","rose":"rise","said":"say",'
        '"sang":"sing","sank":"sink","sat":"sit","saw":"see","seen":"see","sent":"send","shaken":"shake",'
        '"shone":"shine","shook":"shake","shot":"shoot","shown":"show","slept":"sleep","sold":"sell",'
        '"sought":"seek","spent":"spend","spoke":"speak","spoken":"speak","spun":"spin","stole":"steal",'
        '"stolen":"steal","stood":"stand","struck":"strike","stuck":"stick","sung":"sing","sunk":"sink",'
        '"swam":"swim","swept":"sweep","swore":"swear","sworn":"swear","swum":"swim","taken":"take",'
        '"taught":"teach","teeth":"tooth","thought":"think","threw":"throw","thrown":"throw","told":"tell",'
        '"took":"take","tore":"tear","torn":"tear","understood":"understand","went":"go","wept":"weep",'
        '"wive":"wife","woke":"wake","woken":"wake","women":"woman","won":"win","wore":"wear","worn":"wear",'
        '"written":"write","wrote":"write"}'::jsonb;
END;
COMMENT ON FUNCTION hippocampus._irregular_forms IS 'Irregular English forms by their base, both as stems.';
REVOKE ALL ON FUNCTION hippocampus._irregular_forms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._irregular_forms
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
