package tokt
import ("testing";"strings";"time";"github.com/tiktoken-go/tokenizer")
func TestSpeed(t *testing.T){
 s:=time.Now()
 c,err:=tokenizer.Get(tokenizer.O200kBase); if err!=nil{t.Fatal(err)}
 t.Log("get",time.Since(s))
 s=time.Now(); _,_=c.Count("hi"); t.Log("first",time.Since(s))
 for name,x:=range map[string]string{"a":strings.Repeat("a",1<<20),"zh":strings.Repeat("我们今天去北京吃烤鸭",35000),"same zh":strings.Repeat("哈",350000),"space":strings.Repeat(" ",1<<20),"nl":strings.Repeat("\n",1<<20),"en":strings.Repeat("The quick brown fox jumps. ",40000),"digits":strings.Repeat("7",1<<20),"punct":strings.Repeat("!",1<<20),"Aa":strings.Repeat("Aa",1<<19),"sp nl":strings.Repeat(" \n",1<<19), "emoji":strings.Repeat("👩‍👩‍👧",60000),"comb":"e"+strings.Repeat("\u0301",500000),"apos":strings.Repeat("'s",1<<19),"tabs":strings.Repeat(" \t",1<<19),"A":strings.Repeat("A",1<<20),"slash":strings.Repeat("/\r",1<<19), "AAAAa":strings.Repeat("A",1<<20)+"a", "nbsp": strings.Repeat("\u00a0",1<<19)}{
  s=time.Now(); n,err:=c.Count(x); t.Log(name,len(x),n,err,time.Since(s))
 }
}
