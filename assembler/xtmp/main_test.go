package tokt
import ("testing";"strings";"time";"github.com/tiktoken-go/tokenizer")
func TestSpeed(t *testing.T){
 for _, enc := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase, tokenizer.P50kBase} {
 c,err:=tokenizer.Get(enc); if err!=nil{t.Fatal(err)}
 for _,n:=range []int{8192,16384,32768} {
 for name,x:=range map[string]string{"a":strings.Repeat("a",n),"zh":strings.Repeat("我们今天去北京吃烤鸭",n/10),"same zh":strings.Repeat("哈",n),"space":strings.Repeat(" ",n),"nl":strings.Repeat("\n",n),"en":strings.Repeat("The quick brown fox jumps. ",n/27),"digits":strings.Repeat("7",n),"punct":strings.Repeat("!",n),"Aa":strings.Repeat("Aa",n/2),"sp nl":strings.Repeat(" \n",n/2), "sp nl x":strings.Repeat(" \nx",n/2),"emoji":strings.Repeat("👩‍👩‍👧",n/4),"comb":"e"+strings.Repeat("\u0301",n),"apos":strings.Repeat("'s",n/2),"apos2":strings.Repeat("'",n),"tabs":strings.Repeat(" \t",n/2),"A":strings.Repeat("A",n),"slash":strings.Repeat("/\r",n/2), "AAAAa":strings.Repeat("A",n)+"a", "nbsp": strings.Repeat("\u00a0",n),"A!":strings.Repeat("A!",n/2),"A1":strings.Repeat("A1",n/2), "A's":strings.Repeat("A's",n/2), "sp!":strings.Repeat(" !",n/2), "nlsp": strings.Repeat("\n ",n/2), "spx": strings.Repeat("  x", n/2), "nbspsp": strings.Repeat("\u00a0 ",n/2), "Lm": strings.Repeat("ʰ",n), "thai": strings.Repeat("ก็",n/2)}{
  s:=time.Now(); _,err:=c.Count(x); d:=time.Since(s); if err!=nil||d>30*time.Millisecond { t.Log(enc,name,len(x),err,d)}
 }}}
}
