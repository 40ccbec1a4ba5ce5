-- The words that a window is framed with, by language: headings and fence, each with the tokens that it
-- costs at most with its line breaks (checked against the tokenizer by a test). What was recalled, whatever its
-- kind, stands in the fence; what an operator wrote does not, nor does the conversation, which is told in turns.
CREATE OR REPLACE FUNCTION hippocampus._context_words(
    p_language text
) RETURNS TABLE (context_type text, ordinal integer, heading text, opening text, closing text, tokens integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 6
BEGIN ATOMIC
    SELECT v.context_type, v.ordinal, CASE p_language WHEN 'zh' THEN v.zh ELSE v.en END, v.opening, v.closing, v.tokens
    FROM (VALUES
        ('system', 1, '', '', '', '', 0),
        ('instruction', 2, '## Instructions', '## 指令', '', '', 8),
        ('block', 3, '## Memory blocks', '## 记忆块', '<recalled_memories>', '</recalled_memories>', 28),
        ('fact', 4, '## What is known of the user', '## 用户偏好', '<recalled_memories>', '</recalled_memories>', 30),
        ('memory', 5, '## Relevant memories', '## 相关记忆', '<recalled_memories>', '</recalled_memories>', 28),
        ('history', 6, '## Conversation history', '## 对话历史', '', '', 10)
    ) AS v (context_type, ordinal, en, zh, opening, closing, tokens);
END;
COMMENT ON FUNCTION hippocampus._context_words IS
    'Headings and fences of a context window by language, in the order of its sections, and the tokens they cost at most.';
REVOKE ALL ON FUNCTION hippocampus._context_words FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hippocampus._context_words
    TO hippocampus_reader, hippocampus_tenant, hippocampus_service, hippocampus_worker;
