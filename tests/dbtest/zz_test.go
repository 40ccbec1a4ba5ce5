package dbtest_test
import ("testing";"github.com/hippocampus-memory/hippocampus/tests/dbtest")
func TestMany(t *testing.T){ for range 20 { t.Run("x", func(t *testing.T){ t.Parallel(); dbtest.DB(t) }) } }
