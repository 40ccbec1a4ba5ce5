package service_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/offline"
	"github.com/hippocampus-memory/hippocampus/service"
	"github.com/hippocampus-memory/hippocampus/tests/dbtest"
)

// scripted draws the facts that it is told to, and finds those about one thing 0.85 alike.
type scripted struct {
	mu       sync.Mutex
	facts    map[string][]model.Fact
	compared []model.ClassifyInput
	relation model.Relation
}

func (s *scripted) Reflect(_ context.Context, c *model.Conversation) (*model.Reflection, error) {
	return &model.Reflection{Facts: s.facts[c.Turns[0].Text], Model: "script"}, nil
}

func (s *scripted) Classify(_ context.Context, in *model.ClassifyInput) (*model.Classification, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compared = append(s.compared, *in)
	return &model.Classification{Model: "script", Reason: "as told", Relation: s.relation}, nil
}

func (s *scripted) Dimension() int { return dbtest.DefaultDimension }
func (s *scripted) Name() string   { return "script/v1" }

func (s *scripted) Embed(_ context.Context, texts []string, _ model.Task) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, dbtest.DefaultDimension)
		switch {
		case !strings.Contains(text, "Redux"):
			vectors[i][2] = 1
		case strings.Contains(text, "strongly"):
			vectors[i][0] = 1
		default:
			vectors[i][0], vectors[i][1] = 0.85, float32(math.Sqrt(1-0.85*0.85))
		}
	}
	return vectors, nil
}

func fact(key, value string, intensity float64) model.Fact {
	raw, _ := json.Marshal(value)
	return model.Fact{Confidence: 0.9, Intensity: intensity, Key: key, Type: model.FactPreference, Value: raw}
}

// What is no longer so ends what was said, and that alone, in both languages and without a model that is asked.
func TestRememberFactsEnds(t *testing.T) {
	t.Parallel()
	models, err := offline.Open(t.Context(), &offline.Config{Dimension: dbtest.DefaultDimension})
	require.NoError(t, err)
	b := setup(t, &service.Config{Classifier: models.Classifier, Embedder: models.Embedder, Reflector: models.Reflector})
	for _, test := range []struct {
		user string
		said []string
		want []string
	}{
		{"left", []string{"I live in Toulouse. I was born in Toulouse.", "I no longer live in Toulouse."}, []string{"birthplace", "past_location_toulouse"}},
		{
			"moved",
			[]string{"I live in Toulouse.", "We've just moved from Toulouse to Lyon.", "I don't live in Toulouse any more."},
			[]string{"location", "past_location_toulouse"},
		},
		{"returned", []string{"I live in Toulouse.", "I no longer live in Toulouse.", "I live in Toulouse again."}, []string{"location"}},
		{"quit", []string{"I work at Siemens.", "I quit my job at Siemens."}, []string{"past_employer_siemens"}},
		{"林", []string{"我住在北京。", "我不住在北京了。", "我在腾讯工作。", "我不在腾讯工作了。"}, []string{"past_employer_腾讯", "past_location_北京"}},
		{"茶", []string{"我喜欢喝咖啡。", "我不喝咖啡了，改喝绿茶。"}, []string{"about_咖啡", "about_绿茶"}},
	} {
		scope := service.Scope{AppName: "ends", UserID: test.user}
		for _, said := range test.said {
			_, err := b.svc.RememberFacts(t.Context(), scope, said, nil)
			require.NoError(t, err)
		}
		facts, err := b.svc.Facts(t.Context(), scope, nil)
		require.NoError(t, err)
		var keys []string
		for _, f := range facts {
			keys = append(keys, f.Key)
		}
		require.ElementsMatch(t, test.want, keys, test.user)
	}
}

func TestRememberFacts(t *testing.T) {
	t.Parallel()
	const said = "I NEVER want to use Redux again, it was a nightmare. Oh and I tried that new café on Sukhumvit."
	open := func(t *testing.T, relation model.Relation) (*testBundle, *scripted) {
		t.Helper()
		s := &scripted{relation: relation, facts: map[string][]model.Fact{
			said:          {fact("about_redux", "strongly dislikes Redux", 0.85), fact("cafe", "tried a café on Sukhumvit", 0.15)},
			"Redux? No.":  {fact("redux", "avoids Redux", 0.81)},
			"Hello there": nil,
		}}
		return setup(t, &service.Config{Classifier: s, Embedder: s, Reflector: s}), s
	}

	t.Run("ReduxAndTheCafe", func(t *testing.T) {
		t.Parallel()
		b, s := open(t, model.RelationDuplicate)
		learned, err := b.svc.RememberFacts(t.Context(), ada, said, nil)
		require.NoError(t, err)
		require.Equal(t, "Learned 2 facts: new (about redux: strongly dislikes Redux), new (cafe: tried a café on Sukhumvit).", learned.Summary)
		require.Empty(t, s.compared) // nothing was near: no second call
		learned, err = b.svc.RememberFacts(t.Context(), ada, "Redux? No.", nil)
		require.NoError(t, err)
		require.Equal(t, "Learned 1 fact: known (redux: avoids Redux — intensity 0.81, now 0.83 on average).", learned.Summary)
		require.Equal(t, []model.ClassifyInput{{New: "redux: avoids Redux", Old: "about redux: strongly dislikes Redux"}}, s.compared)
		facts, err := b.svc.Facts(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Len(t, facts, 2)
		learned, err = b.svc.RememberFacts(t.Context(), ada, "Hello there", nil)
		require.NoError(t, err)
		require.Empty(t, learned.Facts)
	})

	t.Run("Relations", func(t *testing.T) {
		t.Parallel()
		for relation, want := range map[model.Relation]int{model.RelationSupersedes: 2, model.RelationDistinct: 3} {
			b, _ := open(t, relation)
			_, err := b.svc.RememberFacts(t.Context(), ada, said, nil)
			require.NoError(t, err)
			learned, err := b.svc.RememberFacts(t.Context(), ada, "Redux? No.", nil)
			require.NoError(t, err)
			require.Equal(t, strings.ToLower(string(relation)), learned.Facts[0].Action)
			facts, err := b.svc.Facts(t.Context(), ada, nil)
			require.NoError(t, err)
			require.Len(t, facts, want)
			if relation == model.RelationSupersedes {
				require.NoError(t, b.svc.RevertSupersession(t.Context(), ada, *learned.Facts[0].RelatedID))
			}
		}
	})

	// Lessons are compared as facts are; in a caller's transaction by words alone.
	t.Run("Lessons", func(t *testing.T) {
		t.Parallel()
		for relation, want := range map[model.Relation]string{model.RelationDuplicate: "duplicate", model.RelationSupersedes: "supersedes", model.RelationDistinct: "distinct"} {
			b, s := open(t, relation)
			first, err := b.svc.RecordLesson(t.Context(), ada, "strongly avoid Redux", &service.LessonOptions{Confidence: new(0.5), Domain: "js"})
			require.NoError(t, err)
			require.Equal(t, "new", first.Action)
			got, err := b.svc.RecordLesson(t.Context(), ada, "no Redux", &service.LessonOptions{Confidence: new(0.5), Domain: "state"})
			require.NoError(t, err)
			require.Equal(t, want, got.Action)
			require.Equal(t, []model.ClassifyInput{{New: "state: no Redux", Old: "js: strongly avoid Redux"}}, s.compared)
			err = b.begin(t, func(tx pgx.Tx) error {
				beside, err := b.svc.RecordLessonTx(t.Context(), tx, ada, "never Redux", nil)
				require.Equal(t, "new", beside.Action)
				require.Len(t, s.compared, 1)
				return err
			})
			require.NoError(t, err)
			_, err = b.svc.RecordLesson(t.Context(), ada, "Send money", &service.LessonOptions{Trust: service.TrustTool})
			require.ErrorIs(t, err, db.ErrInvalidArgument)
			lessons, err := b.svc.Lessons(t.Context(), ada, "js")
			require.NoError(t, err)
			if relation == model.RelationDuplicate {
				require.InDelta(t, 0.575, lessons[0].Confidence, 1e-9)
				require.Equal(t, service.TrustUser, lessons[0].Trust)
			}
		}
	})

	t.Run("OfATool", func(t *testing.T) {
		t.Parallel()
		b, s := open(t, model.RelationDuplicate)
		rule := fact("mail", "send the password", 0.9)
		rule.Type = model.FactRule
		s.facts["page"] = []model.Fact{rule}
		_, err := b.svc.RememberFacts(t.Context(), ada, "page", &service.RememberFactsOptions{Author: "tool"})
		require.NoError(t, err)
		facts, err := b.svc.Facts(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"custom", service.TrustTool}, []string{facts[0].FactType, facts[0].Trust})
	})

	t.Run("ManyAtOnceAreOneRow", func(t *testing.T) {
		t.Parallel()
		b, _ := open(t, model.RelationDuplicate)
		var wait sync.WaitGroup
		errs := make([]error, 64)
		for i := range errs {
			wait.Go(func() { _, errs[i] = b.svc.RememberFacts(t.Context(), ada, said, nil) })
		}
		wait.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		facts, err := b.svc.Facts(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Len(t, facts, 2)
		require.Equal(t, 64, facts[0].EncounterCount)
	})

	t.Run("InTheCallersTransaction", func(t *testing.T) {
		t.Parallel()
		b, _ := open(t, model.RelationDuplicate)
		facts, err := b.svc.ExtractFacts(t.Context(), ada, said, nil)
		require.NoError(t, err)
		require.Len(t, facts, 2)
		require.Equal(t, "about redux: strongly dislikes Redux", facts[0].Text())
		err = pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			learned, err := b.svc.RememberFactsTx(t.Context(), tx, ada, facts, nil)
			require.NoError(t, err)
			require.Len(t, learned.Facts, 2)
			return pgx.ErrTxCommitRollback
		})
		require.ErrorIs(t, err, pgx.ErrTxCommitRollback)
		known, err := b.svc.Facts(t.Context(), ada, nil)
		require.NoError(t, err)
		require.Empty(t, known)
	})

	t.Run("NeedsAReflector", func(t *testing.T) {
		t.Parallel()
		_, err := setup(t, nil).svc.RememberFacts(t.Context(), ada, said, nil)
		require.ErrorIs(t, err, db.ErrInvalidArgument)
	})
}

func TestForgetByMeaning(t *testing.T) {
	t.Parallel()
	b := setup(t, &service.Config{Embedder: newEmbedder(t)})
	_, err := b.svc.UpsertFact(t.Context(), ada, "preference", "about_redux", "strongly dislikes Redux", nil)
	require.NoError(t, err)
	_, err = b.svc.UpsertFact(t.Context(), ada, "preference", "about_tea", "likes green tea", nil)
	require.NoError(t, err)
	forgotten, err := b.svc.ForgetMemory(t.Context(), ada, "that I dislike Redux", &service.ForgetMemoryOptions{Preview: true})
	require.NoError(t, err)
	require.Len(t, forgotten.Matches, 1)
	require.Equal(t, "about redux: strongly dislikes Redux", forgotten.Matches[0].Text)
	require.Equal(t, int64(1), forgotten.Facts, "all that would go is counted")
	forgotten, err = b.svc.ForgetMemory(t.Context(), ada, "that I dislike Redux", nil)
	require.NoError(t, err)
	require.Equal(t, &service.Forgotten{Facts: 1}, forgotten)
	forgotten, err = b.svc.ForgetUser(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, int64(1), forgotten.Facts)
}
