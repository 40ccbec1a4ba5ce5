package offline

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/model"
)

const zhStanding = `(?:以后|今后|从现在起|从现在开始|从今以后|从今天起|往后|每次)`

var (
	zhOrder    = regexp.MustCompile(`^((?:请|麻烦|拜托|你|您|` + zhStanding + `|都|一律|也|再)*)(不要再?|别再?|不准|不许|禁止|务必|一定要|永远不要|千万不要|千万别|绝对不要|始终|总是)(.+)$`)
	zhWish     = regexp.MustCompile(`^(?:请|麻烦|你|您)*` + zhStanding + `(?:请|都|你|您|一律|要|就)*([用按把给叫称只先在直接尽量回写发说].+)$`)
	zhSchedule = regexp.MustCompile(`^(?:我们?|团队|公司)?(?:规定)?(每个?(?:周|星期|礼拜|天|月|年|晚|早上?)[^，。,]{0,8}?)(不要?|禁止|必须|只|不能|不可以?)([^，。,]+)$`)
	zhHabit    = regexp.MustCompile(`^我(?:现在|已经|一向)*(从不|从来不|绝不|永远不|一直不|不再|不)(吃|喝|抽|开|用|接|加|熬|坐|乘|穿|买)([^，。,]{1,10})$`)
	zhLanguage = regexp.MustCompile(`用(?:中文|英文|英语|汉语|普通话|粤语|日语|日文|法语|德语|韩语|西班牙语|俄语)(?:来)?(?:回答|回复|交流|沟通|说|写|答复|跟我|和我)`)
	zhAway     = regexp.MustCompile(`^(?:这|那|它|他|她)|这个|那个|这样|那样|这么|那么`)
	zhIdiom    = regexp.MustCompile(`^(?:担心|着急|客气|忘|急|怕|难过|生气|误会|介意|说了|走|哭|闹|想太多|放弃|紧张|谢|提了|管|逗|笑|再见|见外|这)`)
	// what may follow 不 without being done: "每天不容易"
	zhNoVerb = regexp.MustCompile(`^(?:容易|一样|同|是|知道|开心|好|错|多|少|断|停|行|够|舒服|太|得|到|了|一定|如|会|能|想)`)
	zhPolite = regexp.MustCompile(`^(?:请|麻烦|拜托|你|您|都|一律|也|再|要)+`)
)

// chineseRules reads standing instructions and fixed habits.
func chineseRules(text string) []draft {
	sentence := chineseTail.ReplaceAllString(strings.TrimSpace(text), "")
	if utf8.RuneCountInString(sentence) > 40 {
		return nil
	}
	for _, part := range chineseClauses(ruleComma.ReplaceAllString(sentence, "$1")) {
		switch {
		case zhOrder.MatchString(part):
			m := zhOrder.FindStringSubmatch(part)
			softened, about := m[1], m[3]
			lasting := strings.ContainsAny(m[2], "永千绝务始总禁") || zhStandingAt.MatchString(part) || strings.HasSuffix(m[2], "再")
			if zhIdiom.MatchString(about) || zhAway.MatchString(about) || !lasting && !strings.Contains(softened, "请") {
				continue
			}
			if zhForbids.MatchString(m[2]) {
				return zhRule("不要"+zhPolite.ReplaceAllString(about, ""), part, true)
			}
			return zhRule(about, part, true)
		case zhWish.MatchString(part):
			about := zhWish.FindStringSubmatch(part)[1]
			if zhAway.MatchString(about) || utf8.RuneCountInString(about) < 3 || strings.HasPrefix(about, "叫我") {
				continue
			}
			return zhRule(about, part, true)
		case zhSchedule.MatchString(part) && !chineseSupposed.MatchString(text):
			m := zhSchedule.FindStringSubmatch(part)
			if zhNoVerb.MatchString(m[3]) {
				continue
			}
			return zhRule(m[1]+m[2]+m[3], strings.TrimPrefix(part, "我"), false)
		case zhHabit.MatchString(part) && !chineseSupposed.MatchString(text):
			m := zhHabit.FindStringSubmatch(part)
			if zhObject(m[3]) == "" || zhAway.MatchString(m[3]) || zhSwitched.MatchString(text) {
				continue
			}
			return zhRule("不"+m[2]+m[3], strings.TrimPrefix(part, "我"), false)
		}
	}
	return nil
}

var (
	zhForbids    = regexp.MustCompile(`不|别|禁`)
	zhStandingAt = regexp.MustCompile(zhStanding)
	// "以后，请…" is one clause
	ruleComma = regexp.MustCompile(`(` + zhStanding + `|请|记住)[，,]\s*`)
)

// zhRule names a rule by what it says, so that a key never reads as the opposite:
// "不要…" where it forbids, in whatever words, and what is to be done where it
// demands.
func zhRule(about, value string, ofUser bool) []draft {
	key := zhPolite.ReplaceAllString(chineseTail.ReplaceAllString(about, ""), "")
	if zhLanguage.MatchString(about) {
		key = "reply_language"
	}
	if runes := []rune(key); len(runes) > 20 {
		key = string(runes[:20])
	}
	if key == "" {
		return nil
	}
	return []draft{{
		kind: model.FactRule, key: key, value: value, ruleOfUser: ofUser,
		confidence: certain(value, 0.85), intensity: 0.55,
	}}
}
