package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// explained is what `search --explain` reads of explain_search.
type explained struct {
	Query struct {
		Time  string `json:"time"`
		Terms []struct {
			Term  string  `json:"term"`
			DF    int     `json:"df"`
			IDF   float64 `json:"idf"`
			Finds bool    `json:"finds"`
		} `json:"terms"`
		Rows   int  `json:"rows"`
		Vector bool `json:"vector"`
	} `json:"query"`
	Weights struct {
		Ranking  map[string]float64 `json:"ranking"`
		Evidence map[string]float64 `json:"evidence"`
		From     map[string]struct {
			App string `json:"app_name"`
			Key string `json:"key"`
		} `json:"from"`
	} `json:"weights"`
	Hits []struct {
		Score   float64            `json:"score"`
		Gave    map[string]float64 `json:"gave"`
		Content string             `json:"content"`
		Parts   struct {
			Words  float64 `json:"word_score"`
			Worth  float64 `json:"worth"`
			Asked  bool    `json:"asked"`
			Timely bool    `json:"timely"`
		} `json:"parts"`
		Words  []hitWord `json:"words"`
		Nearby []hitWord `json:"nearby"`
		Since  time.Time `json:"occurred_from"`
	} `json:"hits"`
}

type hitWord struct {
	Term string `json:"term"`
	Step int    `json:"step"`
}

func (a *app) printExplained(raw json.RawMessage) error {
	if a.json {
		return a.printJSON(raw)
	}
	var e explained
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("read what explain_search says: %w", err)
	}
	words := a.table("WORD OF THE QUERY", "MEMORIES WITH IT", "WEIGHT", "FINDS")
	for _, t := range e.Query.Terms {
		words.row(t.Term, t.DF, t.IDF, yes(t.Finds))
	}
	if err := words.print(); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nOf %s memories. Time named: %s. Vector: %s.\n", thousands(int64(e.Query.Rows)), orNone(e.Query.Time), orNone(yes(e.Query.Vector)))
	for _, part := range []struct {
		name    string
		weights map[string]float64
	}{{"ranking", e.Weights.Ranking}, {"evidence", e.Weights.Evidence}} {
		value, err := json.Marshal(part.weights)
		if err != nil {
			return fmt.Errorf("print weights: %w", err)
		}
		origin := "the profile"
		if from, ok := e.Weights.From[part.name]; ok {
			origin = fmt.Sprintf("the setting %s of app %s", from.Key, from.App)
		}
		fmt.Fprintf(a.stdout, "Weights of %s: %s, from %s.\n", part.name, value, origin)
	}
	fmt.Fprintln(a.stdout)
	t := a.table("SCORE", "TEXT", "VECTOR", "STRENGTH", "RECENCY", "SPREAD", "TRUTH", "BM25", "WORTH", "AUTHOR", "TIME", "ITS WORDS (AND BESIDE IT)", "DATE", "MEMORY")
	for _, h := range e.Hits {
		t.row(h.Score, h.Gave["text"], h.Gave["vector"], h.Gave["strength"], h.Gave["recency"], h.Gave["spread"], h.Gave["truth"],
			h.Parts.Words, h.Parts.Worth, yes(h.Parts.Asked), yes(h.Parts.Timely), told(h.Words, h.Nearby),
			h.Since.UTC().Format(time.DateOnly), oneLine(h.Content, 60))
	}
	return t.print()
}

// told is the words of a hit, and those that stand beside it with how far: «tea (cup+1)».
func told(own, nearby []hitWord) string {
	var words, beside []string
	for _, w := range own {
		words = append(words, w.Term)
	}
	for _, w := range nearby {
		beside = append(beside, fmt.Sprintf("%s%+d", w.Term, w.Step))
	}
	if len(beside) > 0 {
		words = append(words, "("+strings.Join(beside, " ")+")")
	}
	return strings.Join(words, " ")
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
