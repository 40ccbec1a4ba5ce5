package offline

import (
	"regexp"
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
)

// maxInsights bounds the insights of one reflection.
const maxInsights = 12

// insightSigns tell a sentence that says what came of things, from the most
// important down.
var insightSigns = []struct {
	importance string
	re         *regexp.Regexp
}{
	{model.ImportanceHigh, regexp.MustCompile(`(?i)\b(?:we|i|they|the team|management) (?:have |has |'ve |finally |all |just )*(?:decided|agreed|concluded|settled on|committed to|chose to)\b|\b(?:the|our|final) decision (?:is|was)\b|\blet's go with\b|\bwe(?:'ll| will) go with\b|\bthe root cause (?:is|was)\b|\bdeadline (?:is|was)\b`)},
	{model.ImportanceHigh, regexp.MustCompile(`(?:我|我们|他们|团队|大家|公司|最终|最后)(?:已经|都|一致)*(?:决定|商定|敲定|同意)|结论是|根本原因|截止(?:日期|时间)?是|达成(?:了)?一致|拍板`)},
	{model.ImportanceMedium, regexp.MustCompile(`(?i)\b(?:the|our|my) plan (?:is|was)\b|\b(?:we|i)(?: are|'re| am|'m) planning (?:to|on)\b|\b(?:we|i) (?:plan|intend) to\b|\bturn(?:s|ed) out\b|\b(?:we|i) (?:have |'ve )?(?:learned|realized|realised|figured out|found out)\b|\bthe (?:problem|issue|error|bug|cause|reason) (?:is|was)\b|\b(?:failed|crashed|broke) because\b|\bfixed (?:it )?by\b|\blesson\b`)},
	{model.ImportanceMedium, regexp.MustCompile(`(?:我|我们|团队)(?:已经|正)?(?:计划|打算|准备)|计划是|原来是|问题(?:在于|是|出在)|原因是|错误是|教训|发现(?:了)?(?:问题|原因|错误)|解决(?:办法|方案)是`)},
}

// insightsOf picks the sentences of a conversation that tell a decision, a plan,
// a cause or a lesson, whoever said them, each with its speaker's name.
func insightsOf(c *model.Conversation) []model.Insight {
	language := c.ResolvedLanguage()
	var insights []model.Insight
	seen := map[string]bool{}
	for _, s := range sentencesOf(c) {
		turn := &c.Turns[s.turn]
		if len(insights) == maxInsights || roleOf(turn.Author) == roleTool || s.question || looksLikeCode(s.text) || len(s.text) > 600 {
			continue
		}
		importance := importanceOf(s.text)
		id := strings.ToLower(s.text)
		if importance == "" || seen[id] {
			continue
		}
		seen[id] = true
		insights = append(insights, model.Insight{
			Content:    label(turn.Author, language) + colon(language) + s.text,
			Importance: importance,
			Sequences:  []int64{turn.Sequence},
		})
	}
	return insights
}

var englishSupposition = regexp.MustCompile(`(?i)^\W*(?:if|suppose|imagine|should|would|could|maybe|unless)\b|\bif (?:we|i|they)\b|\b(?:haven't|have not|hasn't|not yet|never) (?:yet )?(?:decided|agreed)\b`)

func importanceOf(text string) string {
	text = strings.ReplaceAll(text, "’", "'")
	if englishSupposition.MatchString(text) || chineseSupposition.MatchString(text) {
		return ""
	}
	for _, sign := range insightSigns {
		if sign.re.MatchString(text) {
			return sign.importance
		}
	}
	return ""
}

var chineseSupposition = regexp.MustCompile(`如果|假如|要是|是否|还没(?:有)?(?:决定|商定)|没有决定`)
