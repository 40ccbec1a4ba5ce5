package offline_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hippocampus-memory/hippocampus/model"
)

func TestClassifier(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		old, new string
		want     model.Relation
	}{
		{"User loves sushi", "The user really likes sushi", model.RelationDuplicate},
		{"User lives in Berlin", "user is living in Berlin", model.RelationDuplicate},
		{"User has a dog named Rex", "User has a dog", model.RelationDuplicate},
		{"用户喜欢寿司", "用户非常喜欢寿司", model.RelationDuplicate},
		{"我住在北京", "用户住在北京", model.RelationDuplicate},
		{"The user does not eat meat", "User never eats meat", model.RelationDuplicate},

		{"User lives in Berlin", "User lives in Paris", model.RelationSupersedes},
		{"location: Berlin", "location: Paris", model.RelationSupersedes},
		{"User lives in Berlin", "User moved to Oslo", model.RelationSupersedes},
		{"User loves sushi", "User no longer likes sushi", model.RelationSupersedes},
		{"User likes sushi", "User hates sushi", model.RelationSupersedes},
		{"User eats meat", "User does not eat meat", model.RelationSupersedes},
		{"The meeting is at 3pm on Friday", "The meeting is at 4pm on Friday", model.RelationSupersedes},
		{"User's favorite color is blue", "User's favorite color is green", model.RelationSupersedes},
		{"User has a dog", "User has a dog named Rex", model.RelationSupersedes},
		{"用户喜欢寿司", "用户不再喜欢寿司", model.RelationSupersedes},
		{"用户住在北京", "用户搬到了上海", model.RelationSupersedes},
		{"API 限流是每分钟100次", "API 限流是每分钟200次", model.RelationSupersedes},
		{"用户最喜欢的颜色是蓝色", "用户最喜欢的颜色是绿色", model.RelationSupersedes},

		{"User likes sushi", "User likes pizza", model.RelationDistinct},
		{"User likes sushi", "User hates pizza", model.RelationDistinct},
		{"Anna lives in Berlin", "Bob lives in Paris", model.RelationDistinct},
		{"User is allergic to peanuts", "User is allergic to shellfish", model.RelationDistinct},
		{"User has a dog named Rex", "User works at Google", model.RelationDistinct},
		{"用户喜欢寿司", "用户喜欢钢琴", model.RelationDistinct},
		{"用户住在北京", "用户养了一只猫", model.RelationDistinct},
		// a number in a key names the thing
		{"allergy e102: allergic to e102", "allergy e110: allergic to e110", model.RelationDistinct},
		{"allergy 维生素b1: 对维生素B1过敏", "allergy 维生素b2: 对维生素B2过敏", model.RelationDistinct},
		{"about iphone 13: likes iPhone 13", "about iphone 15: dislikes iPhone 15", model.RelationDistinct},
		{"about 5路公交车: 喜欢5路公交车", "about 9路公交车: 喜欢9路公交车", model.RelationDistinct},
		{"about iphone 13: likes iPhone 13", "about iphone 13: dislikes iPhone 13", model.RelationSupersedes},
		// what is no longer so ends that alone
		{"location: Toulouse", "past location toulouse: no longer lives in Toulouse", model.RelationSupersedes},
		{"location: New York", "past location new york: no longer lives in New York", model.RelationSupersedes},
		{"location: Lyon", "past location toulouse: no longer lives in Toulouse", model.RelationDistinct},
		{"birthplace: Toulouse", "past location toulouse: no longer lives in Toulouse", model.RelationDistinct},
		{"caroline location: Oslo", "caroline past location oslo: no longer lives in Oslo", model.RelationSupersedes},
		{"caroline location: Rome", "caroline past location oslo: no longer lives in Oslo", model.RelationDistinct},
		{"ben location: Oslo", "caroline past location oslo: no longer lives in Oslo", model.RelationDistinct},
		{"past location toulouse: no longer lives in Toulouse", "location: Toulouse", model.RelationSupersedes},
		{"past location toulouse: no longer lives in Toulouse", "location: Lyon", model.RelationDistinct},
		{"employer: 西门子", "past employer 西门子: 不再就职于西门子", model.RelationSupersedes},
		{"location: 上海", "past location 北京: 不再住在北京", model.RelationDistinct},
		{"rate limit: 100 requests a minute", "rate limit: 200 requests a minute", model.RelationSupersedes},
	} {
		t.Run(test.old+"/"+test.new, func(t *testing.T) {
			t.Parallel()
			c, err := open(t).Classifier.Classify(t.Context(), &model.ClassifyInput{Old: test.old, New: test.new})
			require.NoError(t, err)
			require.Equal(t, test.want, c.Relation, c.Reason)
			require.NotEmpty(t, c.Reason)
			require.Equal(t, "offline/rules-v1", c.Model)
		})
	}

	t.Run("ReasonInTheLanguage", func(t *testing.T) {
		t.Parallel()
		c, err := open(t).Classifier.Classify(t.Context(), &model.ClassifyInput{Old: "用户喜欢寿司", New: "用户喜欢钢琴"})
		require.NoError(t, err)
		require.Equal(t, "两者可以同时成立。", c.Reason)
	})

	t.Run("SameTextIsADuplicate", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			text := "x" + rapid.String().Draw(t, "text")
			c, err := open(t).Classifier.Classify(context.Background(), &model.ClassifyInput{Old: text, New: text})
			require.NoError(t, err)
			require.Equal(t, model.RelationDuplicate, c.Relation)
		})
	})
}
