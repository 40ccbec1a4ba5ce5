package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hippocampus-memory/hippocampus/db"
	"github.com/hippocampus-memory/hippocampus/internal/command"
	"github.com/hippocampus-memory/hippocampus/model"
)

// calibration is the shape of --json: cosines by which thresholds can be told.
type calibration struct {
	Model string `json:"model"`
	// Background are the 50th, 90th, 99th and 99.9th percentile of any anchor and any chunk.
	Background []float64 `json:"anchor_chunk_percentiles"`
	// Strangers are those of a question after one anchor and any other anchor.
	Strangers []float64 `json:"question_anchor_percentiles"`
	// Own is the median of a question and the anchor that it asks after.
	Own           float64 `json:"question_own_anchor_median"`
	Theta         float64 `json:"theta"`
	SemanticTheta float64 `json:"semantic_theta"`
	// Anchors and Chunks are how many were compared, of all that there are.
	Anchors int `json:"anchors"`
	Chunks  int `json:"chunks"`
	// SetFor is the app whose setting was written, * for the deployment; empty where nothing was.
	SetFor string `json:"set_for,omitempty"`
}

// minAnchors and minChunks are how many say something of the 99th percentile of each with each.
const (
	minAnchors = 100
	minChunks  = 100
)

func (a *app) anchorsCalibrate() *cobra.Command {
	var write, deployment bool
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure how near anchors, chunks and questions are, and propose thresholds",
		Long: `A cosine means something else to every embedding model. This compares anchors with chunks,
and questions that are made by rule ("What is TERM?") with anchors, and proposes as theta
the 99th percentile of any anchor and any chunk, and as semantic_theta the 99.9th of a
question and any anchor but its own. It takes 100 anchors and 100 chunks.

It reads only; --write sets them for the app, and --write --deployment for all apps that have
none of their own, for the model that serves (the setting anchors/MODEL). Rebuild afterwards.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if deployment && !write {
				return command.Usagef("--deployment says for whom --write sets what is proposed, and is given without it")
			}
			return a.withEngine(cmd.Context(), func(e *engine) error {
				c, err := a.calibrate(cmd.Context(), e)
				if err != nil {
					return err
				}
				if write {
					c.SetFor = a.appName
					if deployment {
						c.SetFor = "*"
					}
					if c.Theta == 0 || c.SemanticTheta == 0 {
						return fmt.Errorf("theta %.3f and semantic_theta %.3f were measured, but a threshold of 0 leaves nothing out: nothing was set",
							c.Theta, c.SemanticTheta)
					}
					proposed := jsonObject{"semantic_theta": c.SemanticTheta, "theta": c.Theta}
					if err := applySetting(cmd.Context(), e, c.SetFor, "anchors/"+c.Model, proposed); err != nil {
						return err
					}
				}
				if a.json {
					return a.printJSON(c)
				}
				done := "PROPOSED"
				if c.SetFor != "" {
					done = "SET FOR APP " + c.SetFor
				}
				t := a.table("COSINE OF", "50 %", "90 %", "99 %", "99.9 %", done)
				t.row("anchor and any chunk", c.Background[0], c.Background[1], c.Background[2], c.Background[3], fmt.Sprintf("theta %.3f", c.Theta))
				t.row("question and any anchor", c.Strangers[0], c.Strangers[1], c.Strangers[2], c.Strangers[3], fmt.Sprintf("semantic_theta %.3f", c.SemanticTheta))
				t.row("question and its anchor", c.Own, "", "", "", "")
				return t.print()
			})
		},
	}
	cmd.Flags().BoolVar(&deployment, "deployment", false, "with --write: set it for all apps that have none of their own")
	cmd.Flags().BoolVar(&write, "write", false, "set what is proposed, for the app")
	return cmd
}

func (a *app) calibrate(ctx context.Context, e *engine) (*calibration, error) {
	if e.models.Embedder == nil {
		return nil, errors.New("there is no embedding model to calibrate; see HIPPOCAMPUS_EMBEDDING_PROVIDER")
	}
	queries := db.New()
	c := &calibration{Model: e.models.Embedder.Name()}
	if err := a.countForCalibration(ctx, e, c); err != nil {
		return nil, err
	}
	chunks := "chunk"
	rows, err := queries.SimilarityDistribution(ctx, e.pool, &db.SimilarityDistributionParams{
		AppName: a.appName, Other: &chunks, Sample: calibrateSample, Source: "anchor", UserID: a.userID,
	})
	if err != nil {
		return nil, fmt.Errorf("compare anchors with chunks: %w", db.Wrap(err))
	}
	anchors, err := queries.AnchorSample(ctx, e.pool, &db.AnchorSampleParams{AppName: a.appName, MaxRows: calibrateSample, UserID: a.userID})
	if err != nil {
		return nil, fmt.Errorf("read anchors: %w", db.Wrap(err))
	}
	random := pairsOf(rows, "random")
	if random == nil || len(anchors) < minAnchors {
		return nil, fmt.Errorf("%d anchors have a vector, but it takes %d: rebuild first (hippo anchors rebuild)", len(anchors), minAnchors)
	}
	c.Background = []float64{random.P50, random.P90, random.P99, random.P999}
	var own, strangers []float64
	for part := range slices.Chunk(anchors, 100) {
		texts := make([]string, len(part))
		for i, anchor := range part {
			texts[i] = "What is " + anchor.Term + "?"
		}
		vectors, err := e.models.Embedder.Embed(ctx, texts, model.TaskQuery)
		if err != nil {
			return nil, fmt.Errorf("embed questions: %w", err)
		}
		for i, vector := range vectors {
			for _, other := range anchors {
				similarity := dot(vector, other.Embedding.Slice())
				if other.ID == part[i].ID {
					own = append(own, similarity)
				} else {
					strangers = append(strangers, similarity)
				}
			}
		}
	}
	slices.Sort(own)
	slices.Sort(strangers)
	at := func(share float64) float64 { return strangers[int(share*float64(len(strangers)-1))] }
	c.Strangers = []float64{at(0.5), at(0.9), at(0.99), at(0.999)}
	c.Own = own[len(own)/2]
	c.Theta, c.SemanticTheta = max(0, c.Background[2]), max(0, c.Strangers[3])
	return c, nil
}

// countForCalibration counts what there is to compare, and refuses too little: of two files, any threshold would do.
func (a *app) countForCalibration(ctx context.Context, e *engine, c *calibration) error {
	stats, err := e.service.Documents().Stats(ctx, a.scope())
	if err != nil {
		return err
	}
	c.Anchors, c.Chunks = int(stats.Anchors), int(stats.Chunks-stats.WithoutVector)
	if c.Anchors < minAnchors || c.Chunks < minChunks {
		return fmt.Errorf("there is too little to measure, %s and %s with a vector: it takes %d and %d. "+
			"Index more documents and rebuild (hippo index FOLDER --rebuild), or name another with --user and --app",
			command.Count(int64(c.Anchors), "anchor", "anchors"), command.Count(int64(c.Chunks), "chunk", "chunks"), minAnchors, minChunks)
	}
	return nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
