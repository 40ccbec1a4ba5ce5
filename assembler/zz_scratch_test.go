package assembler
import ("testing";"fmt";"unicode/utf8";"unicode";"github.com/tiktoken-go/tokenizer")
func TestScratchEnd(t *testing.T) {
  c, _ := NewCounter(""); codec, _ := tokenizer.Get(tokenizer.O200kBase)
  n := 0
  for id := uint(0); id < 200000; id++ { s, err := codec.Decode([]uint{id}); if err != nil || !utf8.ValidString(s) { continue }
    r, _ := utf8.DecodeLastRuneInString(s); if unicode.IsSpace(r) { continue }
    d := c.Count(s+"\n") - c.Count(s); if e := c.Count(s+"\n\n") - c.Count(s); e > d { d = e }
    if d > 1 { n++; fmt.Printf("%d:%q ", d, s) } }
  fmt.Println(n)
  for _, s := range []string{"\n\n## Relevant memories\n<recalled_memories>\n", "\n</recalled_memories>", "\n\n## 相关记忆\n<recalled_memories>\n", "\n\n## Instructions\n","\n\n## 指令\n","\n\n## Memory blocks\n","\n\n## 记忆块\n","\n\n## What is known of the user\n","\n\n## 用户偏好\n","\n\n## Conversation history\n","\n\n## 对话历史\n", "‹", "<"} { fmt.Println(c.Count(s), s) }
}
