package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/model"
)

// calibrateSample is how many rows are compared with each other, and calibrateQueries how many turns
// are taken for queries and how many texts are put in other words.
const (
	calibrateSample  = 400
	calibrateQueries = 100
)

// minPairs is how many pairs or queries say something; minRandom is that of 100 memories, each with
// each other, of which the 99th percentile does.
const (
	minPairs  = 20
	minRandom = 100 * 99 / 2
)

// modelCalibration is the shape of --json.
type modelCalibration struct {
	Model         string                                  `json:"model"`
	Distributions map[string][]*db.SimilarityDistribution `json:"distributions"`
	// Reworded and Described are the cosines of a memory and the same in a frame, and of one and a
	// half of its words: their 5th percentile and median.
	Reworded  [2]float64            `json:"reworded"`
	Described [2]float64            `json:"described"`
	Trials    []*db.RankingTrial    `json:"ranking_trials"`
	Settings  map[string]jsonObject `json:"settings"`
	Applied   bool                  `json:"applied"`
}

type jsonObject map[string]float64

func (a *app) calibrateModel() *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure what a similarity means to the embedding model, and propose settings",
		Long: `A cosine means something else to every embedding model. This measures it on the user's own
memories and facts, and proposes two settings for the model that serves:

  similarity/MODEL  ask: what 99 % of random pairs of facts stay under; duplicate: above
                    what facts of one key with different values reach, and no more than a
                    text has with the same in a frame; forget: half-way from what
                    99 % of random memories stay under to a memory with half of its words
  ranking/MODEL     the least share of vectors (0.05 at least) at which turns of the user's own
                    conversations find as many of the turns that stand beside them as at the
                    best share, but for the error of a sample; strength and recency stay

It reads only; --apply writes them for the app. The user must have 100 memories at least.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withEngine(cmd.Context(), func(e *engine) error {
				c, err := a.measureModel(cmd.Context(), e)
				if err != nil {
					return err
				}
				if apply {
					for key, value := range c.Settings {
						if err := applySetting(cmd.Context(), e, a.appName, key, value); err != nil {
							return err
						}
					}
					c.Applied = true
				}
				if a.json {
					return a.printJSON(c)
				}
				return a.printCalibration(c)
			})
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "set what is proposed, for the app")
	return cmd
}

func (a *app) measureModel(ctx context.Context, e *engine) (*modelCalibration, error) {
	if e.models.Embedder == nil {
		return nil, errors.New("there is no embedding model to calibrate; see HIPPOCAMPUS_EMBEDDING_PROVIDER")
	}
	queries := db.New()
	c := &modelCalibration{
		Distributions: map[string][]*db.SimilarityDistribution{}, Model: e.models.Embedder.Name(), Settings: map[string]jsonObject{},
	}
	for _, source := range []string{"memory", "fact"} {
		rows, err := queries.SimilarityDistribution(ctx, e.pool, &db.SimilarityDistributionParams{
			AppName: a.appName, Sample: calibrateSample, Source: source, UserID: a.userID,
		})
		if err != nil {
			return nil, fmt.Errorf("measure similarities: %w", db.Wrap(err))
		}
		c.Distributions[source] = rows
	}
	random := c.pairs("memory", "random")
	if random == nil || random.Pairs < minRandom {
		return nil, errors.New("there are too few memories with vectors to measure: it takes 100 (name another user with --user)")
	}
	texts, err := queries.MemorySampleContents(ctx, e.pool, &db.MemorySampleContentsParams{
		AppName: a.appName, MaxRows: calibrateQueries, UserID: a.userID,
	})
	if err != nil {
		return nil, fmt.Errorf("read memories: %w", db.Wrap(err))
	}
	if c.Reworded, err = likeness(ctx, e, texts, reworded); err != nil {
		return nil, err
	}
	if c.Described, err = likeness(ctx, e, texts, described); err != nil {
		return nil, err
	}
	c.Settings["similarity/"+c.Model] = c.bands(random)
	if c.Trials, err = queries.RankingTrials(ctx, e.pool, &db.RankingTrialsParams{AppName: a.appName, Sample: calibrateQueries, UserID: a.userID}); err != nil {
		return nil, fmt.Errorf("try rankings: %w", db.Wrap(err))
	}
	if best := bestTrial(c.Trials); best != nil {
		weights := jsonObject{}
		raw, err := queries.RankingOf(ctx, e.pool, &db.RankingOfParams{AppName: a.appName, Model: c.Model})
		if err != nil {
			return nil, fmt.Errorf("read the ranking: %w", db.Wrap(err))
		}
		if err := json.Unmarshal(raw, &weights); err != nil {
			return nil, fmt.Errorf("read the ranking: %w", err)
		}
		both := weights["text"] + weights["vector"]
		weights["text"], weights["vector"] = round2(both*(1-best.VectorShare)), round2(both*best.VectorShare)
		c.Settings["ranking/"+c.Model] = weights
	}
	return c, nil
}

func (c *modelCalibration) pairs(source, kind string) *db.SimilarityDistribution {
	return pairsOf(c.Distributions[source], kind)
}

// pairsOf finds the distribution of a kind of pairs, or nil.
func pairsOf(distributions []*db.SimilarityDistribution, kind string) *db.SimilarityDistribution {
	for _, d := range distributions {
		if d.PairsOf == kind {
			return d
		}
	}
	return nil
}

// bands proposes them. Where there are too few facts, random memories stand in for random facts.
func (c *modelCalibration) bands(memories *db.SimilarityDistribution) jsonObject {
	facts := c.pairs("fact", "random")
	if facts == nil || facts.Pairs < minRandom {
		facts = memories
	}
	ask, duplicate := facts.P99, c.Reworded[0]
	if same := c.pairs("fact", "same_key"); same != nil && same.Pairs >= minPairs {
		duplicate = max(duplicate, same.P99)
	}
	forget := (memories.P99 + max(memories.P99, c.Described[0])) / 2
	duplicate = max(duplicate, ask)
	return jsonObject{"ask": round2(clamp(ask)), "duplicate": round2(clamp(duplicate)), "forget": round2(clamp(forget))}
}

// leastShare is the least share of vectors that is proposed: words alone cannot find what is said in
// others.
const leastShare = 0.05

// bestTrial is the trial with the least share of vectors, but not under leastShare, that finds as much
// as the best, but for the error of a sample.
func bestTrial(trials []*db.RankingTrial) *db.RankingTrial {
	var most *db.RankingTrial
	for _, t := range trials {
		if t.Queries >= minPairs && (most == nil || t.Recall10 > most.Recall10) {
			most = t
		}
	}
	for _, t := range trials { // by share
		if most != nil && t.VectorShare >= leastShare && t.Recall10 >= most.Recall10-most.RecallError {
			return t
		}
	}
	return most
}

// reworded is a text in a frame, as people repeat themselves.
func reworded(text string) string { return "As I said before: " + text + " That is so." }

// described is every other word of a text, or every other part of a text without spaces.
func described(text string) string {
	var half []rune
	keep, length := true, 0
	for _, r := range text {
		length++
		if r == ' ' || length > 12 {
			keep, length = !keep, 0
		}
		if keep {
			half = append(half, r)
		}
	}
	return string(half)
}

// likeness is the 5th percentile and the median of the cosines of texts and what becomes of them.
func likeness(ctx context.Context, e *engine, texts []string, change func(string) string) ([2]float64, error) {
	var all []float64
	for part := range slices.Chunk(texts, 50) {
		changed := make([]string, len(part))
		for i, text := range part {
			changed[i] = change(text)
		}
		before, err := e.models.Embedder.Embed(ctx, part, model.TaskDocument)
		if err != nil {
			return [2]float64{}, fmt.Errorf("embed memories: %w", err)
		}
		after, err := e.models.Embedder.Embed(ctx, changed, model.TaskDocument)
		if err != nil {
			return [2]float64{}, fmt.Errorf("embed memories: %w", err)
		}
		for i := range before {
			all = append(all, dot(before[i], after[i]))
		}
	}
	if len(all) == 0 {
		return [2]float64{}, errors.New("there are no memories to measure")
	}
	slices.Sort(all)
	return [2]float64{all[len(all)/20], all[len(all)/2]}, nil
}

func round2(x float64) float64 { return math.Round(100*x) / 100 }
func clamp(x float64) float64  { return max(0, min(1, x)) }

// applySetting merges parts into a setting of an app, or of the deployment ("*").
func applySetting(ctx context.Context, e *engine, app, key string, value jsonObject) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := db.New().SettingMerge(ctx, e.pool, &db.SettingMergeParams{AppName: app, Key: key, Value: raw}); err != nil {
		return fmt.Errorf("set %s: %w", key, db.Wrap(err))
	}
	return nil
}

func (a *app) printCalibration(c *modelCalibration) error {
	t := a.table("COSINE OF", "PAIRS", "5 %", "50 %", "90 %", "99 %", "99.9 %")
	for _, source := range []string{"memory", "fact"} {
		for _, d := range c.Distributions[source] {
			t.row(source+", "+d.PairsOf, d.Pairs, d.P05, d.P50, d.P90, d.P99, d.P999)
		}
	}
	t.row("memory and the same in a frame", "", c.Reworded[0], c.Reworded[1], "", "", "")
	t.row("memory and half of its words", "", c.Described[0], c.Described[1], "", "", "")
	if err := t.print(); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	trials := a.table("SHARE OF VECTORS", "QUERIES", "RECALL@10", "± ERROR", "MRR")
	for i, trial := range c.Trials {
		if i%2 == 0 {
			trials.row(trial.VectorShare, trial.Queries, trial.Recall10, trial.RecallError, trial.Mrr)
		}
	}
	if err := trials.print(); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	settings := a.table("SETTING OF APP "+a.appName, map[bool]string{false: "PROPOSED", true: "SET"}[c.Applied])
	for _, kind := range []string{"similarity/", "ranking/"} {
		if value, ok := c.Settings[kind+c.Model]; ok {
			raw, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("print settings: %w", err)
			}
			settings.row(kind+c.Model, string(raw))
		}
	}
	return settings.print()
}
