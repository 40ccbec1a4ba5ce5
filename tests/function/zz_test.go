package function_test

import (
	"testing"

	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

func TestZZ(t *testing.T) {
	pool := dbtest.DB(t)
	t.Log(dbtest.DatabaseURL(pool))
	t.Fail()
}
