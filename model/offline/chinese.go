package offline

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hippocampus-memory/hippocampus/model"
)

var (
	chineseReported = regexp.MustCompile(`(他|她|他们|她们|它|朋友|同事|老板|经理|医生|老师|妈妈|爸爸|母亲|父亲|有人|别人|大家|书上|新闻|据)[^，。]{0,6}(说|问|告诉|觉得|认为|表示|声称|写道)`)
	chineseSupposed = regexp.MustCompile(`如果|假如|要是|假设|倘若|万一|的话|希望|想象|会不会|差点|本来|以前|曾经|过去|小时候|打算|准备|计划`)
	chineseClause   = regexp.MustCompile(`\s*[，,；;：:（）()]+\s*|\s+`)
	chineseFiller   = regexp.MustCompile(`^(?:嗯|哦|啊|对了|其实|另外|还有|顺便说一下|说实话|老实说|因为|所以|而且|但是|但|不过|那么|好的|好|你好|您好|大家好|请记住|记住|你知道|我觉得|我想|我认为|事实上|同时|然后|总之)+`)
	chineseTail     = regexp.MustCompile(`[。！!.…~～]+$|(?:了|啊|呀|哦|呢|啦|哈|吧)$`)
)

// chineseDrafts reads what a Chinese sentence says of its speaker.
func chineseDrafts(text string, at time.Time) []draft {
	if isQuestion(text) || !strings.ContainsFunc(text, func(r rune) bool { return classOf(r) == classCJK }) {
		return nil
	}
	if chineseReported.MatchString(text) {
		return nil
	}
	text = quotedSpan.ReplaceAllString(text, "\"\"")
	drafts := chineseRules(text)
	if chineseSupposed.MatchString(text) {
		return drafts
	}
	c := &clause{whole: text, at: at, confidence: certain(text, 0.9)}
	drafts = append(drafts, chineseWhole(c)...)
	speaker := false
	for _, part := range chineseClauses(text) {
		if speaker && zhCarried.MatchString(part) {
			part = "我" + part // "我喜欢茶，不喜欢咖啡": the subject is said once
		}
		speaker = strings.HasPrefix(part, "我")
		if !zhSelf.MatchString(part) {
			continue
		}
		c.text = part
		drafts = append(drafts, firstMatch(chinesePatterns, c)...)
	}
	return drafts
}

// zhSelf is how a pattern can begin.
var zhSelf = regexp.MustCompile(`^(?:我|请|你可以|大家|以后|朋友|叫我)`)

// zhCarried is how a clause about the same person goes on.
var zhCarried = regexp.MustCompile(`^` + zhAdverbs + `(?:不喜欢|不太喜欢|不爱|喜欢|讨厌|热爱|更喜欢|今年\S{1,3}岁|住在|现居|来自|在\S+工作|对\S+过敏)`)

func chineseClauses(text string) []string {
	var parts []string
	for _, part := range chineseClause.Split(text, -1) {
		part = chineseFiller.ReplaceAllString(chineseTail.ReplaceAllString(part, ""), "")
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

const (
	zhAdverbs = `(?:真的|真|非常|很|最|特别|超级?|十分|尤其|一直|一向|从小|还是|还|也|都|就|比较|有点|有些|确实|越来越|现在|目前|已经|刚刚?|最近|平时)*`
	zhTime    = `(?:现在|目前|一直|已经|刚刚?|最近|今年|去年|前年|上个?月|上周|昨天|后来|于是|就|都|还|也|(?:在)?(?:19|20)\d\d年(?:\d{1,2}月)?(?:份)?|和\p{Han}{1,4}一起)*`
	zhName    = `([\p{Han}·]{1,4}|[A-Za-z][A-Za-z .'-]{0,30})`
	zhAnimal  = `(狗|猫|小狗|小猫|狗狗|猫咪|兔子|仓鼠|鹦鹉|乌龟|鱼|金鱼|马|金毛|柯基|柴犬|泰迪|哈士奇|布偶猫?|橘猫|英短|鸟)`
	zhKin     = `(妻子|老婆|太太|爱人|丈夫|老公|女朋友|男朋友|女友|男友|未婚妻|未婚夫|妈妈|母亲|爸爸|父亲|儿子|女儿|哥哥|弟弟|姐姐|妹妹)`
	zhJobs    = `工程师|程序员|开发者|设计师|老师|教师|教授|医生|护士|律师|会计师?|作家|作者|记者|编辑|司机|厨师|经理|总监|研究员|科学家|学生|研究生|博士生|大学生|艺术家|画家|音乐家|歌手|演员|摄影师|建筑师|翻译|顾问|分析师|架构师|警察|消防员|军人|农民|销售员?|运营|店长|老板|创始人|公务员|药剂师|牙医|兽医|教练|导游|主播|博主|自由职业者|数据分析师`
)

var chinesePatterns = []pattern{
	{zh(`我` + zhAdverbs + `(?:喜欢|爱)的(\p{Han}{1,6})(?:就是|是|叫)(.+)`), func(m []string, c *clause) []draft {
		object := zhObject(m[2])
		if object == "" {
			return nil
		}
		return []draft{{kind: model.FactPreference, key: "favorite_" + m[1], value: object, confidence: c.confidence, intensity: 0.6}}
	}},
	{zh(`我(` + zhAdverbs + `)(不再喜欢|已经不喜欢|不喜欢|不太喜欢|不怎么喜欢|不爱|喜欢上?|更喜欢|热爱|酷爱|偏爱|爱上?|讨厌|痛恨|恨|受不了|反感|厌恶)了?(.+)`), zhTaste},
	{zh(`我的?(?:业余)?爱好(?:是|就是)?(.+)`), func(m []string, c *clause) []draft { return zhLikes(c, "喜欢", m[1], 0.45) }},
	{zh(`我(?:的(?:名字|全名)(?:是|叫)|名叫|叫做?)` + zhName), zhCalled},
	{zh(`(?:请|你可以|大家都?|以后|朋友们?都?)*叫我` + zhName + `(?:就好|就行|就可以)?`), zhCalled},
	{zh(`我(?:们)?` + zhTime + `(?:不再住在?|不住在?)了?(.+)`), endedFact(zhPlace, "location", "不再住在")},
	{zh(`我` + zhTime + `(?:不再|不)在(.{2,12}?)(?:工作|上班|任职|就职)了?`), endedFact(zhPlace, "employer", "不再就职于")},
	{zh(`我` + zhTime + `从(.{2,12}?)(?:辞职|离职)了?`), endedFact(zhPlace, "employer", "不再就职于")},
	{zh(`我(?:们)?(?:全家|一家人?)?` + zhTime + `(?:从.{1,8}?)?(?:住在|居住在|定居在|定居于|定居到|生活在|搬到|搬去|搬来|搬回|搬家到|现居|常住|移居)了?(.+)`), zhPlace("location", 0.45)},
	{zh(`我(?:现在|目前|一直)?来自(.+)`), zhPlace("origin", 0.4)},
	{zh(`我(?:的)?老家(?:在|是)(.+)`), zhPlace("origin", 0.4)},
	{zh(`我出生(?:在|于)(\p{Han}{2,8})`), zhPlace("birthplace", 0.4)},
	{zh(`我(?:现在|目前)?在(.{2,12}?)(?:当|做|担任)(?:一?[名个位])?(.{0,8}?(?:` + zhJobs + `))`), func(m []string, c *clause) []draft {
		return append(c.since("occupation", m[2], 0.45), zhWorksAt([]string{"", m[1]}, c)...)
	}},
	{zh(`我(?:现在|目前|曾)?(?:是|当|做|担任)了?(?:一?[名个位]|一)?(.{0,10}?(?:` + zhJobs + `))`), func(m []string, c *clause) []draft {
		if strings.ContainsAny(m[1], "你您他她的") || strings.HasPrefix(m[1], "不") {
			return nil
		}
		return c.since("occupation", m[1], 0.45)
	}},
	{zh(`我` + zhTime + `在(.{2,12}?)(?:工作|上班|任职|就职|实习)`), zhWorksAt},
	{zh(`我` + zhTime + `(?:加入|入职)了?(.{2,12})`), zhPlace("employer", 0.45)},
	{zh(`我的?生日(?:就)?(?:是|在)?(?:每年的?)?((?:农历|阴历|阳历)?(?:\d{4}年)?(?:\d{1,2}|[一二三四五六七八九十正腊]{1,2})月(?:\d{1,2}|[初一二三四五六七八九十廿]{1,3})[日号]?)`), func(m []string, c *clause) []draft {
		return c.profile("birthday", m[1], 0.4)
	}},
	{zh(`我(?:今年|已经|刚满|现在|快)*(\d{1,3}|[一二三四五六七八九十]{1,3})岁`), func(m []string, c *clause) []draft {
		return c.profile("age", m[1], 0.3)
	}},
	{zh(`我(?:现在|目前|一直|已经|刚|还)*(?:是)?(?:个|一个|一名)?(已婚|结婚|单身|离婚|离异|订婚)`), func(m []string, c *clause) []draft {
		return c.since("marital_status", m[1], 0.5)
	}},
	{zh(`我有([一二两三四五六七八九\d]+个)(孩子|小孩|儿子|女儿)`), func(m []string, c *clause) []draft {
		return c.profile("children", m[1]+m[2], 0.5)
	}},
	{zh(`我(?:现在|目前|一直|已经|从小)*(?:是)?(?:个|一个|一名|位)?(吃素|不再吃素|素食者|素食主义者|纯素主义者|乳糖不耐受)`), func(m []string, c *clause) []draft {
		return c.since("diet", m[1], 0.6)
	}},
	{zh(`我(?:家)?的?` + zhAnimal + `(?:的名字)?(?:叫做?|名叫|的名字是)` + zhName), func(m []string, c *clause) []draft { return zhPet(c, "", m[1], m[2]) }},
	{zh(`我的?` + zhKin + `(?:的名字)?(?:叫做?|名叫|的名字是)` + zhName), zhRelative},
	{zh(`我的?(?:邮箱|电子邮箱|邮件地址|email)(?:地址)?(?:是|为)\s*(\S+@\S+\.\w+)`), func(m []string, c *clause) []draft {
		return c.profile("email", m[1], 0.4)
	}},
}

// zh anchors a pattern to the whole clause.
func zh(pattern string) *regexp.Regexp { return regexp.MustCompile(`^` + pattern + `$`) }

var (
	// what begins so is no thing one could name later
	zhNoObject  = regexp.MustCompile(`^(?:你|您|他|她|它|这|那|哪|我|咱|自己|的|过|着|好|国|情|人|护|慕|吗|就|也|都|是|有|没|被|上|""|说)|""`)
	zhObjectEnd = regexp.MustCompile(`(?:因为|所以|但是|不过|而且|尤其|特别是|胜过|多过|而不是|的时候|的感觉|的样子|这种|那种).*$`)
)

// zhObject is the thing a clause ends with, or empty for what can't be
// understood alone.
func zhObject(text string) string {
	text = strings.TrimSpace(zhObjectEnd.ReplaceAllString(text, ""))
	for {
		shorter := chineseTail.ReplaceAllString(text, "")
		if shorter == text {
			break
		}
		text = shorter
	}
	if n := utf8.RuneCountInString(text); n == 0 || n > 16 || zhNoObject.MatchString(text) {
		return ""
	}
	return text
}

var zhIntensity = map[string]float64{
	"喜欢": 0.4, "喜欢上": 0.4, "更喜欢": 0.45, "爱": 0.6, "爱上": 0.6, "热爱": 0.75, "酷爱": 0.75, "偏爱": 0.5,
	"讨厌": 0.7, "痛恨": 0.8, "恨": 0.75, "受不了": 0.75, "反感": 0.65, "厌恶": 0.75,
	"不喜欢": 0.5, "不太喜欢": 0.4, "不怎么喜欢": 0.4, "不爱": 0.5, "不再喜欢": 0.6, "已经不喜欢": 0.6,
}

func zhTaste(m []string, c *clause) []draft { return zhLikes(c, m[1]+m[2], m[3], zhIntensity[m[2]]) }

func zhLikes(c *clause, told, object string, intensity float64) []draft {
	if object = zhObject(object); object == "" {
		return nil
	}
	about := object
	for _, verb := range []string{"吃", "喝", "看", "玩", "听", "读", "用"} {
		if rest, found := strings.CutPrefix(about, verb); found && utf8.RuneCountInString(rest) >= 2 {
			about = rest // "喜欢吃寿司" and "喜欢寿司" are about the same
			break
		}
	}
	return []draft{{
		kind: model.FactPreference, key: "about_" + about, value: told + object,
		confidence: c.confidence, intensity: intensity,
	}}
}

var zhNoName = regexp.MustCompile(`^(?:了|他|她|你|您|它|车|个|不|外|我|人|过|停|起|什|到|去|来|一|这|那)`)

func zhCalled(m []string, c *clause) []draft {
	called := strings.TrimSpace(m[len(m)-1])
	if zhNoName.MatchString(called) {
		return nil
	}
	return c.profile("name", called, 0.4)
}

var (
	zhPlaceEnd = regexp.MustCompile(`(?:生活|工作|定居|居住|上班|这边|那边|附近|一带|和我|跟我|已经|快|有)\S*$|[\d一二两三四五六七八九十]+(?:年|个月).*$|(?:了|的|人|住)$`)
	zhNoPlace  = regexp.MustCompile(`^(?:这|那|哪|一起|一个|一家|学校|宿舍|家|公司|外面|外地|国外|海外|城里|乡下|新|""|别|这里|那里|同|里|自己|一)`)
)

func zhPlace(key string, intensity float64) func(m []string, c *clause) []draft {
	return func(m []string, c *clause) []draft {
		value := strings.TrimSpace(m[len(m)-1])
		for {
			shorter := zhPlaceEnd.ReplaceAllString(value, "")
			if shorter == value {
				break
			}
			value = shorter
		}
		if n := utf8.RuneCountInString(value); n < 2 && key != "employer" || n == 0 || n > 14 || zhNoPlace.MatchString(value) {
			return nil
		}
		return c.since(key, value, intensity)
	}
}

// zhWorksAt tells a city from an employer: "在北京工作" and "在腾讯工作".
func zhWorksAt(m []string, c *clause) []draft {
	where := strings.TrimRight(m[1], "市省县区")
	if lexicon.places[where] || where != m[1] {
		return zhPlace("work_location", 0.4)(m, c)
	}
	return zhPlace("employer", 0.4)(m, c)
}

// zhPet says how many and of what measure as the speaker did: "一条狗".
func zhPet(c *clause, measure, kind, called string) []draft {
	if zhNoName.MatchString(called) {
		return nil
	}
	if measure == "" {
		measure = "一只"
	}
	return c.profile("pet_"+called, "养了"+measure+kind+"，叫"+called, 0.5)
}

// zhKinKeys are the keys of relatives in every language.
var zhKinKeys = map[string]string{
	"妻子": "wife", "老婆": "wife", "太太": "wife", "爱人": "partner", "丈夫": "husband", "老公": "husband",
	"女朋友": "girlfriend", "女友": "girlfriend", "男朋友": "boyfriend", "男友": "boyfriend",
	"未婚妻": "fiancee", "未婚夫": "fiance", "妈妈": "mother", "母亲": "mother", "爸爸": "father", "父亲": "father",
	"儿子": "son", "女儿": "daughter", "哥哥": "brother", "弟弟": "brother", "姐姐": "sister", "妹妹": "sister",
}

func zhRelative(m []string, c *clause) []draft {
	if zhNoName.MatchString(m[2]) {
		return nil
	}
	key := zhKinKeys[m[1]]
	if several[key] {
		key += "_" + m[2]
	}
	return c.profile(key, m[2], 0.4)
}

var (
	zhHasPet   = regexp.MustCompile(`我(?:们)?(?:家里?)?(?:还|现在|刚|最近|也)*(?:养|有|领养|收养)(?:了|着)?((?:一|两)?(?:只|条|个|匹|头)?).{0,4}?` + zhAnimal + `[，,]?(?:它)?(?:的)?(?:名字)?(?:叫做?|名叫|是|的名字是)` + zhName)
	zhPetOf    = regexp.MustCompile(`我(?:们)?(?:家里?)?(?:还|现在|刚|最近|也)*(?:养|有|领养|收养)(?:了|着)?((?:一|两)?(?:只|条|个|匹|头)?)(?:名字)?叫做?([\p{Han}A-Za-z]{1,12})的` + zhAnimal)
	zhAllergic = regexp.MustCompile(`我(?:从小|一直|现在)?对([^，。,！!]{1,20}?)(?:(已经不|不再|不)|都|也|会|有点|严重|重度|轻微)*过敏`)
	zhSwitched = regexp.MustCompile(`我(?:现在|已经|最近|后来|都)*(?:不再|不)([吃喝抽用看玩听穿坐乘开买嚼])([^，。,！!]{1,10}?)了?[，,]\s*(?:现在|就|而是|已经|都)*(?:改|换)(?:成|为)?了?([吃喝抽用看玩听穿坐乘开买嚼])(?:成|为)?了?([^，。,！!]{1,12})`)
	zhAnd      = regexp.MustCompile(`、|和|跟|与|以及|及`)
)

// chineseWhole reads what commas may belong to.
func chineseWhole(c *clause) []draft {
	var drafts []draft
	if m := zhHasPet.FindStringSubmatch(c.whole); m != nil {
		drafts = append(drafts, zhPet(c, m[1], m[2], m[3])...)
	} else if m := zhPetOf.FindStringSubmatch(c.whole); m != nil {
		drafts = append(drafts, zhPet(c, m[1], m[3], m[2])...)
	}
	if m := zhSwitched.FindStringSubmatch(c.whole); m != nil {
		if before, after := zhObject(m[2]), zhObject(m[4]); before != "" && after != "" {
			for _, d := range [2][2]string{{before, "不再" + m[1] + before}, {after, "改" + m[3] + after}} {
				drafts = append(drafts, draft{
					kind: model.FactPreference, key: "about_" + d[0], value: d[1], confidence: c.confidence, intensity: 0.5,
				})
			}
		}
	}
	if m := zhAllergic.FindStringSubmatch(c.whole); m != nil {
		for _, thing := range zhAnd.Split(m[1], -1) {
			if thing = zhObject(thing); thing != "" {
				told := "对" + thing + pick(m[2] == "", "过敏", "不过敏")
				drafts = append(drafts, c.profile("allergy_"+thing, told, 0.65)...)
			}
		}
	}
	return drafts
}
