package function_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// say appends an event at a time of the bundle's clock.
func (b *testBundle) say(t *testing.T, thread uuid.UUID, text string, at time.Duration) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b, `SELECT (hippocampus.append_event($1, 'user', 'message', $2, p_created_at => $3)).id`,
		thread, toJSON(t, text), b.now.Add(at))
}

func TestRecentEvents(t *testing.T) { //nolint:tparallel // its subtests share a transaction
	t.Parallel()
	b := setup(t)
	one, two := b.thread(t), b.thread(t)
	for i := range 5 {
		b.say(t, one, fmt.Sprintf("one %d", i), time.Duration(2*i)*time.Minute)
		b.say(t, two, fmt.Sprintf("two %d", i), time.Duration(2*i+1)*time.Minute)
	}
	recent := func(t *testing.T, thread any, limit int) []string {
		t.Helper()
		return list[string](t, b, "SELECT e.text FROM hippocampus.recent_events($1, $2, $3, $4) e", b.UserID, b.AppName, thread, limit)
	}

	t.Run("NewestOldestFirst", func(t *testing.T) {
		require.Equal(t, []string{"one 3", "one 4"}, recent(t, one, 2))
		require.Equal(t, []string{"two 0", "two 1", "two 2", "two 3", "two 4"}, recent(t, two, 100))
	})

	t.Run("OfAllThreads", func(t *testing.T) {
		require.Equal(t, []string{"two 3", "one 4", "two 4"}, recent(t, nil, 3))
		require.Len(t, recent(t, nil, 100), 10)
	})

	t.Run("OfOneTimeTheSameHoweverMany", func(t *testing.T) {
		b.say(t, one, "one 9", time.Hour)
		b.say(t, two, "two 9", time.Hour)
		require.Equal(t, recent(t, nil, 2)[1:], recent(t, nil, 1))
	})

	t.Run("OfThisTenantOnly", func(t *testing.T) {
		b.refuses(t, "HC002", "is unknown", "SELECT hippocampus.recent_events($1, $2, $3)", b.UserID, b.AppName+"x", one)
		require.Empty(t, list[string](t, b, "SELECT e.text FROM hippocampus.recent_events($1, $2) e", b.UserID+"x", b.AppName))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		b.refuses(t, "HC001", "p_user_id is empty", "SELECT hippocampus.recent_events('', 'a')")
		b.refuses(t, "HC009", "p_limit is -1", "SELECT hippocampus.recent_events('u', 'a', p_limit => -1)")
		b.refuses(t, "HC009", "p_limit is 10001", "SELECT hippocampus.recent_events('u', 'a', p_limit => 10001)")
	})

	t.Run("ZeroIsZero", func(t *testing.T) {
		require.Empty(t, recent(t, one, 0))
		require.Empty(t, recent(t, nil, 0))
	})
}

func TestRecallConversation(t *testing.T) {
	t.Parallel()
	type hit struct {
		SequenceNum int64
		Score       float64
		Text        string
		ThreadID    uuid.UUID
	}
	recall := func(t *testing.T, b *testBundle, query any, limit int, thread any) []hit {
		t.Helper()
		return rowsOf[hit](t, b, `SELECT h.sequence_num, h.score, h.text, h.thread_id
			FROM hippocampus.recall_conversation($1, $2, $3, $4, $5) h`, b.UserID, b.AppName, query, limit, thread)
	}
	texts := func(hits []hit) []string {
		all := make([]string, len(hits))
		for i, h := range hits {
			all[i] = h.Text
		}
		return all
	}

	t.Run("CommonWordsFindInOneThread", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		asked, other := b.thread(t), b.thread(t)
		b.say(t, asked, "the meeting", 0)
		b.exec(t, `SELECT count(*) FROM hippocampus.append_events($1, (
			SELECT jsonb_agg(jsonb_build_object('author', 'user', 'content', jsonb_build_object('text', CASE WHEN n < 3 THEN 'zebra budget' ELSE 'meeting' END)))
			FROM generate_series(1, 2100) n))`, other)
		b.exec(t, "SELECT hippocampus.fold_terms($1, $2, 1)", b.UserID, b.AppName)
		require.Equal(t, []string{"the meeting"}, texts(recall(t, b, "zebra budget meeting", 20, asked)))
	})

	t.Run("AWordOfMoreTalksThanAreGuessed", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		talks := func(name, texts string, talks, turns int) {
			b.exec(t, `SELECT (SELECT count(*) FROM hippocampus.append_events(hippocampus.create_thread($1, $2, $3 || n), (
				SELECT jsonb_agg(jsonb_build_object('author', 'user', 'content', jsonb_build_object('text', $4 || m))) FROM generate_series(1, $6::integer) m)))
				FROM generate_series(1, $5::integer) n`, b.UserID, b.AppName, name, texts, talks, turns)
		}
		talks("a", "word ", 256, 12) // by these is guessed how many there are
		talks("b", "tea ", 400, 1)
		hits := recall(t, b, "tea", 2, nil)
		require.Equal(t, []string{"tea 1", "tea 1"}, texts(hits))
		require.InDelta(t, 2.0/3, hits[0].Score, 1e-9, "the conversation tells nothing")
	})

	t.Run("EndsOfAThreadHaveNeighboursOnOneSide", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		b.say(t, thread, "zebra", 0)
		b.say(t, thread, "lion", time.Minute)
		b.say(t, thread, "tiger", 2*time.Minute)
		require.Equal(t, []string{"zebra", "lion", "tiger"}, texts(recall(t, b, "zebras", 20, nil)))
		require.Equal(t, []string{"tiger", "lion", "zebra"}, texts(recall(t, b, "tigers", 20, nil)))
	})

	t.Run("NeighboursShareTheScore", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		thread := b.thread(t)
		for i, text := range []string{"hello", "where did I park the car?", "level three, next to the lift", "thanks", "bye"} {
			b.say(t, thread, text, time.Duration(i)*time.Minute)
		}
		hits := recall(t, b, "where is my car parked", 20, nil)
		// what answers a question has all that the question has, and is newer; two on each side have part
		require.Equal(t, []string{"level three, next to the lift", "where did I park the car?", "hello", "thanks"}, texts(hits))
		require.InDelta(t, 1, hits[0].Score, 1e-9)
		require.InDelta(t, 1, hits[1].Score, 1e-9)
		require.InDelta(t, (0.5+0.5)/1.5, hits[2].Score, 1e-9)
		require.InDelta(t, (0.4+0.5)/1.5, hits[3].Score, 1e-9) // 0.4 of its words; the conversation is the same
	})

	// Its own words are gone from the index; those of its neighbours would still bring it in.
	t.Run("WhatWasForgottenComesInByNoNeighbour", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			texts []string
			query string
		}{
			{[]string{"what is the code of the safe?", "it is four nine zero zero", "I will keep that", "the safe is a heavy one"}, "the code of the safe"},
			{[]string{"保险箱的密码是多少？", "四九零零", "我记住了", "保险箱很重"}, "保险箱的密码"},
		} {
			for _, log := range []string{"keep", "erase"} {
				b := setup(t)
				thread := b.thread(t)
				var ids []uuid.UUID
				for i, text := range c.texts {
					ids = append(ids, b.say(t, thread, text, time.Duration(i)*time.Minute))
				}
				require.Contains(t, texts(recall(t, b, c.query, 20, nil)), c.texts[1])
				b.exec(t, "SELECT hippocampus.forget($1, $2, $3, $4)", b.UserID, b.AppName, ids[1:2], log)
				for _, of := range []*uuid.UUID{nil, &thread} {
					hits := recall(t, b, c.query, 20, of)
					require.ElementsMatch(t, []string{c.texts[0], c.texts[2], c.texts[3]}, texts(hits))
					require.Equal(t, c.texts[0], hits[0].Text)
					require.InDelta(t, 1, hits[0].Score, 1e-9) // the best of what is shown
				}
			}
		}
	})

	t.Run("NeighboursOfTheSameThreadOnly", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.thread(t), b.thread(t)
		b.say(t, one, "zebra", 0)
		b.say(t, two, "other", 0)
		b.say(t, two, "another", 0)
		require.Equal(t, []string{"zebra"}, texts(recall(t, b, "zebra", 20, nil)))
	})

	t.Run("NothingToLookUp", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.say(t, b.thread(t), "zebra", 0)
		for _, query := range []any{"", nil, "the", "&|!():*", "lion"} {
			require.Empty(t, recall(t, b, query, 20, nil), query)
		}
		require.Empty(t, recall(t, b, "zebra", 0, nil))
	})

	t.Run("OrderIsDeterministic", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for range 4 {
			thread := b.thread(t)
			for range 60 {
				b.say(t, thread, "the same words", 0)
			}
		}
		first := recall(t, b, "words", 7, nil)
		require.Len(t, first, 7)
		require.Equal(t, first, recall(t, b, "words", 7, nil))
		b.exec(t, "SET LOCAL enable_hashagg = off")
		b.exec(t, "SET LOCAL enable_hashjoin = off")
		require.Equal(t, first, recall(t, b, "words", 7, nil))
	})

	t.Run("RefusesWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, "HC001", "p_app_name is reserved: *", "SELECT hippocampus.recall_conversation('u', '*', 'x')")
		b.refuses(t, "HC009", "p_limit is 2147483647", "SELECT hippocampus.recall_conversation('u', 'a', 'x', 2147483647)")
		b.refuses(t, "HC009", "p_limit is null", "SELECT hippocampus.recall_conversation('u', 'a', 'x', NULL)")
	})

	t.Run("ThreadFilterNeverUnderReturns", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		quiet, loud := b.thread(t), b.thread(t)
		b.say(t, quiet, "a zebra among very many other animals of the zoo, which all have long names", 0)
		events := make([]map[string]any, 2000)
		for i := range events {
			events[i] = map[string]any{"author": "user", "content": "zebra zebra"}
		}
		b.exec(t, "SELECT hippocampus.append_events($1, $2)", loud, toJSON(t, events))
		hits := recall(t, b, "zebra", 20, quiet)
		require.Len(t, hits, 1)
		require.Equal(t, quiet, hits[0].ThreadID)
		require.Len(t, recall(t, b, "zebra", 1000, loud), 1000)
	})
}
